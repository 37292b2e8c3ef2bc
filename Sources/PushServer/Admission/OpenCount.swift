import Synchronization

/// Counts open connections or requests by key, over all event loops.
final class OpenCount<Key: Hashable & Sendable>: Sendable {
    /// One counted item; releasing it ends the count.
    final class Ticket: Sendable {
        /// Whether the key has more items than allowed, this one included.
        let isOverLimit: Bool
        private let count: OpenCount
        private let key: Key

        fileprivate init(_ count: OpenCount, key: Key, isOverLimit: Bool) {
            self.count = count
            self.key = key
            self.isOverLimit = isOverLimit
        }

        deinit {
            count.release(key)
        }
    }

    private let maximum: Int
    private let counts = Mutex<[Key: Int]>([:])

    /// Allows `maximum` items for each key; 0 allows any number.
    init(maximum: Int) {
        self.maximum = maximum
    }

    /// Counts one more item of a key; nil if there is no limit.
    func admit(_ key: Key) -> Ticket? {
        guard maximum > 0 else { return nil }
        let count = counts.withLock { counts in
            counts[key, default: 0] += 1
            return counts[key] ?? 1
        }
        return Ticket(self, key: key, isOverLimit: count > maximum)
    }

    /// Whether one more item of a key would exceed the limit.
    func isFull(_ key: Key) -> Bool {
        maximum > 0 && counts.withLock { $0[key] ?? 0 } >= maximum
    }

    private func release(_ key: Key) {
        counts.withLock { counts in
            guard let count = counts[key] else { return }
            counts[key] = count == 1 ? nil : count - 1
        }
    }
}
