/// The delays between attempts to connect: exponential, with full jitter.
///
/// Each delay is drawn uniformly between zero and a bound that doubles with each attempt, so that processes that lost
/// the same server do not return to it all at once.
struct Backoff: Sendable {
    /// The bound of the first delay.
    let base: Duration
    /// The largest bound.
    let limit: Duration
    private var attempts = 0

    /// Starts at the first delay.
    init(base: Duration, limit: Duration) {
        self.base = base
        self.limit = limit
    }

    /// Draws the next delay.
    mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        // 2^16 times any base exceeds any sensible limit, and does not overflow.
        let bound = min(limit, base * (1 << min(attempts, 16)))
        attempts += 1
        return bound * Double.random(in: 0...1, using: &generator)
    }

    /// Starts again at the first delay.
    mutating func reset() {
        attempts = 0
    }
}
