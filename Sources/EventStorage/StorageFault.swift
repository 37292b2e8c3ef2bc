/// Why a store could not do what it was asked to: our surroundings failed, nobody's request was wrong.
package enum StorageFault: Error, Hashable, Sendable {
    /// The store cannot be reached, or refuses connections, or is shutting down. Nothing was sent.
    case unreachable(Cause)
    /// The connection was lost after the request was sent: it was carried out as a whole, or not at all.
    case outcomeUnknown(Cause)
    /// The store asks to try again: a deadlock, a serialisation failure, a lock that could not be had. Nothing was done.
    case transient(Cause)
    /// The store is out of a resource: disk, memory, connections. Nothing was done.
    case exhausted(Cause)
    /// The store refuses this request whatever happens: a constraint, a value it cannot hold, a missing table or right.
    case rejected(Cause)
    /// What the store holds cannot be read back as what was written.
    case corrupt(Cause)
    /// The store was closed by its owner.
    case closed

    /// What the store said.
    package struct Cause: Hashable, Sendable {
        /// Five characters of SQLSTATE, an SQLite result code or an errno's name; empty where there is none.
        package var code: String
        /// For the operator's log; holds no payload and no secret.
        package var message: String

        package init(code: String = "", message: String) {
            self.code = code
            self.message = message
        }

        /// Why every store rejects a snapshot.
        package static let refusedSnapshot = Cause(
            message:
                "a snapshot of a stream that does not exist, is to be forgotten, was cleared since, or has another epoch"
        )
    }

    /// Whether the request may have been carried out all the same.
    package var outcomeIsUnknown: Bool {
        if case .outcomeUnknown = self { true } else { false }
    }
}
