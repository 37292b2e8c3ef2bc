import NIOCore
import RoomService

/// The number of messages that one connection may still send: a rate per second, and up to five seconds' worth at once.
struct MessageBudget {
    /// The decision about a message.
    enum Verdict: Equatable {
        case accepted
        /// The message is not carried out; a retry after this many milliseconds may succeed.
        case refused(retryAfterMs: Int)
        /// The peer continued after a second's worth of refusals.
        case exceeded
    }

    private var bucket: TokenBucket
    private var refusals = 0

    /// Makes a full budget.
    init(perSecond: Int, at now: NIODeadline) {
        bucket = TokenBucket(Allowance(perSecond: perSecond), at: now)
    }

    /// Counts a message as `count`, which may overdraw the budget once; a `perSecond` of 0 allows everything.
    mutating func take(_ count: Int = 1, perSecond: Int, at now: NIODeadline) -> Verdict {
        guard perSecond > 0 else { return .accepted }
        let allowance = Allowance(perSecond: perSecond)
        if bucket.take(count, of: allowance, at: now) {
            // A peer that waits as long as it was told has a second's worth again.
            if bucket.tokens >= allowance.perSecond { refusals = 0 }
            return .accepted
        }
        refusals += count
        guard refusals <= perSecond else { return .exceeded }
        return .refused(retryAfterMs: bucket.retryAfterMs(allowance))
    }
}
