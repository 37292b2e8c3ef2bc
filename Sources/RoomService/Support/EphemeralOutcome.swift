import NIOCore

/// The outcome of a reaction, a signal or a claim to be the deck.
package enum EphemeralOutcome: Sendable, Equatable {
    /// It is on its way.
    case done
    /// The rate is too high; another one is allowed after this time.
    case rateLimited(retryAfterMs: Int)
    /// It was not shown to anybody.
    case failed(RoomFailure)

    /// The rate is too high; another one is allowed after `wait`, rounded up, so that a client that waits this long is
    /// allowed.
    static func rateLimited(after wait: TimeAmount) -> EphemeralOutcome {
        .rateLimited(retryAfterMs: Int(wait.nanoseconds / 1_000_000) + 1)
    }

    /// Whether the room refuses, which it may do because it lacks the newest events.
    var isRefused: Bool {
        switch self {
        case .failed(.refused): true
        case .done, .rateLimited, .failed(.noSuchRoom), .failed(.unavailable), .failed(.outcomeUnknown), .failed(.busy),
            .failed(.internalFault):
            false
        }
    }
}
