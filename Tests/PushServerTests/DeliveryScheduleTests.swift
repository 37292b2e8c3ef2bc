import NIOCore
import Testing

@testable import PushServer

@Suite struct `Delivery schedule` {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test func `under light load a delivery is scheduled at once, and only once`() {
        var schedule = DeliverySchedule()
        #expect(schedule.next(pending: 1, at: Self.start) == .zero)
        #expect(schedule.next(pending: 2, at: Self.start) == nil)
        #expect(schedule.isDue(at: Self.start))
        schedule.done(events: 2, from: Self.start, to: Self.start + .microseconds(300))
        #expect(!schedule.isDue(at: Self.start + .milliseconds(1)))
        #expect(schedule.next(pending: 1, at: Self.start + .microseconds(300)) == .zero)
    }

    /// A schedule after two deliveries of 40 ms without a pause, and the end of the second one.
    private static func busy(events: Int) -> (schedule: DeliverySchedule, end: NIODeadline) {
        var schedule = DeliverySchedule()
        let (middle, end) = (start + .milliseconds(40), start + .milliseconds(80))
        schedule.done(events: 1, from: start, to: middle)
        schedule.done(events: events, from: middle, to: end)
        return (schedule, end)
    }

    @Test func `events that come too fast wait, at most nearly as long as the last delivery took`() {
        var (schedule, end) = Self.busy(events: 2)
        #expect(schedule.next(pending: 1, at: end + .milliseconds(10)) == .milliseconds(26))
        #expect(!schedule.isDue(at: end + .milliseconds(35)))
        #expect(schedule.isDue(at: end + .milliseconds(36)))
    }

    @Test func `the rest grows with what comes too fast`() {
        // Three events during two deliveries: half as many again as could be delivered one by one.
        var (schedule, end) = Self.busy(events: 1)
        schedule.done(events: 3, from: end + .milliseconds(40), to: end + .milliseconds(80))
        #expect(schedule.next(pending: 1, at: end + .milliseconds(80)) == .milliseconds(30))
    }

    @Test func `events that can be delivered one by one do not wait`() {
        var (schedule, end) = Self.busy(events: 1)
        #expect(schedule.next(pending: 1, at: end) == .zero)
        // Two events during two deliveries are exactly that number.
        schedule.done(events: 2, from: end + .milliseconds(40), to: end + .milliseconds(80))
        #expect(schedule.next(pending: 1, at: end + .milliseconds(80)) == .zero)
    }

    @Test func `enough events are not kept waiting`() {
        var (schedule, end) = Self.busy(events: 2)
        #expect(schedule.next(pending: 1, at: end + .milliseconds(1)) == .milliseconds(35))
        #expect(schedule.next(pending: 2, at: end + .milliseconds(1)) == nil)
        #expect(schedule.next(pending: 4, at: end + .milliseconds(1)) == .zero)
        #expect(schedule.isDue(at: end + .milliseconds(1)))
        // An earlier delivery finds nothing to do.
        schedule.done(events: 4, from: end + .milliseconds(1), to: end + .milliseconds(2))
        #expect(!schedule.isDue(at: end + .seconds(1)))
    }

    @Test func `no rest is longer than a tenth of a second`() {
        var schedule = DeliverySchedule()
        let middle = Self.start + .seconds(3)
        schedule.done(events: 1, from: Self.start, to: middle)
        schedule.done(events: 9, from: middle, to: middle + .seconds(3))
        #expect(schedule.next(pending: 1, at: middle + .seconds(3)) == .milliseconds(100))
    }
}
