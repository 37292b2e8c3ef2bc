import Glibc
import NIOPosix
import Synchronization

/// The program's log lines on their way to a descriptor that may block: logging never waits for it.
///
/// Lines are written in order by the queue's own thread. The queue is bounded in bytes. While it is full, lines are
/// dropped and counted, and one line in their place reports their number. If writing fails, lines are lost and counted,
/// without other effects.
package final class LogQueue: Sendable {
    /// The default size of the queue in bytes: some 2,000 lines.
    ///
    /// As many bytes again may be in the middle of being written.
    package static let defaultCapacity = 1 << 18

    private struct State {
        var waiting: [UInt8] = []
        /// Whether the thread is writing, or is about to write.
        var isDraining = false
        /// Lines that were dropped since the last report of dropped lines.
        var unreported = 0
        /// The number of all dropped lines.
        var dropped = 0
        var whenDropped: (@Sendable (Int) -> Void)?
    }

    private let descriptor: Int32
    private let capacity: Int
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private let state = Mutex(State())

    /// Makes a queue for an open descriptor, which stays open.
    package init(descriptor: Int32, capacity: Int = LogQueue.defaultCapacity) {
        self.descriptor = descriptor
        self.capacity = capacity
        thread.start()
    }

    deinit {
        thread.shutdownGracefully { _ in }
    }

    /// Adds a line that ends with a line feed; drops it if there is no room.
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

    /// Calls `tell` with the number of lines dropped so far, and then with the number at each further drop.
    ///
    /// `tell` runs under the queue's lock: it may count, but must not log.
    package func whenDropped(_ tell: @escaping @Sendable (Int) -> Void) {
        state.withLock { state in
            state.whenDropped = tell
            if state.dropped > 0 { tell(state.dropped) }
        }
    }

    /// Whether lines wait that the thread has not begun to write.
    package var isWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

    /// Returns when everything is written, or after `limit`.
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

    /// Adds the line that reports dropped lines, in their place.
    ///
    /// It may exceed the capacity.
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

    /// Writes all bytes, and waits while the descriptor accepts none; false if it fails.
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
