import Synchronization

/// Counts what is open, by key and over all event loops.
final class OpenCount<Key: Hashable & Sendable>: Sendable {
    /// One that is counted; it is counted no more once this is gone.
    final class Ticket: Sendable {
        /// Whether there are more of its key than allowed, this one among them.
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

    /// Allows `maximum` of each key; 0: any number.
    init(maximum: Int) {
        self.maximum = maximum
    }

    /// Counts one more of a key; nil where there is no limit.
    func admit(_ key: Key) -> Ticket? {
        guard maximum > 0 else { return nil }
        let count = counts.withLock { counts in
            counts[key, default: 0] += 1
            return counts[key] ?? 1
        }
        return Ticket(self, key: key, isOverLimit: count > maximum)
    }

    /// Whether one more of a key would be too many.
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
