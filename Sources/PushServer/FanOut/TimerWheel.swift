import NIOCore
import RoomService

/// An object of one event loop that has deadlines.
protocol Deadlined: AnyObject {
    /// The tick at which the wheel checks it; nil while it is on no wheel. Only the wheel changes it.
    var wheelTick: Int? { get set }

    /// Does what is due, and returns the time of the next check; nil if none is needed.
    func deadlineReached(at now: NIODeadline) -> NIODeadline?

    /// Extends the peer's deadlines by a time in which the loop stood still and read nothing.
    func excuse(_ pause: TimeAmount)

    /// The server stops: closes a connection on which nothing is under way.
    func drain()
}

extension Deadlined {
    func excuse(_ pause: TimeAmount) {}

    func drain() {}
}

/// All deadlines of one event loop, to a tenth of a second, with one timer for any number of connections.
///
/// Each element is on the wheel once, at its earliest deadline, and names its next deadline there. Moving a deadline to
/// a later time therefore costs nothing; every received byte does so with the deadline for silence. The wheel holds
/// numbers, so it keeps no element alive.
struct TimerWheel {
    /// The time between two ticks.
    static let interval = TimeAmount.milliseconds(100)
    /// The ticks in one turn of 102.4 s; an element with a later deadline is checked in between.
    private static let slotCount = 1_024

    private var slots: [[ConnectionID]]
    private let start: NIODeadline
    /// The last tick that was done.
    private var tick = 0

    /// Makes a wheel whose first tick comes one interval after `start`.
    init(start: NIODeadline) {
        self.start = start
        slots = Array(repeating: [], count: Self.slotCount)
    }

    /// Ensures that an element is checked by `deadline`, or at most one interval later.
    mutating func schedule(_ element: any Deadlined, _ id: ConnectionID, at deadline: NIODeadline) {
        let interval = Self.interval.nanoseconds
        let due = Int(((deadline - start).nanoseconds + interval - 1) / interval)
        let wanted = min(max(due, tick + 1), tick + Self.slotCount - 1)
        if let standing = element.wheelTick, standing <= wanted { return }
        element.wheelTick = wanted
        slots[wanted % Self.slotCount].append(id)
    }

    /// Takes the next tick that is due, and returns its number and the elements there; nil if none is due.
    ///
    /// An element that moved to an earlier tick is still listed at its old one: only elements whose
    /// ``Deadlined/wheelTick`` is the returned tick are meant.
    mutating func next(at now: NIODeadline) -> (tick: Int, ids: [ConnectionID])? {
        guard start + TimeAmount.nanoseconds(Int64(tick + 1) * Self.interval.nanoseconds) <= now else { return nil }
        tick += 1
        let ids = slots[tick % Self.slotCount]
        slots[tick % Self.slotCount] = []
        return (tick, ids)
    }
}
