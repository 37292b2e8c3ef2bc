import EventStorage
import Testing

@testable import PostgresEventStore

struct SQLStateTests {
    @Test(
        arguments: [
            ("08006", .unreachable), ("08P01", .unreachable), ("0A000", .rejected), ("21000", .rejected),
            ("22001", .rejected), ("22021", .rejected), ("22P02", .rejected), ("22P05", .rejected),
            ("23502", .rejected),
            ("23505", .rejected), ("23514", .rejected), ("25006", .unreachable), ("25P02", .transient),
            ("25P03", .unreachable), ("26000", .transient), ("28000", .unreachable), ("28P01", .unreachable),
            ("3D000", .unreachable), ("3F000", .rejected), ("40001", .transient), ("40002", .rejected),
            ("40003", .outcomeUnknown), ("40P01", .transient), ("42501", .rejected), ("42601", .rejected),
            ("42703", .rejected), ("42P01", .rejected), ("53000", .exhausted), ("53100", .exhausted),
            ("53200", .exhausted), ("53300", .exhausted), ("53400", .exhausted), ("54000", .rejected),
            ("55006", .transient), ("55P03", .transient), ("57014", .transient), ("57P01", .unreachable),
            ("57P02", .unreachable), ("57P03", .unreachable), ("57P04", .unreachable), ("57P05", .unreachable),
            ("58000", .exhausted), ("58030", .exhausted), ("58P01", .corrupt), ("72000", .transient),
            ("XX000", .rejected), ("XX001", .corrupt), ("XX002", .corrupt), ("ZZ999", .rejected), ("", .rejected),
        ] as [(String, SQLState.Kind)])
    func `each code is the fault that fits it`(code: String, kind: SQLState.Kind) {
        #expect(SQLState(code).meaning.kind == kind)
    }

    @Test(arguments: ["08006", "0A000", "25006", "25P02", "26000", "40003", "57P01"])
    func `a connection that cannot succeed any more is replaced`(code: String) {
        #expect(SQLState(code).meaning.renewsConnection)
    }

    @Test(arguments: ["54000", "54001", "P0001", "XX000"])
    func `what the server refuses for a reason of its own may pass`(code: String) {
        guard case .rejected(let cause) = SQLState(code).meaning.fault(.init(code: code, message: "no")) else {
            Issue.record("another fault")
            return
        }
        #expect(cause.mayPass && cause.code == code)
        #expect(!SQLState("23505").meaning.mayPass && !SQLState("42P01").meaning.mayPass)
    }

    @Test(arguments: ["26000", "42P05"])
    func `what comes of a pooler says which one can be used`(code: String) {
        let cause = SQLState(code).meaning.explained(.init(code: code, message: "no"))
        #expect(cause.message == "no; a pooler between this program and the database must use session pooling")
        #expect(SQLState("23505").meaning.explained(.init(code: "23505", message: "no")).message == "no")
    }

    @Test(arguments: ["22P02", "23505", "40001", "40P01", "42P01", "53100", "57014"])
    func `a connection is kept after an error that is not its own`(code: String) {
        #expect(!SQLState(code).meaning.renewsConnection)
    }

    @Test func `codes and classes are written as PostgreSQL writes them`() {
        let characters = Set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        #expect(SQLState.codes.keys.allSatisfy { $0.count == 5 && $0.allSatisfy(characters.contains) })
        #expect(SQLState.classes.keys.allSatisfy { $0.count == 2 && $0.allSatisfy(characters.contains) })
    }

    @Test func `a code that means what its class does is not listed`() {
        #expect(SQLState.codes.allSatisfy { code, meaning in SQLState.classes[String(code.prefix(2))] != meaning })
    }

    @Test(arguments: [
        (
            "connection to server failed: FATAL:  3D000: database \"x\" does not exist\nLOCATION:  postinit.c:1\n",
            "3D000", "connection to server failed: FATAL: database \"x\" does not exist"
        ),
        ("FATAL:  53300: sorry, too many clients already", "53300", "FATAL: sorry, too many clients already"),
        (
            "could not translate host name \"x\" to address: Name or service not known\n", "",
            "could not translate host name \"x\" to address: Name or service not known"
        ),
        (
            "error: HELLO: a word of five letters is no code", "",
            "error: HELLO: a word of five letters is no code"
        ),
        ("invalid sslmode value: \"foo\"\n", "22023", "invalid sslmode value: \"foo\""),
        (
            "connection to server at \"db\", port 5432 failed: server does not support SSL, but SSL was required\n",
            "22023",
            "connection to server at \"db\", port 5432 failed: server does not support SSL, but SSL was required"
        ),
        ("", "", ""),
    ])
    func `the code is found in a message of libpq`(message: String, code: String, text: String) {
        #expect(ConnectionMessage.cause(in: message) == StorageFault.Cause(code: code, message: text))
    }
}
