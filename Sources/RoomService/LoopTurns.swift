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

    /// How long turns follow each other.
    private static let slice = TimeAmount.microseconds(250)

    package nonisolated let loop: any EventLoop
    private nonisolated let executor: any SerialExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The executor lives as long as the actor, which holds it.
        unsafe executor.asUnownedSerialExecutor()
    }

    private let pause: TimeAmount
    private var waiting: CircularBuffer<Turn> = []
    private var isScheduled = false

    /// Makes the turns of a loop, which belongs to everybody else for at least `pause` between two slices.
    ///
    /// A pause of three slices leaves the processors to other threads most of the time.
    package init(of loop: any EventLoop, pause: TimeAmount = .microseconds(750)) {
        self.loop = loop
        self.pause = pause
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
        loop.scheduleTask(in: pause) { self.assumeIsolated { $0.takeTurns() } }
    }

    private func takeTurns() {
        let end = loop.now + Self.slice
        repeat {
            guard let turn = waiting.popFirst() else { break }
            if turn() { waiting.append(turn) }
        } while loop.now < end
        isScheduled = false
        schedule()
    }
}
