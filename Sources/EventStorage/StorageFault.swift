/// The reason why a store failed: the environment is at fault, and nobody's request was wrong.
package enum StorageFault: Error, Hashable, Sendable {
    /// The store cannot be reached, refuses connections, or is shutting down. No write was sent: a read whose
    /// connection was lost ends like this too.
    case unreachable(Cause)
    /// The connection was lost after a write was sent: it was carried out as a whole, or not at all. No read ends like
    /// this.
    case outcomeUnknown(Cause)
    /// The store asks for a retry: a deadlock, a serialisation failure, a lock that was not available. Nothing was
    /// done.
    case transient(Cause)
    /// The store is out of a resource: disk, memory, connections. Nothing was done.
    case exhausted(Cause)
    /// The store never accepts this request: a constraint, a value it cannot hold, a missing table or right.
    case rejected(Cause)
    /// The stored data cannot be read back as it was written.
    case corrupt(Cause)
    /// The store was closed by its owner.
    case closed

    /// The store's own description of a fault.
    package struct Cause: Hashable, Sendable {
        /// Five characters of SQLSTATE, an SQLite result code or the name of an errno; empty if there is none.
        package var code: String
        /// The text for the operator's log, without payloads and secrets.
        package var message: String
        /// Whether the store refuses the request for now, and not because the request is wrong.
        package var mayPass = false

        package init(code: String = "", message: String) {
            self.code = code
            self.message = message
        }

        /// The cause with which every store rejects a snapshot.
        package static let refusedSnapshot = Cause(
            message:
                "a snapshot of a stream that does not exist, is to be forgotten, was cleared since, or has another epoch"
        )
    }

    /// The store's description of the fault; nil where it was closed.
    package var cause: Cause? {
        switch self {
        case .unreachable(let cause), .outcomeUnknown(let cause), .transient(let cause), .exhausted(let cause),
            .rejected(let cause), .corrupt(let cause):
            cause
        case .closed: nil
        }
    }

    /// Whether the request can never be carried out.
    package var isWrongRequest: Bool {
        if case .rejected(let cause) = self { !cause.mayPass } else { false }
    }

    /// The code of a server that can be read and takes no writes: PostgreSQL's SQLSTATE.
    package static let readOnly = "25006"

    /// Whether the store can be read and takes no writes, which waiting seldom changes.
    package var isReadOnly: Bool {
        if case .unreachable(let cause) = self { cause.code == Self.readOnly } else { false }
    }

    /// Whether the store refuses this program for what its settings say, which waiting seldom changes: PostgreSQL knows
    /// no such role, password, database or parameter, or a value is not valid.
    package var refusesSettings: Bool {
        guard case .unreachable(let cause) = self else { return hasInvalidSetting }
        return cause.code.hasPrefix("28") || cause.code == "3D000" || hasInvalidSetting
    }

    /// Whether a setting for connecting to the store has a value that nobody can use: a parameter, or a search path
    /// without a schema.
    package var hasInvalidSetting: Bool {
        switch self {
        case .unreachable(let cause): ["22023", "42704"].contains(cause.code)
        case .rejected(let cause): cause.code == "3F000"
        case .outcomeUnknown, .transient, .exhausted, .corrupt, .closed: false
        }
    }

    /// Whether the request may have been carried out although it failed.
    package var outcomeIsUnknown: Bool {
        if case .outcomeUnknown = self { true } else { false }
    }
}
