package import NIOCore

/// Work of one event loop that is done in turns, in slices of the loop's time.
///
/// Work that takes longer than a loop should spend in a row adds a turn here, and other work continues in between.
/// Passing the rest to the loop itself would not help: SwiftNIO runs everything that was passed to it before it looks
/// at its sockets again.
package actor LoopTurns {
    /// Does a part of the work, in less than a millisecond if possible; returns whether there is more.
    ///
    /// Called on the loop.
    package typealias Turn = @Sendable () -> Bool

    package nonisolated let loop: any EventLoop
    private nonisolated let executor: any SerialExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The executor lives as long as the actor, which holds it.
        unsafe executor.asUnownedSerialExecutor()
    }

    /// The time for which turns follow each other, and the pause after it.
    private let slice, pause: TimeAmount
    private var waiting: CircularBuffer<Turn> = []
    private var isScheduled = false
    /// The time until which no turn is taken.
    private var restsUntil = NIODeadline.uptimeNanoseconds(0)

    /// Makes the turns of a loop, with a pause of at least `pause` between two slices.
    ///
    /// A pause of three slices leaves the processors to other threads most of the time; one of some microseconds lasts
    /// as long as the loop takes to look at its sockets.
    package init(
        of loop: any EventLoop, slice: TimeAmount = .microseconds(250), pause: TimeAmount = .microseconds(750)
    ) {
        self.loop = loop
        self.slice = slice
        self.pause = pause
        executor = loop.executor
    }

    /// Adds work behind the waiting turns; `turn` is called until it returns false.
    package func add(_ turn: @escaping Turn) {
        waiting.append(turn)
        schedule()
    }

    /// Whether work of less than a slice may be done at once instead of in a turn.
    ///
    /// That is so if no turn waits and the last pause is over. A caller that is told so must do the work.
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
