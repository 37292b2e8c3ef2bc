/// Why work beside the event loops is not done.
package enum HeavyWorkRefusal: String, Error, Sendable, CaseIterable {
    /// The session has as much waiting as it may.
    case sessionIsBusy = "session_is_busy"
    /// As much waits in all as may.
    case queueIsFull = "queue_is_full"
    /// Whoever asked wants it no longer.
    case cancelled
    /// The process ends.
    case stopped
}
