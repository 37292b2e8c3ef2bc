package import NIOCore

/// Work of one event loop that is done in turns, in slices of the loop's time.
///
/// Whatever has more to do than a loop should do in a row adds a turn here and lets all else go on in between. It is no use
/// to hand the rest to the loop itself: SwiftNIO does all that it was handed before it looks at its sockets again.
package actor LoopTurns {
    /// Does a part of the work, less than a millisecond where that can be helped; returns whether more is left.
    ///
    /// Called on the loop.
    package typealias Turn = @Sendable () -> Bool

    package nonisolated let loop: any EventLoop
    private nonisolated let executor: any SerialExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The executor lives as long as the actor, which holds it.
        unsafe executor.asUnownedSerialExecutor()
    }

    /// How long turns follow each other, and how long they do not then.
    private let slice, pause: TimeAmount
    private var waiting: CircularBuffer<Turn> = []
    private var isScheduled = false
    /// Until when the loop belongs to everybody else.
    private var restsUntil = NIODeadline.uptimeNanoseconds(0)

    /// Makes the turns of a loop, which belongs to everybody else for at least `pause` between two slices.
    ///
    /// A pause of three slices leaves the processors to other threads most of the time; one of some microseconds is as long as
    /// the loop takes to look at its sockets.
    package init(
        of loop: any EventLoop, slice: TimeAmount = .microseconds(250), pause: TimeAmount = .microseconds(750)
    ) {
        self.loop = loop
        self.slice = slice
        self.pause = pause
        executor = loop.executor
    }

    /// Adds work behind what is there; `turn` is called until it has nothing left.
    package func add(_ turn: @escaping Turn) {
        waiting.append(turn)
        schedule()
    }

    /// Whether what would be a turn of less than a slice may be done at once.
    ///
    /// It may where nothing waits and the pause behind what was done last is over. Whoever is told so does it.
    package func takeAtOnce() -> Bool {
        guard !isScheduled, waiting.isEmpty, loop.now >= restsUntil else { return false }
        restsUntil = loop.now + slice + pause
        return true
    }

    private func schedule() {
        guard !isScheduled, !waiting.isEmpty else { return }
        isScheduled = true
        loop.scheduleTask(in: pause) { self.assumeIsolated { $0.takeTurns() } }
    }

    private func takeTurns() {
        let end = loop.now + slice
        repeat {
            guard let turn = waiting.popFirst() else { break }
            if turn() { waiting.append(turn) }
        } while loop.now < end
        restsUntil = loop.now + pause
        isScheduled = false
        schedule()
    }
}
