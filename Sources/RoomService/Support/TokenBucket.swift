package import NIOCore

/// A limit on how often something may happen: an average rate, and a number at once.
package struct Allowance: Equatable, Sendable {
    /// The seconds' worth, or minutes' worth, that may come at once.
    package static let burst = 5

    /// The number of tokens earned in a second.
    package let perSecond: Double
    /// The most tokens that an unused bucket has; more than a second's worth.
    package let atOnce: Double

    /// Allows `count` a second, and five times as many at once.
    package init(perSecond count: Int) {
        perSecond = Double(count)
        atOnce = Double(count * Self.burst)
    }

    /// Allows `count` a minute, and the number of `minutesAtOnce` minutes at once.
    package init(perMinute count: Int, minutesAtOnce: Int = burst) {
        perSecond = Double(count) / 60
        atOnce = Double(count * minutesAtOnce)
    }

    /// The time without use after which the bucket is full again.
    package var refillTime: TimeAmount {
        .milliseconds(Int64((atOnce / perSecond * 1_000).rounded(.up)))
    }
}

/// The tokens left of an allowance.
package struct TokenBucket: Equatable, Sendable {
    package private(set) var tokens: Double
    private var asOf: NIODeadline

    /// Makes a full bucket.
    package init(_ allowance: Allowance, at now: NIODeadline) {
        tokens = allowance.atOnce
        asOf = now
    }

    /// Uses `count` tokens if any are left, which may overdraw the bucket once; false if none are.
    package mutating func take(_ count: Int = 1, of allowance: Allowance, at now: NIODeadline) -> Bool {
        earn(allowance, at: now)
        guard tokens >= 1 else { return false }
        tokens -= Double(count)
        return true
    }

    /// Uses `count` tokens even if none are left.
    package mutating func charge(_ count: Int, of allowance: Allowance, at now: NIODeadline) {
        earn(allowance, at: now)
        tokens -= Double(count)
    }

    /// Whether more was used than was there, and is not paid for yet.
    package func owes(_ allowance: Allowance, at now: NIODeadline) -> Bool {
        var bucket = self
        return !bucket.take(0, of: allowance, at: now)
    }

    private mutating func earn(_ allowance: Allowance, at now: NIODeadline) {
        // Another thread may have read its clock later and arrived here earlier.
        if now > asOf {
            tokens = min(tokens + Double((now - asOf).nanoseconds) / 1e9 * allowance.perSecond, allowance.atOnce)
            asOf = now
        }
    }

    /// Returns tokens that were used; the bucket never exceeds its size.
    package mutating func giveBack(_ count: Int, of allowance: Allowance) {
        tokens = min(tokens + Double(count), allowance.atOnce)
    }

    /// The milliseconds after the last use in which a second's worth is earned, so that not every request is refused in
    /// turn.
    package func retryAfterMs(_ allowance: Allowance) -> Int {
        Int(((allowance.perSecond + 1 - tokens) / allowance.perSecond * 1_000).rounded(.up))
    }
}
