import RandomTestSupport
import Synchronization

/// Seeded randomness that several threads may use; which of them gets which number is not repeatable.
final class Dice: Sendable {
    private let random: Mutex<SeededRandom>

    init(seed: UInt64) {
        random = Mutex(SeededRandom(seed: seed))
    }

    /// True once in `times`.
    func once(in times: Int) -> Bool {
        random.withLock { $0.once(in: times) }
    }

    /// A number of the range.
    func number(in range: Range<Int>) -> Int {
        random.withLock { Int.random(in: range, using: &$0) }
    }
}
