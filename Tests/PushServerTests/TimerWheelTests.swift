import NIOCore
import RandomTestSupport
import RoomService
import Testing

@testable import PushServer

@Suite struct `Timer wheel` {
    /// An element whose deadlines the test sets.
    private final class Element: Deadlined {
        var wheelTick: Int?
        func deadlineReached(at now: NIODeadline) -> NIODeadline? { nil }
    }

    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    /// All elements at ticks up to `now` that are due.
    private static func due(
        _ wheel: inout TimerWheel, _ elements: [ConnectionID: Element], at now: NIODeadline
    ) -> [Int] {
        var due: [Int] = []
        while let (tick, ids) = wheel.next(at: now) {
            for id in ids {
                guard let element = elements[id], element.wheelTick == tick else { continue }
                element.wheelTick = nil
                due.append(id.rawValue)
            }
        }
        return due
    }

    @Test func `an element is due at its deadline, at most one interval later`() {
        var generator = SeededRandom(seed: TestSeed.fixed(7))
        for _ in 0..<200 {
            var wheel = TimerWheel(start: Self.start)
            let (id, element) = (ConnectionID(rawValue: 1), Element())
            let delay = TimeAmount.milliseconds(.random(in: 1...100_000, using: &generator))
            wheel.schedule(element, id, at: Self.start + delay)
            let early = Self.start + delay - .nanoseconds(1)
            #expect(Self.due(&wheel, [id: element], at: early).isEmpty, "\(delay)")
            let end = Self.start + delay + TimerWheel.interval
            #expect(Self.due(&wheel, [id: element], at: end) == [1], "\(delay)")
        }
    }

    @Test func `an earlier deadline goes before a later one, and only one of them counts`() {
        var wheel = TimerWheel(start: Self.start)
        let (id, element) = (ConnectionID(rawValue: 1), Element())
        wheel.schedule(element, id, at: Self.start + .seconds(20))
        wheel.schedule(element, id, at: Self.start + .seconds(5))
        wheel.schedule(element, id, at: Self.start + .seconds(10))
        #expect(Self.due(&wheel, [id: element], at: Self.start + .milliseconds(5_100)) == [1])
        #expect(Self.due(&wheel, [id: element], at: Self.start + .seconds(30)).isEmpty)
    }

    @Test func `an element due later than a turn of the wheel is examined in between`() {
        var wheel = TimerWheel(start: Self.start)
        let (id, element) = (ConnectionID(rawValue: 1), Element())
        wheel.schedule(element, id, at: Self.start + .hours(1))
        #expect(Self.due(&wheel, [id: element], at: Self.start + .seconds(103)) == [1])
    }

    @Test func `a deadline that has passed is due at the next tick`() {
        var wheel = TimerWheel(start: Self.start)
        let (id, element) = (ConnectionID(rawValue: 1), Element())
        _ = Self.due(&wheel, [:], at: Self.start + .seconds(10))
        wheel.schedule(element, id, at: Self.start + .seconds(3))
        #expect(Self.due(&wheel, [id: element], at: Self.start + .milliseconds(10_100)) == [1])
    }
}
