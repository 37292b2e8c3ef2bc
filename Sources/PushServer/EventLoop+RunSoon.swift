import NIOCore

extension EventLoop {
    /// Runs `body` on the loop: at once when called there.
    func runSoon(_ body: @escaping @Sendable () -> Void) {
        if inEventLoop { body() } else { execute(body) }
    }
}
