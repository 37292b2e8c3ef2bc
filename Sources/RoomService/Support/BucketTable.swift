package import NIOCore
import Synchronization

/// An allowance for each key, over all event loops.
///
/// Memory is bounded for any number of keys. A bucket that is unused for as long as an empty one takes to fill is full,
/// and is forgotten; one that is overdrawn is kept until it is paid for. If more keys arrive than that allows, the
/// buckets that were unused for longest are forgotten before they are full.
package final class BucketTable<Key: Hashable & Sendable>: Sendable {
    private struct State {
        /// Buckets that were used since the last turn.
        var current: [Key: TokenBucket] = [:]
        /// Buckets that were used last between the last two turns.
        var former: [Key: TokenBucket] = [:]
        var turnedAt: NIODeadline
    }

    /// The number of keys that are remembered, which take a few megabytes in all.
    ///
    /// At most as many older keys are kept too.
    package static var defaultCapacity: Int { 32_768 }

    private let allowance: Allowance?
    private let capacity: Int
    private let state: Mutex<State>

    /// Gives each key the same allowance; nil allows any number.
    package init(_ allowance: Allowance?, capacity: Int = defaultCapacity, at now: NIODeadline = .now()) {
        self.allowance = allowance
        self.capacity = capacity
        state = Mutex(State(turnedAt: now))
    }

    /// Uses `cost` of a key's allowance and returns nil, or returns the milliseconds after which a retry may succeed.
    ///
    /// The last use may overdraw the allowance: a use is refused only if nothing is left.
    package func take(_ key: Key, _ cost: Int = 1, at now: NIODeadline = .now()) -> Int? {
        withBucket(of: key, at: now) { $0.take(cost, of: $1, at: now) }
    }

    /// Uses `cost` of a key's allowance even if nothing is left: work that is already done is paid for later.
    package func charge(_ key: Key, _ cost: Int = 1, at now: NIODeadline = .now()) {
        _ = withBucket(of: key, at: now) {
            $0.charge(cost, of: $1, at: now)
            return true
        }
    }

    /// Uses nothing; returns nil if ``take(_:_:at:)`` would succeed, or the milliseconds after which it would.
    package func wait(_ key: Key, at now: NIODeadline = .now()) -> Int? {
        guard let allowance else { return nil }
        return state.withLock { state in
            // A bucket that is not remembered is full.
            guard var bucket = state.current[key] ?? state.former[key] else { return nil }
            return bucket.take(0, of: allowance, at: now) ? nil : bucket.retryAfterMs(allowance)
        }
    }

    /// Whether no part of a key's allowance is in use.
    package func isFull(_ key: Key, at now: NIODeadline = .now()) -> Bool {
        guard let allowance else { return true }
        return state.withLock { state in
            guard var bucket = state.current[key] ?? state.former[key] else { return true }
            _ = bucket.take(0, of: allowance, at: now)
            return bucket.tokens >= allowance.atOnce
        }
    }

    /// Returns what was used for work that was not done after all.
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
                // What is overdrawn takes longer to fill.
                let owing = state.former.filter { $0.value.owes(allowance, at: now) }
                state.former = state.current
                state.current = [:]
                state.turnedAt = now
                if owing.count < capacity { for (key, bucket) in owing { state.former[key] = bucket } }
            }
            var bucket =
                state.current[key] ?? state.former.removeValue(forKey: key) ?? TokenBucket(allowance, at: now)
            let isTaken = use(&bucket, allowance)
            state.current[key] = bucket
            return isTaken ? nil : bucket.retryAfterMs(allowance)
        }
    }

    /// The number of keys that are remembered.
    package var count: Int { state.withLock { $0.current.count + $0.former.count } }
}
