package import NIOCore

/// TLS on a channel: plaintext toward the tail of the pipeline, ciphertext toward its head.
///
/// Place it next to the transport, one for each channel. It begins the handshake when the channel is active and fires
/// ``TLSHandshakeCompleted`` when it is done; earlier writes wait until then. It has no timer for the handshake: that
/// deadline is the caller's.
///
/// - Reading: one `channelRead` for up to 16 KiB of plaintext. With `autoRead` off, a `read()` is answered
///   by plaintext, however many transport reads that takes; the handshake reads by itself.
/// - Writing: everything written before one flush goes out in as few records as possible, in one piece. A
///   promise succeeds when the transport has taken the last byte of its write.
/// - Closing: `close()` sends `close_notify` after all flushed writes and closes the channel once the
///   transport has taken everything, or after `closeTimeout`; writes that were not flushed fail. Closing
///   the output closes everything, and so does `close_notify` from the peer, unless the channel allows half closure.
/// - Failing: a ``TLSFault`` goes through `errorCaught`, then the channel is closed. A transport that ends without
///   `close_notify` is a ``TLSFault/truncated``, which is common and for most protocols harmless.
/// - Removing it from a channel that is still open closes the channel, so that nothing goes out in clear.
///
/// Handlers may write, flush, close and remove handlers from within any event fired here. Confined to the
/// channel's event loop; its memory is freed when the channel is closed.
package final class TLSHandler: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// An inbound event: the transport has taken all waiting bytes, and ``isIdle`` is true again.
    ///
    /// Fired only if the handler sends directly.
    package struct Drained: Sendable {}

    /// The phase of the connection; it only moves forward.
    enum Phase {
        /// The channel is not active yet.
        case idle
        case handshaking
        case open
        /// `close_notify` is being sent; nothing is read or written any more.
        case closing
        /// The channel is closed, or about to be.
        case closed
    }

    /// The most ciphertext that is gathered before it is passed to the transport.
    static let batchLimit = 65_536

    /// The most bytes of replies to handshake messages that a peer may leave unread (see ``TLSFault/unreadReplies``).
    static let unreadReplyLimit = 16_384

    // The fields that a send needs come first, so that they lie together in memory.
    let resources: TLSEventLoopResources
    var connection: TLSConnection?
    var phase = Phase.idle
    var isEncrypting = false
    /// The socket to send on when SwiftNIO has nothing queued; `nil` to leave all sending to the channel.
    var socket: StreamSocket?
    /// The writes given to the channel that it has not completed; counted only if there is a socket.
    var queuedWrites = 0
    var pending = PendingWrites()
    var channelContext: ChannelHandlerContext?
    /// The promises of `close()`, while closing.
    var closePromise: EventLoopPromise<Void>?
    var closeTimer: Scheduled<Void>?
    let closeTimeout: TimeAmount

    private let tlsContext: TLSContext
    private let serverName: String?
    private let sendsDirectly: Bool
    private var isDecrypting = false
    /// Ciphertext that arrived while an event fired here was still being handled.
    private var backlog: ByteBuffer?
    /// Whether ciphertext waits for this connection's turn; nothing is read meanwhile.
    private var isWaitingForTurn = false
    /// Whether a read was requested meanwhile.
    private var isReadPutOff = false
    private let whenItsTurn: ((@escaping @Sendable () -> Void) -> Bool)?
    private var readRequested = false
    /// Whether the peer has sent `close_notify` on a channel that outlives it.
    var hasInputEnded = false
    private var unreadReplies = 0

    /// Makes the handler of one connection.
    ///
    /// - Parameters:
    ///   - context: versions, certificates, verification, and the side of the handshake.
    ///   - resources: those of the channel's event loop.
    ///   - serverName: on a client the host name or address that was meant to be reached, sent as SNI and
    ///     verified as `context` says; not used on a server.
    ///   - sendsDirectly: sends on the channel's socket itself as long as the channel has nothing queued, which
    ///     saves the way through SwiftNIO's outbound path. Only for a handler that is next to the transport:
    ///     handlers nearer to it would not see what is written. Without effect on a channel that has no socket.
    ///   - whenItsTurn: returns true if the event loop has time now for a step of a handshake, which takes some
    ///     tenths of a millisecond; otherwise it calls its argument once on the loop, when the loop has time. Without
    ///     it, each step is taken as soon as its bytes have arrived.
    ///   - closeTimeout: how long `close()` waits for a peer that does not read. The default of 5 s is enough for a
    ///     slow network to take a socket's buffer, and short enough for a stopping server.
    /// - Precondition: a client that verifies the host name is given one.
    package init(
        _ context: TLSContext, resources: TLSEventLoopResources, serverName: String? = nil,
        sendsDirectly: Bool = false, whenItsTurn: ((@escaping @Sendable () -> Void) -> Bool)? = nil,
        closeTimeout: TimeAmount = .seconds(5)
    ) {
        precondition(
            serverName != nil || context.verification?.checksHostName != true,
            "a client that verifies the host name needs a server name")
        tlsContext = context
        self.resources = resources
        self.serverName = serverName
        self.sendsDirectly = sendsDirectly
        self.whenItsTurn = whenItsTurn
        self.closeTimeout = closeTimeout
    }

    // MARK: Life of the channel

    package func handlerAdded(context: ChannelHandlerContext) {
        channelContext = context
        if context.channel.isActive { begin(context) }
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        let wasOpen = phase != .closed
        end(failingWritesWith: ChannelError.ioOnClosedChannel)
        channelContext = nil
        if wasOpen, context.channel.isActive { context.channel.close(promise: nil) }
    }

    package func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        begin(context)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        let phase = self.phase
        end(failingWritesWith: ChannelError.ioOnClosedChannel)
        reportEndOfTransport(during: phase, context)
        context.fireChannelInactive()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        // While closing, the reply is already being sent.
        switch phase {
        case .idle, .closing, .closed: break
        case .handshaking: fail(.closedDuringHandshake, context)
        case .open: if !hasInputEnded { fail(.truncated, context) }
        }
    }

    // MARK: Reading

    package func read(context: ChannelHandlerContext) {
        readRequested = true
        if isWaitingForTurn { isReadPutOff = true } else { context.read() }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var input = unwrapInboundIn(data)
        guard !isDecrypting else {
            // A handler fired this from within one of our events: these bytes follow the ones being decrypted.
            backlog.setOrWriteBuffer(&input)
            return
        }
        if phase == .handshaking, let whenItsTurn {
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            let isNow = whenItsTurn {
                let (handler, context) = bound.value
                handler.takeTurn(context)
            }
            if !isNow {
                // Bytes that arrive until then are passed on after it.
                isDecrypting = true
                isWaitingForTurn = true
                backlog = input
                return
            }
        }
        work(&input, context)
    }

    private func takeTurn(_ context: ChannelHandlerContext) {
        isWaitingForTurn = false
        guard var input = backlog else { return }
        backlog = nil
        // If the connection has ended, the bytes are dropped.
        work(&input, context)
        context.fireChannelReadComplete()
        let wasPutOff = isReadPutOff
        isReadPutOff = false
        switch phase {
        case .handshaking: context.read()
        // Handlers that received plaintext meanwhile may want no more.
        case .open where wasPutOff: context.channel.read()
        case .open where readRequested: context.read()
        case .idle, .open, .closing, .closed: break
        }
    }

    private func work(_ input: inout ByteBuffer, _ context: ChannelHandlerContext) {
        isDecrypting = true
        decrypt(&input, context)
        while var more = backlog {
            backlog = nil
            decrypt(&more, context)
        }
        isDecrypting = false
        // A write that waited for the peer's handshake message may be possible now.
        if pending.hasFlushed {
            encryptPending(context)
            if isIdle { context.fireUserInboundEventTriggered(Drained()) }
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        // The pending read asks for plaintext (or the handshake), and the received bytes gave none.
        guard !isWaitingForTurn else { return }
        if phase == .handshaking || phase == .open && readRequested { context.read() }
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard phase == .idle else { return }
        phase = .handshaking
        if sendsDirectly { socket = StreamSocket(context.channel) }
        if tlsContext.role == .client {
            var nothing = ByteBuffer()
            advanceHandshake(&nothing, context)
        }
        if phase == .handshaking { context.read() }
    }

    /// Makes the connection's TLS object: on a server with the peer's first bytes, so that a silent peer costs almost
    /// nothing.
    private func makeConnection(_ context: ChannelHandlerContext) {
        do throws(TLSFault) {
            connection = try TLSConnection.make(tlsContext, resources, serverName: serverName)
        } catch {
            fail(error, context)
        }
    }

    /// Processes `input` until it is used up or the connection ends.
    private func decrypt(_ input: inout ByteBuffer, _ context: ChannelHandlerContext) {
        while true {
            switch phase {
            case .handshaking:
                advanceHandshake(&input, context)
                if phase == .handshaking { return }
            case .open:
                guard decryptOnce(&input, context) else { return }
            case .idle, .closing, .closed:
                return
            }
        }
    }

    private func advanceHandshake(_ input: inout ByteBuffer, _ context: ChannelHandlerContext) {
        if connection == nil { makeConnection(context) }
        guard let step = connection?.handshake(&input) else { return }
        switch step {
        case .needsBytes:
            send(context, promise: nil)
        case .failed(let fault):
            if case .fingerprintMismatch = fault { connection?.discardCiphertext() }
            fail(fault, context)
        case .done(let event):
            phase = .open
            // The end of the handshake and the writes that waited for it go out together.
            encryptPending(context)
            if phase == .open { context.fireUserInboundEventTriggered(event) }
        }
    }

    /// Decrypts and passes on up to one buffer of plaintext; returns whether there may be more.
    private func decryptOnce(_ input: inout ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
        guard let end = connection?.read(&input) else { return false }
        countReplies(context)
        // Taken out of the shared resources, so that no code that runs within the events below finds it there.
        var plaintext = ByteBuffer()
        swap(&plaintext, &resources.plaintext)
        let replyFault = unreadReplies > Self.unreadReplyLimit
        send(context, promise: nil)
        if plaintext.readableBytes > 0, phase == .open {
            readRequested = false
            context.fireChannelRead(wrapInboundOut(plaintext))
        }
        // Reuses the allocation, unless somebody has kept the buffer.
        plaintext.clear()
        swap(&plaintext, &resources.plaintext)
        guard phase == .open else { return false }
        if replyFault {
            fail(.unreadReplies, context)
            return false
        }
        switch end {
        case .bufferFull:
            return true
        case .needsBytes:
            return false
        case .closeNotify:
            if (try? context.channel.syncOptions?.getOption(.allowRemoteHalfClosure)) == true {
                hasInputEnded = true
                context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            } else {
                beginClose(context, promise: nil)
            }
            return false
        case .failed(let fault):
            fail(fault, context)
            return false
        }
    }

    /// Counts the replies that the peer causes while it reads nothing: they would queue without bound.
    private func countReplies(_ context: ChannelHandlerContext) {
        let replies = resources.ciphertext.readableBytes
        if replies > 0 { unreadReplies = context.channel.isWritable ? 0 : unreadReplies + replies }
    }
}
