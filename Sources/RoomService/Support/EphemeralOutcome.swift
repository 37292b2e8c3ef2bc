/// The outcome of a reaction, a signal or a claim to be the deck.
package enum EphemeralOutcome: Sendable, Equatable {
    /// It is on its way.
    case done
    /// The rate is too high; another one is allowed after this time.
    case rateLimited(retryAfterMs: Int)
    /// It was not shown to anybody.
    case failed(RoomFailure)
}
