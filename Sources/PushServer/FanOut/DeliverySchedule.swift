import NIOCore

/// When an event loop delivers what its rooms gather: deltas, presence and reactions.
///
/// A delivery costs a write for each follower, whatever it carries. It comes at the end of the loop's turn, unless
/// events come faster than the loop could deliver them one by one: then it rests first, the more they exceed that the
/// longer, up to nearly the time that the last delivery took, or until there is enough to carry. So a write carries
/// several deltas where that matters, and time is left for everything else.
struct DeliverySchedule {
    /// Deliveries shorter than this need no rest after them.
    private static let longDelivery = TimeAmount.milliseconds(2)
    /// The longest rest.
    private static let longestRest = TimeAmount.milliseconds(100)
    /// A room with so many events waiting is not kept waiting.
    private static let enoughEvents = 4

    /// The rest, in parts of the delivery before it, for each unit of load above 1, which is all that the loop could
    /// bear without joining events.
    private static let restGain = 1.5
    /// The longest rest, in parts of the delivery before it.
    private static let longestShare = 0.9

    private var lastEnd = NIODeadline.uptimeNanoseconds(0)
    private var restsUntil = NIODeadline.uptimeNanoseconds(0)
    /// When the next delivery is to come; nil while none is scheduled.
    private var due: NIODeadline?

    /// A room has something to deliver, `events` in all: after which delay a delivery is to be tried; nil where that
    /// is seen to.
    mutating func next(pending events: Int, at now: NIODeadline) -> TimeAmount? {
        let wanted = events >= Self.enoughEvents ? now : max(now, restsUntil)
        if let due, due <= wanted { return nil }
        due = wanted
        return wanted - now
    }

    /// Whether it is time; not where what was scheduled has been brought forward and done.
    func isDue(at now: NIODeadline) -> Bool {
        due.map { $0 <= now } ?? false
    }

    /// A delivery has been done that carried `events` in its fullest room.
    mutating func done(events: Int, from start: NIODeadline, to end: NIODeadline) {
        due = nil
        let took = (end - start).nanoseconds
        let interval = max((end - lastEnd).nanoseconds, 1)
        lastEnd = end
        // How busy the loop would be if each event had a delivery of its own.
        let load = Double(events) * Double(took) / Double(interval)
        let share = min(Self.restGain * (load - 1), Self.longestShare)
        guard took >= Self.longDelivery.nanoseconds, share > 0 else {
            restsUntil = end
            return
        }
        restsUntil = end + min(.nanoseconds(Int64(Double(took) * share)), Self.longestRest)
    }
}
