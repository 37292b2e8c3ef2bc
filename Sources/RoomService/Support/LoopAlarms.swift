import NIOCore

/// The alarms that are set on one event loop, at most one of each name.
struct LoopAlarms<Name: Hashable & Sendable> {
    /// An alarm that is set.
    private struct Alarm {
        let number: Int
        /// Nil if it rings at the end of the loop's turn.
        let task: Scheduled<Void>?
    }

    private let loop: any EventLoop
    private var alarms: [Name: Alarm] = [:]
    private var lastNumber = 0

    init(on loop: any EventLoop) { self.loop = loop }

    /// Calls `ring` with a number, on the loop, at `time`, or at the end of its turn if that is past; an earlier alarm of
    /// this name does not count any more.
    mutating func set(_ name: Name, at time: NIODeadline, _ ring: @escaping @Sendable (Int) -> Void) {
        drop(name)
        lastNumber += 1
        let number = lastNumber
        guard time > loop.now else {
            alarms[name] = Alarm(number: number, task: nil)
            return loop.execute { ring(number) }
        }
        alarms[name] = Alarm(number: number, task: loop.scheduleTask(deadline: time) { ring(number) })
    }

    /// Records that an alarm rings; returns false if it was dropped or replaced in the turn in which it rings.
    mutating func rang(_ name: Name, _ number: Int) -> Bool {
        guard alarms[name]?.number == number else { return false }
        alarms[name] = nil
        return true
    }

    /// Lets an alarm not ring, if it is set.
    mutating func drop(_ name: Name) { alarms.removeValue(forKey: name)?.task?.cancel() }
}
