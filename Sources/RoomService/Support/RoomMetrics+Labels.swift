import EventStorage
import RoomDomain

extension CommandOutcome {
    /// The kind of a command's outcome.
    enum Kind: String, CaseIterable {
        case acknowledged
        case refused
        case keyReused = "key_reused"
        case noSuchRoom = "no_such_room"
        case unavailable
        case outcomeUnknown = "outcome_unknown"
        case internalFault = "internal"
    }

    /// The outcome without its particulars.
    var kind: Kind {
        switch self {
        case .acknowledged: .acknowledged
        case .keyReused: .keyReused
        case .failed(.refused): .refused
        case .failed(.noSuchRoom): .noSuchRoom
        case .failed(.unavailable), .failed(.busy): .unavailable
        case .failed(.outcomeUnknown): .outcomeUnknown
        case .failed(.internalFault): .internalFault
        }
    }
}

/// An action of a member that is shown and never logged.
enum EphemeralKind {
    case reaction
    case signal
    case deck
}

extension EphemeralOutcome {
    /// The kind of the outcome of a reaction, a signal or a claim to be the deck.
    enum Kind: String, CaseIterable {
        case done
        case refused
        case notFound = "not_found"
        case rateLimited = "rate_limited"
        case noSuchRoom = "no_such_room"
        case unavailable
        case internalFault = "internal"
    }

    /// The outcome without its particulars.
    var kind: Kind {
        switch self {
        case .done: .done
        case .rateLimited: .rateLimited
        case .failed(.refused(.notFound)): .notFound
        case .failed(.refused): .refused
        case .failed(.noSuchRoom): .noSuchRoom
        case .failed(.unavailable), .failed(.outcomeUnknown), .failed(.busy): .unavailable
        case .failed(.internalFault): .internalFault
        }
    }
}

extension StorageFault {
    /// The kind of a fault.
    enum Kind: String, CaseIterable {
        case unreachable
        case outcomeUnknown = "outcome_unknown"
        case transient
        case exhausted
        case rejected
        case corrupt
        case closed
    }

    /// The fault without its cause.
    var kind: Kind {
        switch self {
        case .unreachable: .unreachable
        case .outcomeUnknown: .outcomeUnknown
        case .transient: .transient
        case .exhausted: .exhausted
        case .rejected: .rejected
        case .corrupt: .corrupt
        case .closed: .closed
        }
    }
}
