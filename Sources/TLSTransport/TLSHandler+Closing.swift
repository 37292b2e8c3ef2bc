package import NIOCore

/// The ways in which a connection ends.
extension TLSHandler {
    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .input {
            promise?.fail(ChannelError.operationUnsupported)
            return
        }
        switch phase {
        case .open:
            beginClose(context, promise: promise)
        case .closing:
            closePromise = closePromise.joined(with: promise)
        case .idle, .handshaking, .closed:
            // Without keys there is no `close_notify`.
            end(failingWritesWith: ChannelError.ioOnClosedChannel)
            context.close(mode: .all, promise: promise)
        }
    }

    /// Sends `close_notify` and then closes the channel.
    func beginClose(_ context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        phase = .closing
        closePromise = promise
        connection?.shutdown()
        let sent = context.eventLoop.makePromise(of: Void.self)
        send(context, promise: sent, evenIfEmpty: true)
        connection = nil
        pending.fail(ChannelError.ioOnClosedChannel)
        sent.futureResult.assumeIsolated().whenComplete { _ in self.finishClose(context) }
        guard phase == .closing else { return }
        closeTimer = context.eventLoop.assumeIsolated().scheduleTask(in: closeTimeout) { self.finishClose(context) }
    }

    /// Gives up: tells the peer the reason if OpenSSL wrote an alert, tells the pipeline, closes the channel.
    func fail(_ fault: TLSFault, _ context: ChannelHandlerContext) {
        guard phase != .closed else { return }
        phase = .closed
        send(context, promise: nil)
        end(failingWritesWith: fault)
        context.fireErrorCaught(fault)
        context.close(mode: .all, promise: nil)
    }

    /// Frees the connection's resources and completes all waiting promises; harmless when repeated.
    func end(failingWritesWith error: any Error) {
        phase = .closed
        connection = nil
        // The socket retains the channel.
        socket = nil
        closeTimer?.cancel()
        closeTimer = nil
        let promise = closePromise
        closePromise = nil
        pending.fail(error)
        promise?.succeed(())
    }

    /// Tells the pipeline when the transport ended before TLS did.
    func reportEndOfTransport(during phase: Phase, _ context: ChannelHandlerContext) {
        switch phase {
        case .handshaking: context.fireErrorCaught(TLSFault.closedDuringHandshake)
        case .open: if !hasInputEnded { context.fireErrorCaught(TLSFault.truncated) }
        case .idle, .closing, .closed: break
        }
    }

    private func finishClose(_ context: ChannelHandlerContext) {
        guard phase == .closing else { return }
        let promise = closePromise
        closePromise = nil
        end(failingWritesWith: ChannelError.ioOnClosedChannel)
        context.close(mode: .all, promise: promise)
    }
}
