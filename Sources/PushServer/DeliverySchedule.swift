import NIOCore

/// When an event loop delivers the deltas that its rooms gather.
///
/// A delivery costs a write for each follower, whatever it carries. It comes at the end of the loop's turn, unless
/// events come faster than the loop could deliver them one by one: then the next waits as long as the last one took,
/// or until it has enough to carry. So a write carries several deltas where that matters, and half of the loop's time
/// is left for everything else.
struct DeliverySchedule {
    /// Deliveries shorter than this need no rest after them.
    private static let longDelivery = TimeAmount.milliseconds(2)
    /// The longest rest.
    private static let longestRest = TimeAmount.milliseconds(100)
    /// A room with so many events waiting is not kept waiting.
    private static let enoughEvents = 4

    /// From this load on it rests: somewhat more than the loop could bear without joining events.
    private static let heavyLoad = 1.4

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
        let rests = took >= Self.longDelivery.nanoseconds && load >= Self.heavyLoad
        restsUntil = rests ? end + min(.nanoseconds(took), Self.longestRest) : end
    }
}
