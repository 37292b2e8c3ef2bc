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
    }

    @Test func `an alarm rings at its time, unless it is dropped or replaced`() {
        let (scheduler, rings) = (Scheduler(seed: TestSeed.fixed(1)), Rings())
        let loop = SimulatedEventLoop(scheduler)
        var alarms = LoopAlarms<String>(on: loop)
        let now = loop.now
        alarms.set("replaced", at: now + .seconds(1)) { rings.add("too early") }
        alarms.set("replaced", at: now + .seconds(3)) { rings.add("replaced") }
        alarms.set("dropped", at: now + .seconds(1)) { rings.add("dropped") }
        alarms.set("other", at: now + .seconds(2)) { rings.add("other") }
        alarms.set("past", at: now) { rings.add("past") }
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
            alarms.set("a", at: loop.now + .seconds(1)) { rings.add(ring) }
            _ = scheduler.run(until: { false }, steps: 100)
            alarms.rang("a")
        }
        #expect(rings.all == ["first", "second"])
    }
}
