import NIOCore
import RandomTestSupport
import SimulatedTime
import Synchronization
import Testing

@testable import RoomService

/// Alarms of one name replace each other, and ring once.
@Suite struct LoopAlarmsTests {
    private final class Rings: Sendable {
        private let kept = Mutex<[String]>([])
        var all: [String] { kept.withLock { $0 } }
        func add(_ ring: String) { kept.withLock { $0.append(ring) } }

        private let given = Mutex<[Int]>([])
        var numbers: [Int] { given.withLock { $0 } }
        func add(_ number: Int) { given.withLock { $0.append(number) } }
    }

    @Test func `an alarm rings at its time, unless it is dropped or replaced`() {
        let (scheduler, rings) = (Scheduler(seed: TestSeed.fixed(1)), Rings())
        let loop = SimulatedEventLoop(scheduler)
        var alarms = LoopAlarms<String>(on: loop)
        let now = loop.now
        alarms.set("replaced", at: now + .seconds(1)) { _ in rings.add("too early") }
        alarms.set("replaced", at: now + .seconds(3)) { _ in rings.add("replaced") }
        alarms.set("dropped", at: now + .seconds(1)) { _ in rings.add("dropped") }
        alarms.set("other", at: now + .seconds(2)) { _ in rings.add("other") }
        alarms.set("past", at: now) { _ in rings.add("past") }
        alarms.drop("dropped")
        #expect(rings.all == [], "no alarm rings within the call that sets it")
        _ = scheduler.run(until: { false }, steps: 100)
        #expect(rings.all == ["past", "other", "replaced"])
    }

    @Test func `an alarm that has rung may be set again`() {
        let (scheduler, rings) = (Scheduler(seed: TestSeed.fixed(1)), Rings())
        let loop = SimulatedEventLoop(scheduler)
        var alarms = LoopAlarms<String>(on: loop)
        for ring in ["first", "second"] {
            alarms.set("a", at: loop.now + .seconds(1)) { number in
                rings.add(ring)
                rings.add(number)
            }
            _ = scheduler.run(until: { false }, steps: 100)
            let counts = [alarms.rang("a", rings.numbers.last ?? 0), alarms.rang("a", rings.numbers.last ?? 0)]
            #expect(counts == [true, false])
        }
        #expect(rings.all == ["first", "second"])
    }

    @Test func `an alarm that rings at the end of the turn does not count if it is dropped or replaced before that`() {
        let (scheduler, rings) = (Scheduler(seed: TestSeed.fixed(1)), Rings())
        let loop = SimulatedEventLoop(scheduler)
        var alarms = LoopAlarms<String>(on: loop)
        for name in ["dropped", "replaced", "replaced"] { alarms.set(name, at: loop.now) { rings.add($0) } }
        alarms.drop("dropped")
        _ = scheduler.run(until: { false }, steps: 100)
        let names = ["dropped", "replaced", "replaced"]
        let counts = zip(names, rings.numbers).map { alarms.rang($0, $1) }
        #expect(counts == [false, false, true])
    }
}
