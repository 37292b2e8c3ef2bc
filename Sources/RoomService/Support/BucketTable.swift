package import NIOCore
import Synchronization

/// An allowance for each key, over all event loops.
///
/// Memory is bounded, whoever comes: a bucket that nobody has used for as long as it takes to fill is a full one and is
/// forgotten. Where more keys than that come, the buckets that were not used for longest are forgotten before they are
/// full.
package final class BucketTable<Key: Hashable & Sendable>: Sendable {
    private struct State {
        /// Buckets that were used since the last turn.
        var current: [Key: TokenBucket] = [:]
        /// Buckets that were used last between the last two turns.
        var former: [Key: TokenBucket] = [:]
        var turnedAt: NIODeadline
    }

    /// How many keys are remembered, and at most as many older ones: a few megabytes in all.
    package static var defaultCapacity: Int { 32_768 }

    private let allowance: Allowance?
    private let capacity: Int
    private let state: Mutex<State>

    /// Gives each key the same allowance; nil: any number.
    package init(_ allowance: Allowance?, capacity: Int = defaultCapacity, at now: NIODeadline = .now()) {
        self.allowance = allowance
        self.capacity = capacity
        state = Mutex(State(turnedAt: now))
    }

    /// Uses `cost` of a key's allowance and returns nil, or returns after how many milliseconds it is worth trying again.
    ///
    /// The last use may overdraw the allowance: it is refused only where nothing is left.
    package func take(_ key: Key, _ cost: Int = 1, at now: NIODeadline = .now()) -> Int? {
        withBucket(of: key, at: now) { $0.take(cost, of: $1, at: now) }
    }

    /// Uses `cost` of a key's allowance, whether anything is left or not: what has happened is paid for later.
    package func charge(_ key: Key, _ cost: Int = 1, at now: NIODeadline = .now()) {
        _ = withBucket(of: key, at: now) {
            $0.charge(cost, of: $1, at: now)
            return true
        }
    }

    /// Uses nothing: returns nil where ``take(_:_:at:)`` would succeed, or after how many milliseconds it would.
    package func wait(_ key: Key, at now: NIODeadline = .now()) -> Int? {
        guard let allowance else { return nil }
        return state.withLock { state in
            // A bucket that is not remembered is full.
            guard var bucket = state.current[key] ?? state.former[key] else { return nil }
            return bucket.take(0, of: allowance, at: now) ? nil : bucket.retryAfterMs(allowance)
        }
    }

    /// Whether nothing of a key's allowance is used, or all of it has been earned back.
    package func isFull(_ key: Key, at now: NIODeadline = .now()) -> Bool {
        guard let allowance else { return true }
        return state.withLock { state in
            guard var bucket = state.current[key] ?? state.former[key] else { return true }
            _ = bucket.take(0, of: allowance, at: now)
            return bucket.tokens >= allowance.atOnce
        }
    }

    /// Gives back what was used for something that was not done after all.
    package func giveBack(_ key: Key, _ cost: Int, at now: NIODeadline = .now()) {
        _ = withBucket(of: key, at: now) { bucket, allowance in
            bucket.giveBack(cost, of: allowance)
            return true
        }
    }

    private func withBucket(
        of key: Key, at now: NIODeadline, _ use: (inout TokenBucket, Allowance) -> Bool
    ) -> Int? {
        guard let allowance else { return nil }
        return state.withLock { state in
            if state.current.count >= capacity || now - state.turnedAt >= allowance.refillTime {
                state.former = state.current
                state.current = [:]
                state.turnedAt = now
            }
            var bucket =
                state.current[key] ?? state.former.removeValue(forKey: key) ?? TokenBucket(allowance, at: now)
            let isTaken = use(&bucket, allowance)
            state.current[key] = bucket
            return isTaken ? nil : bucket.retryAfterMs(allowance)
        }
    }

    /// How many keys are remembered.
    package var count: Int { state.withLock { $0.current.count + $0.former.count } }
}
