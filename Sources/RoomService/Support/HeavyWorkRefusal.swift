/// The reason for which work outside the event loops is not done.
package enum HeavyWorkRefusal: String, Error, Sendable, CaseIterable {
    /// The session has as much waiting work as allowed.
    case sessionIsBusy = "session_is_busy"
    /// The address has as much waiting work as allowed.
    case addressIsBusy = "address_is_busy"
    /// The limit on all waiting work is reached.
    case queueIsFull = "queue_is_full"
    /// The caller no longer wants the result.
    case cancelled
    /// The process ends.
    case stopped
}
