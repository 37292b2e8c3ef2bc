import Glibc
import NIOPosix
import Synchronization

/// The program's log lines on their way to a descriptor, which may block: whoever logs never waits for it.
///
/// Lines are written in their order by a thread of the queue's own. What waits is bounded in bytes; while it is full,
/// lines are dropped and counted, and a line in their place says how many there were. Where writing fails, lines are
/// lost and counted, and nothing else happens.
package final class LogQueue: Sendable {
    /// How many bytes of lines may wait by default: some 2,000 lines.
    ///
    /// As much again may be on its way.
    package static let defaultCapacity = 1 << 18

    private struct State {
        var waiting: [UInt8] = []
        /// Whether the thread writes, or is about to.
        var isDraining = false
        /// Lines that were dropped since the last line that said so.
        var unreported = 0
        /// All lines that were dropped.
        var dropped = 0
        var whenDropped: (@Sendable (Int) -> Void)?
    }

    private let descriptor: Int32
    private let capacity: Int
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private let state = Mutex(State())

    /// Makes a queue to an open descriptor, which stays open.
    package init(descriptor: Int32, capacity: Int = LogQueue.defaultCapacity) {
        self.descriptor = descriptor
        self.capacity = capacity
        thread.start()
    }

    deinit {
        thread.shutdownGracefully { _ in }
    }

    /// Takes a line with its line feed; where there is no room, it is dropped.
    ///
    /// Never blocks.
    package func add(_ line: String) {
        let bytes = line.utf8
        let mustDrain = state.withLock { state in
            guard state.waiting.count + bytes.count <= capacity else {
                state.unreported += 1
                Self.count(1, in: &state)
                return false
            }
            Self.report(in: &state)
            state.waiting += bytes
            guard !state.isDraining else { return false }
            state.isDraining = true
            return true
        }
        if mustDrain { thread.submit { _ in self.drain() } }
    }

    /// Calls `tell` with the number of lines that were dropped before, and then with that of each further drop.
    ///
    /// `tell` runs under the queue's lock: it may count, and must not log.
    package func whenDropped(_ tell: @escaping @Sendable (Int) -> Void) {
        state.withLock { state in
            state.whenDropped = tell
            if state.dropped > 0 { tell(state.dropped) }
        }
    }

    /// Whether lines wait that the thread has not begun to write.
    package var isWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Returns once everything is written, or after `limit`.
    package func flush(within limit: Duration) async {
        let end = ContinuousClock.now + limit
        while state.withLock(\.isDraining), ContinuousClock.now < end {
            try? await Task.sleep(for: .milliseconds(2))
        }
    }

    private static func count(_ lines: Int, in state: inout State) {
        state.dropped += lines
        state.whenDropped?(lines)
    }

    /// Puts the line about dropped lines in their place.
    ///
    /// It has room beyond the capacity.
    private static func report(in state: inout State) {
        guard state.unreported > 0 else { return }
        state.waiting += "backline: \(state.unreported) log lines were dropped: nobody read standard error\n".utf8
        state.unreported = 0
    }

    private func drain() {
        while let lines = next() {
            guard !write(lines) else { continue }
            let lost = lines.count { $0 == 0x0A }
            state.withLock { Self.count(lost, in: &$0) }
        }
    }

    private func next() -> [UInt8]? {
        state.withLock { state in
            Self.report(in: &state)
            guard !state.waiting.isEmpty else {
                state.isDraining = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    /// Writes all bytes and waits where the descriptor takes none; false where it fails.
    private func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            // The pointer does not leave the call.
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                // The structure is used during the call only.
                _ = unsafe poll(&state, 1, -1)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}

/// The queue as the stream of a log handler, which writes whole lines.
package struct LogStream: TextOutputStream, Sendable {
    private let queue: LogQueue

    package init(_ queue: LogQueue) {
        self.queue = queue
    }

    package func write(_ line: String) {
        queue.add(line)
    }
}
