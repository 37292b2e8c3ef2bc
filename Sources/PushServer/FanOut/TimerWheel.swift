import NIOCore
import RoomService

/// Something of one event loop that has deadlines.
protocol Deadlined: AnyObject {
    /// The tick at which the wheel looks at it; nil while it is on no wheel. The wheel's alone to change.
    var wheelTick: Int? { get set }

    /// Does what is due, and returns when to look again; nil where that is not needed.
    func deadlineReached(at now: NIODeadline) -> NIODeadline?

    /// Forgives a peer a time in which the loop stood still and nobody saw what the peer did.
    func excuse(_ pause: TimeAmount)

    /// The server stops: ends what nobody waits for.
    func drain()
}

extension Deadlined {
    func excuse(_ pause: TimeAmount) {}

    func drain() {}
}

/// All deadlines of one event loop, to the tenth of a second: one timer for any number of connections.
///
/// Each element stands on the wheel once, at its earliest deadline, and says there what comes next: moving a deadline
/// away, as every received byte does with that of a silent peer, costs nothing. The wheel holds numbers, so it keeps
/// nothing alive.
struct TimerWheel {
    /// How far apart the wheel's ticks are.
    static let interval = TimeAmount.milliseconds(100)
    /// Ticks in one turn, 102.4 s: who is due later is looked at in between.
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

    /// Sees to it that an element is looked at by `deadline`, or at most one interval later.
    mutating func schedule(_ element: any Deadlined, _ id: ConnectionID, at deadline: NIODeadline) {
        let interval = Self.interval.nanoseconds
        let due = Int(((deadline - start).nanoseconds + interval - 1) / interval)
        let wanted = min(max(due, tick + 1), tick + Self.slotCount - 1)
        if let standing = element.wheelTick, standing <= wanted { return }
        element.wheelTick = wanted
        slots[wanted % Self.slotCount].append(id)
    }

    /// Takes the next tick that has come, and returns its number and who stands there; nil where none has.
    ///
    /// Who moved to an earlier tick stands there still: only those whose ``Deadlined/wheelTick`` is this one are meant.
    mutating func next(at now: NIODeadline) -> (tick: Int, ids: [ConnectionID])? {
        guard start + TimeAmount.nanoseconds(Int64(tick + 1) * Self.interval.nanoseconds) <= now else { return nil }
        tick += 1
        let ids = slots[tick % Self.slotCount]
        slots[tick % Self.slotCount] = []
        return (tick, ids)
    }
}
