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

    /// How long turns follow each other, and how long the loop then belongs to everybody else.
    ///
    /// A pause as long as a slice leaves the processors to the log's writer and to other loops half of the time.
    private static let (slice, pause) = (TimeAmount.microseconds(500), TimeAmount.microseconds(500))

    package nonisolated let loop: any EventLoop
    private nonisolated let executor: any SerialExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The executor lives as long as the actor, which holds it.
        unsafe executor.asUnownedSerialExecutor()
    }

    private var waiting: CircularBuffer<Turn> = []
    private var isScheduled = false

    /// Makes the turns of a loop.
    package init(of loop: any EventLoop) {
        self.loop = loop
        executor = loop.executor
    }

    /// Adds work behind what is there; `turn` is called until it has nothing left.
    package func add(_ turn: @escaping Turn) {
        waiting.append(turn)
        schedule()
    }

    private func schedule() {
        guard !isScheduled, !waiting.isEmpty else { return }
        isScheduled = true
        loop.scheduleTask(in: Self.pause) { self.assumeIsolated { $0.takeTurns() } }
    }

    private func takeTurns() {
        let end = NIODeadline.now() + Self.slice
        repeat {
            guard let turn = waiting.popFirst() else { break }
            if turn() { waiting.append(turn) }
        } while .now() < end
        isScheduled = false
        schedule()
    }
}
