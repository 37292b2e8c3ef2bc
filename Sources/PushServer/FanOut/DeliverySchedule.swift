import NIOCore

/// Decides when an event loop delivers the deltas, presence and reactions that its rooms collect.
///
/// A delivery costs one write for each follower, however much it carries. Normally it takes place at the end of the
/// loop's turn. If events arrive faster than the loop could deliver them one by one, the delivery waits first. The wait
/// is longer the higher the load, up to nearly the time of the last delivery, and ends early when there is enough to
/// carry. Under load a write therefore carries several deltas, and time is left for other work.
struct DeliverySchedule {
    /// Deliveries shorter than this are not followed by a wait.
    private static let longDelivery = TimeAmount.milliseconds(2)
    /// The longest wait.
    private static let longestRest = TimeAmount.milliseconds(100)
    /// A delivery does not wait any longer for a room with this many events.
    private static let enoughEvents = 4

    /// The wait, as a multiple of the time of the last delivery, for each unit of load above 1; at a load of 1,
    /// delivering each event on its own takes all of the loop's time.
    private static let restGain = 1.5
    /// The longest wait, as a multiple of the time of the last delivery.
    private static let longestShare = 0.9

    private var lastEnd = NIODeadline.uptimeNanoseconds(0)
    private var restsUntil = NIODeadline.uptimeNanoseconds(0)
    /// The time of the next delivery; nil while none is scheduled.
    private var due: NIODeadline?

    /// Returns the delay after which to try a delivery, because a room has something to deliver, now `events` events;
    /// nil if one is already scheduled.
    mutating func next(pending events: Int, at now: NIODeadline) -> TimeAmount? {
        let wanted = events >= Self.enoughEvents ? now : max(now, restsUntil)
        if let due, due <= wanted { return nil }
        due = wanted
        return wanted - now
    }

    /// Whether a delivery is due; false if the scheduled one was brought forward and is done.
    func isDue(at now: NIODeadline) -> Bool {
        due.map { $0 <= now } ?? false
    }

    /// Records a delivery that carried `events` in its fullest room.
    mutating func done(events: Int, from start: NIODeadline, to end: NIODeadline) {
        due = nil
        let took = (end - start).nanoseconds
        let interval = max((end - lastEnd).nanoseconds, 1)
        lastEnd = end
        // The share of the loop's time that would be used if each event had a delivery of its own.
        let load = Double(events) * Double(took) / Double(interval)
        let share = min(Self.restGain * (load - 1), Self.longestShare)
        guard took >= Self.longDelivery.nanoseconds, share > 0 else {
            restsUntil = end
            return
        }
        restsUntil = end + min(.nanoseconds(Int64(Double(took) * share)), Self.longestRest)
    }
}
