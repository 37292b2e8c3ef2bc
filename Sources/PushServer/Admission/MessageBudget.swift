import NIOCore
import RoomService

/// How many messages one connection may still send: so many a second, and up to five seconds' worth at once.
struct MessageBudget {
    /// What becomes of a message.
    enum Verdict: Equatable {
        case accepted
        /// Not done; worth trying again after this many milliseconds.
        case refused(retryAfterMs: Int)
        /// The peer went on in spite of a second's worth of refusals.
        case exceeded
    }

    private var bucket: TokenBucket
    private var refusals = 0

    /// A full budget.
    init(perSecond: Int, at now: NIODeadline) {
        bucket = TokenBucket(Allowance(perSecond: perSecond), at: now)
    }

    /// Counts a message as `count`, which may overdraw the budget once; `perSecond` 0 allows all.
    mutating func take(_ count: Int = 1, perSecond: Int, at now: NIODeadline) -> Verdict {
        guard perSecond > 0 else { return .accepted }
        let allowance = Allowance(perSecond: perSecond)
        if bucket.take(count, of: allowance, at: now) {
            // Who waits as asked has a second's worth again.
            if bucket.tokens >= allowance.perSecond { refusals = 0 }
            return .accepted
        }
        refusals += count
        guard refusals <= perSecond else { return .exceeded }
        return .refused(retryAfterMs: bucket.retryAfterMs(allowance))
    }
}
