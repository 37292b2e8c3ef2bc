import Glibc
import SystemCalls

/// Work on a thread of its own, which ends with it.
final class DetachedThread: Sendable {
    private let work: @Sendable () -> Void

    private init(_ work: @escaping @Sendable () -> Void) { self.work = work }

    /// Begins the work on a new thread.
    ///
    /// Throws the `errno` if there can be no more threads.
    static func run(_ work: @escaping @Sendable () -> Void) throws(SystemError) {
        var started = pthread_t()
        let thread = unsafe Unmanaged.passRetained(DetachedThread(work))
        // The new thread takes over the reference that was retained for it.
        let result = unsafe pthread_create(
            &started, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let thread = unsafe Unmanaged<DetachedThread>.fromOpaque(argument).takeRetainedValue()
                // Nobody joins it.
                pthread_detach(pthread_self())
                thread.work()
                return nil
            }, thread.toOpaque())
        guard result == 0 else {
            unsafe thread.release()
            throw SystemError(code: result)
        }
    }
}
