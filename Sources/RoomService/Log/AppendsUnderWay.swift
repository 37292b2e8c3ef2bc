import NIOCore

/// The queue of one room's appends that were handed over to group commit, for as long as any of them is under way.
///
/// A queue that has ended says no more: its late reports are of no concern (``has(_:)``).
struct AppendsUnderWay {
    /// The time for which appends follow each other without a pause, if there are other servers.
    static let busyTime = TimeAmount.milliseconds(30)

    /// The queue; nil if nothing is under way.
    private(set) var queue: AppendQueue?
    /// The time since which appends follow each other without a gap.
    private var busySince = NIODeadline.uptimeNanoseconds(0)

    /// Begins a queue, behind which no other one is under way, and returns it.
    mutating func begin(_ queue: AppendQueue, at now: NIODeadline) -> AppendQueue {
        precondition(self.queue == nil, "two queues of one room")
        self.queue = queue
        busySince = now
        return queue
    }

    /// Whether this is the queue that is under way.
    func has(_ queue: AppendQueue) -> Bool { self.queue === queue }

    /// Nothing is under way any more.
    mutating func end() { queue = nil }

    /// Begins no further append: another writer has appended first.
    func overtake() { queue?.overtake() }

    /// Pauses the queue now and then if there are other servers.
    ///
    /// A server that has lost the race against this room's appends would lose again for as long as these follow each
    /// other without a gap.
    mutating func letOthersIn(at now: NIODeadline, hasPeers: @autoclosure () -> Bool) {
        guard now - busySince > Self.busyTime, hasPeers() else { return }
        busySince = now
        queue?.rest()
    }
}
