import EventStorage

/// A SQLSTATE: the five-character code of a PostgreSQL error (PostgreSQL documentation, appendix A).
///
/// It is read from errors with which the server ended a statement and rolled its transaction back. If the server ended
/// the connection too, the outcome is that of a lost connection.
struct SQLState: Hashable, Sendable {
    /// Five digits or capital letters; the first two are the class.
    let code: String

    /// Takes a code as the server sent it.
    init(_ code: String) {
        self.code = code
    }

    /// The meaning of an error for the caller and for the connection.
    struct Meaning: Hashable, Sendable {
        /// The fault that the caller gets.
        var kind: Kind
        /// Whether the connection should be replaced: another one may succeed.
        var renewsConnection = false
        /// Whether the server refuses for a reason of its own, which may pass, and not because the request is wrong.
        var mayPass = false
        /// Whether it comes of a pooler that gives each transaction another session.
        var tellsOfPooler = false

        /// The fault itself.
        func fault(_ cause: StorageFault.Cause) -> StorageFault {
            var cause = explained(cause)
            cause.mayPass = mayPass
            return kind.fault(cause)
        }

        /// The cause with what an operator can do about it.
        func explained(_ cause: StorageFault.Cause) -> StorageFault.Cause {
            var cause = cause
            if tellsOfPooler {
                cause.message += "; a pooler between this program and the database must use session pooling"
            }
            return cause
        }
    }

    /// The possible faults.
    enum Kind: Hashable, Sendable {
        case unreachable
        case outcomeUnknown
        case transient
        case exhausted
        case rejected
        case corrupt

        /// The fault itself.
        func fault(_ cause: StorageFault.Cause) -> StorageFault {
            switch self {
            case .unreachable: .unreachable(cause)
            case .outcomeUnknown: .outcomeUnknown(cause)
            case .transient: .transient(cause)
            case .exhausted: .exhausted(cause)
            case .rejected: .rejected(cause)
            case .corrupt: .corrupt(cause)
            }
        }
    }

    /// The code's meaning, else its class's, else a refusal of the request.
    var meaning: Meaning {
        Self.codes[code] ?? Self.classes[String(code.prefix(2))] ?? Meaning(kind: .rejected)
    }

    /// The codes whose meaning differs from that of their class.
    static let codes: [String: Meaning] = [
        // A cached plan that a schema change has invalidated; the connection that holds it is replaced.
        "0A000": Meaning(kind: .rejected, renewsConnection: true),
        // read_only_sql_transaction: a standby, or a primary that is about to hand over. Another server may be found.
        "25006": Meaning(kind: .unreachable, renewsConnection: true),
        "25P02": Meaning(kind: .transient, renewsConnection: true),  // in_failed_sql_transaction
        "25P03": Meaning(kind: .unreachable, renewsConnection: true),  // idle_in_transaction_session_timeout
        "40002": Meaning(kind: .rejected),  // transaction_integrity_constraint_violation
        "40003": Meaning(kind: .outcomeUnknown, renewsConnection: true),  // statement_completion_unknown
        // A prepared statement that is there already.
        "42P05": Meaning(kind: .transient, renewsConnection: true, tellsOfPooler: true),
        "55006": Meaning(kind: .transient),  // object_in_use
        "55P03": Meaning(kind: .transient),  // lock_not_available
        "57014": Meaning(kind: .transient),  // query_canceled: statement_timeout, or an operator
        "58P01": Meaning(kind: .corrupt),  // undefined_file
        "58P02": Meaning(kind: .corrupt),  // duplicate_file
        "XX001": Meaning(kind: .corrupt),  // data_corrupted
        "XX002": Meaning(kind: .corrupt),  // index_corrupted
    ]

    /// The meaning of a class, for codes that are not in ``codes``.
    static let classes: [String: Meaning] = [
        "03": Meaning(kind: .rejected),  // SQL statement not yet complete
        "08": Meaning(kind: .unreachable, renewsConnection: true),  // connection exception
        "0A": Meaning(kind: .rejected),  // feature not supported
        "0B": Meaning(kind: .rejected),  // invalid transaction initiation
        "21": Meaning(kind: .rejected),  // cardinality violation
        "22": Meaning(kind: .rejected),  // data exception
        "23": Meaning(kind: .rejected),  // integrity constraint violation
        "25": Meaning(kind: .rejected, renewsConnection: true),  // invalid transaction state
        // A prepared statement that is gone.
        "26": Meaning(kind: .transient, renewsConnection: true, tellsOfPooler: true),
        "28": Meaning(kind: .unreachable, renewsConnection: true),  // invalid authorization: it refuses connections
        "34": Meaning(kind: .rejected),  // invalid cursor name
        "3D": Meaning(kind: .unreachable, renewsConnection: true),  // no such database: it refuses connections
        "3F": Meaning(kind: .rejected),  // invalid schema name
        "40": Meaning(kind: .transient),  // transaction rollback: serialisation failure, deadlock
        "42": Meaning(kind: .rejected),  // syntax error, access rule violation, missing table
        "44": Meaning(kind: .rejected),  // WITH CHECK OPTION violation
        "53": Meaning(kind: .exhausted),  // insufficient resources: disk, memory, connections
        "54": Meaning(kind: .rejected, mayPass: true),  // program limit exceeded
        "55": Meaning(kind: .rejected),  // object not in prerequisite state
        "57": Meaning(kind: .unreachable, renewsConnection: true),  // operator intervention: shutdown, crash, starting
        "58": Meaning(kind: .exhausted),  // system error: the disk fails
        "72": Meaning(kind: .transient),  // snapshot too old
        "F0": Meaning(kind: .unreachable),  // configuration file error
        "HV": Meaning(kind: .rejected),  // foreign data wrapper
        "P0": Meaning(kind: .rejected, mayPass: true),  // PL/pgSQL: a trigger of the operator's own
        "XX": Meaning(kind: .rejected, mayPass: true),  // internal error
    ]
}
