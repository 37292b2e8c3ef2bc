/// What became of a reaction or a signal.
package enum EphemeralOutcome: Sendable, Equatable {
    /// On its way.
    case done
    /// Too many; another one is let after so long.
    case rateLimited(retryAfterMs: Int)
    /// Not shown to anybody.
    case failed(RoomFailure)
}
