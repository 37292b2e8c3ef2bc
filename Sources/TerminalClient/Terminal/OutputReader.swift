import Dispatch
import Glibc
import Synchronization

/// Notices that nobody reads standard output any more, where that is a pipe, without writing to it.
struct OutputReader {
    private let isCancelled = Cancellation()

    /// `isGone` is called once the reader of the pipe is gone.
    init(_ isGone: @escaping @Sendable () -> Void) {
        var status = stat()
        // The structure is filled during the call.
        guard unsafe fstat(STDOUT_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else { return }
        let isCancelled = isCancelled
        // Dispatch does not tell of the other end of a pipe that is written to. A thread of its own waits for it.
        DispatchQueue(label: "reader of the output").async {
            while true {
                var state = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
                // The structure is used during the call only.
                let count = unsafe poll(&state, 1, -1)
                if isCancelled.isSet { return }
                if count == 1, Int32(state.revents) & (POLLERR | POLLHUP) != 0 { return isGone() }
                // Interrupted by a signal: it waits again. Anything else would not end.
                if count != -1 || errno != EINTR { return }
            }
        }
    }

    func cancel() { isCancelled.set() }
}

/// Whether nobody wants to know any more.
private final class Cancellation: Sendable {
    private let state = Mutex(false)

    var isSet: Bool { state.withLock { $0 } }

    func set() { state.withLock { $0 = true } }
}
