import NIOCore
import Synchronization

/// An allowance for each key, over all event loops.
///
/// Memory is bounded, whoever comes: a bucket that nobody has used for as long as it takes to fill is a full one and is
/// forgotten. Where more keys than that come, the buckets that were not used for longest are forgotten before they are
/// full.
final class BucketTable<Key: Hashable & Sendable>: Sendable {
    private struct State {
        /// Buckets that were used since the last turn.
        var current: [Key: TokenBucket] = [:]
        /// Buckets that were used last between the last two turns.
        var former: [Key: TokenBucket] = [:]
        var turnedAt: NIODeadline
    }

    /// How many keys are remembered, and at most as many older ones: a few megabytes in all.
    static var defaultCapacity: Int { 32_768 }

    private let allowance: Allowance?
    private let capacity: Int
    private let state: Mutex<State>

    /// Gives each key the same allowance; nil: any number.
    init(_ allowance: Allowance?, capacity: Int = defaultCapacity, at now: NIODeadline = .now()) {
        self.allowance = allowance
        self.capacity = capacity
        state = Mutex(State(turnedAt: now))
    }

    /// Uses a key's allowance, and returns nil; or returns after how many milliseconds it is worth trying again.
    func take(_ key: Key, at now: NIODeadline = .now()) -> Int? {
        guard let allowance else { return nil }
        return state.withLock { state in
            if state.current.count >= capacity || now - state.turnedAt >= allowance.refillTime {
                state.former = state.current
                state.current = [:]
                state.turnedAt = now
            }
            var bucket =
                state.current[key] ?? state.former.removeValue(forKey: key) ?? TokenBucket(allowance, at: now)
            let isTaken = bucket.take(of: allowance, at: now)
            state.current[key] = bucket
            return isTaken ? nil : bucket.retryAfterMs(allowance)
        }
    }

    /// How many keys are remembered.
    var count: Int { state.withLock { $0.current.count + $0.former.count } }
}
