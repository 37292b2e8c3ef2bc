import NIOCore

/// The alarms that are set on one event loop, at most one of each name.
struct LoopAlarms<Name: Hashable & Sendable> {
    private let loop: any EventLoop
    private var tasks: [Name: Scheduled<Void>] = [:]

    init(on loop: any EventLoop) { self.loop = loop }

    /// Calls `ring` on the loop at `time`, or at the end of its turn if that is past; an earlier alarm of this name never
    /// rings.
    ///
    /// When it rings, ``rang(_:)`` is called before another one of this name is set.
    mutating func set(_ name: Name, at time: NIODeadline, _ ring: @escaping @Sendable () -> Void) {
        drop(name)
        guard time > loop.now else { return loop.execute(ring) }
        tasks[name] = loop.scheduleTask(deadline: time, ring)
    }

    /// Records that an alarm has rung.
    mutating func rang(_ name: Name) { tasks[name] = nil }

    /// Lets an alarm not ring, if it is set for a later time.
    mutating func drop(_ name: Name) { tasks.removeValue(forKey: name)?.cancel() }
}
