import SchemaFiles
import Testing

@Suite struct MigrationPlanTests {
    private let known = [1, 2, 3].map {
        Migration(number: $0, name: "step_\($0)", file: Array("CREATE TABLE t\($0) (x INTEGER);".utf8))
    }

    private func applied(_ numbers: Int...) -> [AppliedMigration] {
        numbers.map { AppliedMigration(known[$0 - 1]) }
    }

    @Test func `an empty database needs every migration in order`() throws {
        #expect(try MigrationPlan(known: known, applied: [], tables: []).pending == known)
        #expect(SchemaState(known: known, applied: [], tables: []) == .empty)
    }

    @Test func `a database that is behind needs the rest`() throws {
        #expect(try MigrationPlan(known: known, applied: applied(1), tables: ["t1"]).pending == Array(known[1...]))
        #expect(SchemaState(known: known, applied: applied(1), tables: ["t1"]) == .behind(Array(known[1...])))
    }

    @Test func `applied records may come in any order`() throws {
        #expect(
            try MigrationPlan(known: known, applied: applied(3, 1, 2), tables: ["t1", "t2", "t3", "reports"]).pending
                .isEmpty)
        #expect(
            SchemaState(known: known, applied: applied(3, 1, 2), tables: ["t1", "t2", "t3", "reports"]) == .current)
    }

    @Test func `a migration this program does not know is refused`() {
        let newer = applied(1, 2, 3) + [AppliedMigration(number: 4, name: "later", checksum: "00")]
        let refusal = SchemaRefusal.unknownMigration(number: 4, name: "later")
        #expect(throws: refusal) { try MigrationPlan(known: known, applied: newer, tables: []) }
        #expect(SchemaState(known: known, applied: newer, tables: []) == .refused(refusal))
    }

    @Test func `an edited migration is refused`() {
        let edited = applied(1) + [AppliedMigration(number: 2, name: "step_2", checksum: "0123456789abcdef")]
        let refusal = SchemaRefusal.editedMigration(
            number: 2, name: "step_2", applied: "0123456789abcdef", known: known[1].checksum)
        #expect(throws: refusal) { try MigrationPlan(known: known, applied: edited, tables: []) }
    }

    @Test func `a missing migration before an applied one is refused`() {
        #expect(throws: SchemaRefusal.gap(number: 2, name: "step_2")) {
            try MigrationPlan(known: known, applied: applied(1, 3), tables: [])
        }
        #expect(throws: SchemaRefusal.gap(number: 1, name: "step_1")) {
            try MigrationPlan(known: known, applied: applied(2, 3), tables: [])
        }
    }

    @Test func `a number below the first is refused`() {
        #expect(throws: SchemaRefusal.unknownMigration(number: 0, name: "odd")) {
            try MigrationPlan(
                known: known, applied: [AppliedMigration(number: 0, name: "odd", checksum: "00")], tables: [])
        }
    }

    @Test func `tables without a record of migrations are another program's`() {
        let refusal = SchemaRefusal.occupied(tables: ["a", "b", "c", "d"])
        #expect(throws: refusal) { try MigrationPlan(known: known, applied: [], tables: ["d", "c", "b", "a"]) }
        #expect(
            "\(refusal)".hasPrefix("there are tables that are not recorded as this program's (a, b, c and 1 more);"))
    }

    @Test func `a table that an applied migration has made is missed, one of a later migration is not`() {
        let refusal = SchemaRefusal.incomplete(missing: ["t2"])
        #expect(throws: refusal) { try MigrationPlan(known: known, applied: applied(1, 2), tables: ["t1"]) }
        #expect("\(refusal)".hasPrefix("tables are missing (t2)"))
    }

    @Test func `tables that a migration renames or drops are not missed`() {
        let change = Migration(
            number: 4, name: "change",
            file: Array("-- t4\nALTER TABLE t1 RENAME TO u1; DROP TABLE t2;\nCREATE TABLE\n  t4(x INTEGER);".utf8))
        #expect((known + [change]).tables == ["u1", "t3", "t4"])
    }

    @Test func `refusals name the migration and what to do`() {
        #expect(
            "\(SchemaRefusal.unknownMigration(number: 4, name: "later"))"
                == "the database has migration 4 (later), which this program does not know; "
                + "run the program that made it, or a newer one")
        #expect("\(SchemaRefusal.gap(number: 2, name: "votes"))".contains("lacks migration 2 (votes)"))
        let edited = SchemaRefusal.editedMigration(number: 2, name: "votes", applied: "aa", known: "bb")
        #expect("\(edited)".contains("migration 2 (votes) was applied with checksum aa"))
    }

    // Published vectors of FNV-1a for 64 bits.
    @Test(arguments: [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")])
    func `a checksum is FNV-1a`(text: String, checksum: String) {
        #expect(Migration.checksum(of: Array(text.utf8)) == checksum)
    }
}
