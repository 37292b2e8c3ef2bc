package import NIOCore

/// The way from plaintext to the transport.
extension TLSHandler {
    /// Bytes accepted for the peer that the transport has not taken: the number that a limit on the queue must use.
    ///
    /// It counts plaintext still held, and ciphertext queued in SwiftNIO. Call on the channel's event loop.
    package var unsentByteCount: Int {
        let queued = try? channelContext?.channel.syncOptions?.getOption(.bufferedWritableBytes)
        return pending.byteCount + (queued ?? 0)
    }

    /// Whether the transport has taken everything written: the next bytes are then sent at once.
    ///
    /// Always false if the handler does not send directly.
    package var isIdle: Bool { phase == .open && queuedWrites == 0 && pending.isEmpty && socket != nil }

    /// Encrypts and sends `bytes` at once, after everything written before, without passing through the pipeline.
    ///
    /// For fan-out: as long as the socket takes everything, it allocates nothing, makes no promise and touches nothing
    /// but this handler and its `SSL` object. Earlier writes that were not flushed are flushed with it. The channel may
    /// be closed before this returns, with all consequences. Call on the channel's event loop.
    ///
    /// - Returns: whether the bytes were accepted; `false` once the connection is closing or closed. ``isIdle`` tells
    ///   whether the transport has taken them.
    @discardableResult
    package func send(_ bytes: ByteBuffer) -> Bool {
        if isIdle, !isEncrypting, let socket, socket.isOpen,
            (1...TLSEventLoopResources.recordLimit).contains(bytes.readableBytes),
            let result = connection?.write(bytes)
        {
            switch result {
            case .written:
                resources.dropCiphertext(socket.send(resources.ciphertext))
                if resources.ciphertext.readableBytes == 0 { return true }
                if let context = channelContext { queue(context, promise: nil) }
                return true
            case .failed(let fault):
                if let context = channelContext { fail(fault, context) }
                return false
            case .blocked:
                break
            }
        }
        guard let context = channelContext, accepts(context) else { return false }
        pending.append(bytes, promise: nil)
        pending.flush()
        encryptPending(context)
        return true
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard accepts(context) else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        pending.append(unwrapOutboundIn(data), promise: promise)
    }

    package func flush(context: ChannelHandlerContext) {
        pending.flush()
        if pending.hasFlushed { encryptPending(context) }
    }

    /// Encrypts all flushed writes and passes them to the transport, after any earlier output of OpenSSL.
    func encryptPending(_ context: ChannelHandlerContext) {
        // This is a call from an event that the loop below caused: that loop continues.
        guard phase == .open, !isEncrypting else { return }
        isEncrypting = true
        var promise: EventLoopPromise<Void>?
        var isBlocked = false
        var needsFlush = false
        while phase == .open, pending.hasFlushed, !isBlocked {
            let bytes = pending.next(limit: TLSEventLoopResources.recordLimit, joiningIn: &resources.joined)
            if bytes.readableBytes > 0, let result = connection?.write(bytes) {
                switch result {
                case .written:
                    break
                case .blocked:
                    isBlocked = true
                    continue
                case .failed(let fault):
                    isEncrypting = false
                    promise?.fail(fault)
                    fail(fault, context)
                    return
                }
            }
            promise = promise.joined(with: pending.remove(bytes.readableBytes))
            if resources.ciphertext.readableBytes >= Self.batchLimit {
                let batch = promise
                promise = nil
                needsFlush = true
                send(context, promise: batch, flushing: false)
            }
        }
        isEncrypting = false
        send(context, promise: promise, evenIfEmpty: needsFlush || promise != nil)
    }

    /// Passes OpenSSL's ciphertext to the transport.
    ///
    /// It must follow every call into OpenSSL before anything else runs on the loop.
    ///
    /// `promise` is completed when the transport has taken this ciphertext and all before it. With `evenIfEmpty`, it
    /// runs for the promise or the flush only.
    func send(
        _ context: ChannelHandlerContext, promise: EventLoopPromise<Void>?, evenIfEmpty: Bool = false,
        flushing: Bool = true
    ) {
        guard resources.ciphertext.readableBytes > 0 || evenIfEmpty else { return }
        // Order: none of this handler's bytes are queued, so these bytes follow everything sent before.
        if let socket, queuedWrites == 0, socket.isOpen {
            resources.dropCiphertext(socket.send(resources.ciphertext))
            if resources.ciphertext.readableBytes == 0 {
                promise?.succeed(())
                return
            }
        }
        queue(context, promise: promise, flushing: flushing)
    }

    /// Queues the ciphertext in the channel.
    private func queue(_ context: ChannelHandlerContext, promise: EventLoopPromise<Void>?, flushing: Bool = true) {
        let bytes = wrapOutboundOut(resources.takeCiphertext(context.channel.allocator))
        let completed = socket == nil ? promise : countingQueued(promise, context)
        if flushing {
            context.writeAndFlush(bytes, promise: completed)
        } else {
            context.write(bytes, promise: completed)
        }
    }

    /// Returns a promise for a write that is about to be queued; until it completes, nothing may overtake the write.
    private func countingQueued(
        _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
    ) -> EventLoopPromise<Void> {
        queuedWrites += 1
        let completed = promise ?? context.eventLoop.makePromise(of: Void.self)
        completed.futureResult.assumeIsolated().whenComplete { _ in
            self.queuedWrites -= 1
            if self.isIdle { self.channelContext?.fireUserInboundEventTriggered(Drained()) }
        }
        return completed
    }

    private func accepts(_ context: ChannelHandlerContext) -> Bool {
        switch phase {
        case .idle, .handshaking, .open: true
        case .closing, .closed: false
        }
    }
}
