import NIOCore

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

    /// How many seconds' worth may come at once.
    static let burstSeconds = 5

    private var tokens: Double
    private var asOf: NIODeadline
    private var refusals = 0

    /// A full budget.
    init(perSecond: Int, at now: NIODeadline) {
        tokens = Double(perSecond * Self.burstSeconds)
        asOf = now
    }

    /// Counts a message as `count`, which may overdraw the budget once; `perSecond` 0 allows all.
    mutating func take(_ count: Int = 1, perSecond: Int, at now: NIODeadline) -> Verdict {
        guard perSecond > 0 else { return .accepted }
        let rate = Double(perSecond)
        let earned = Double((now - asOf).nanoseconds) / 1e9 * rate
        tokens = min(tokens + earned, rate * Double(Self.burstSeconds))
        asOf = now
        guard tokens < 1 else {
            tokens -= Double(count)
            // Who waits as asked has a second's worth again.
            if tokens >= rate { refusals = 0 }
            return .accepted
        }
        refusals += count
        guard refusals <= perSecond else { return .exceeded }
        // A second's worth, so that not every message is refused in turn.
        return .refused(retryAfterMs: Int(((rate + 1 - tokens) / rate * 1_000).rounded(.up)))
    }
}
