import RandomTestSupport
import Synchronization

/// Seeded random numbers that everything in a world or a test may share.
package final class Dice: Sendable {
    private let random: Mutex<SeededRandom>

    package init(seed: UInt64) {
        random = Mutex(SeededRandom(seed: seed))
    }

    package func bits() -> UInt64 { random.withLock { $0.next() } }

    package func number(in range: Range<Int>) -> Int { random.withLock { Int.random(in: range, using: &$0) } }

    package func number(in range: ClosedRange<Int>) -> Int { random.withLock { Int.random(in: range, using: &$0) } }

    /// Returns true once in `times`; never if that is 0.
    package func once(in times: Int) -> Bool { times > 0 && number(in: 0..<times) == 0 }

    /// Returns nanoseconds between two numbers of microseconds, short times more often than long ones.
    package func time(microseconds range: ClosedRange<Int>) -> Int64 {
        let (low, high) = (Double(range.lowerBound), Double(range.upperBound))
        let share = Double(number(in: 0...1_000_000)) / 1_000_000
        return Int64((low + (high - low) * share * share * share) * 1_000)
    }

    package func element<Elements: Collection>(of elements: Elements) -> Elements.Element? {
        guard !elements.isEmpty else { return nil }
        return elements[elements.index(elements.startIndex, offsetBy: number(in: 0..<elements.count))]
    }
}
