import NIOCore

extension EventLoop {
    /// Runs `body` on the loop; at once, if called on that loop.
    func runSoon(_ body: @escaping @Sendable () -> Void) {
        if inEventLoop { body() } else { execute(body) }
    }
}
