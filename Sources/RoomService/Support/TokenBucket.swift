package import NIOCore

/// How often something may happen: so often a second on the average, and so often at once.
package struct Allowance: Equatable, Sendable {
    /// How many seconds' worth, or minutes' worth, may come at once.
    package static let burst = 5

    /// What is earned in a second.
    package let perSecond: Double
    /// What is earned at most while nothing is used; more than a second's worth.
    package let atOnce: Double

    /// So many a second, and five times as many at once.
    package init(perSecond count: Int) {
        perSecond = Double(count)
        atOnce = Double(count * Self.burst)
    }

    /// So many a minute, and as many at once as come in some minutes.
    package init(perMinute count: Int, minutesAtOnce: Int = burst) {
        perSecond = Double(count) / 60
        atOnce = Double(count * minutesAtOnce)
    }

    /// After how long without use everything is earned back.
    package var refillTime: TimeAmount {
        .milliseconds(Int64((atOnce / perSecond * 1_000).rounded(.up)))
    }
}

/// What is left of an allowance.
package struct TokenBucket: Equatable, Sendable {
    package private(set) var tokens: Double
    private var asOf: NIODeadline

    /// A full bucket.
    package init(_ allowance: Allowance, at now: NIODeadline) {
        tokens = allowance.atOnce
        asOf = now
    }

    /// Uses `count` where anything is left, which may overdraw the bucket once; false where nothing is.
    package mutating func take(_ count: Int = 1, of allowance: Allowance, at now: NIODeadline) -> Bool {
        earn(allowance, at: now)
        guard tokens >= 1 else { return false }
        tokens -= Double(count)
        return true
    }

    /// Uses `count` even where nothing is left.
    package mutating func charge(_ count: Int, of allowance: Allowance, at now: NIODeadline) {
        earn(allowance, at: now)
        tokens -= Double(count)
    }

    private mutating func earn(_ allowance: Allowance, at now: NIODeadline) {
        // Another thread may have looked at its clock later and come here before.
        if now > asOf {
            tokens = min(tokens + Double((now - asOf).nanoseconds) / 1e9 * allowance.perSecond, allowance.atOnce)
            asOf = now
        }
    }

    /// Takes back a use; no more than a full bucket comes of it.
    package mutating func giveBack(_ count: Int, of allowance: Allowance) {
        tokens = min(tokens + Double(count), allowance.atOnce)
    }

    /// How many milliseconds after the last use there is a second's worth, so that not every request is refused in turn.
    package func retryAfterMs(_ allowance: Allowance) -> Int {
        Int(((allowance.perSecond + 1 - tokens) / allowance.perSecond * 1_000).rounded(.up))
    }
}
