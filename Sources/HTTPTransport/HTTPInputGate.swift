import NIOCore

/// Holds back the bytes of an HTTP connection until they are wanted, before SwiftNIO's reader parses them into larger
/// objects.
///
/// Bytes are passed on in short pieces, so that few of many requests sent at once are read ahead.
final class HTTPInputGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The most bytes of heads that are passed on at a time.
    static let pieceLength = 512
    /// The most bytes that may be held back before the peer is closed: once a peer has ended its side, the system
    /// delivers all of its bytes even if they were not asked for.
    static let heldLimit = 65_536

    private let connection: HTTPConnectionHandler
    private var held = ByteBuffer()
    private var isFeeding = false
    private var context: ChannelHandlerContext?

    init(_ connection: HTTPConnectionHandler) {
        self.connection = connection
    }

    /// Whether nothing is held back.
    var isEmpty: Bool { held.readableBytes == 0 }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        connection.gate = self
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        connection.gate = nil
        held = ByteBuffer()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        connection.bytesCame(bytes.readableBytes)
        guard !connection.dropsInput else { return }
        if held.readableBytes == 0, !isFeeding { feed(&bytes, context) }
        guard bytes.readableBytes > 0, !connection.dropsInput else { return }
        // Copied, because the buffer belongs to the transport.
        held.writeBytes(bytes.readableBytesView)
        if held.readableBytes > Self.heldLimit { context.close(promise: nil) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        connection.inputHandled()
    }

    /// Passes on the bytes that were held back, as far as they are wanted now.
    func resume() {
        guard let context, !isFeeding, held.readableBytes > 0 else { return }
        var bytes = held
        held = ByteBuffer()
        connection.bytesCame(0)
        feed(&bytes, context)
        if bytes.readableBytes > 0, !connection.dropsInput { held = ByteBuffer(bytes: bytes.readableBytesView) }
        context.fireChannelReadComplete()
    }

    private func feed(_ bytes: inout ByteBuffer, _ context: ChannelHandlerContext) {
        isFeeding = true
        defer { isFeeding = false }
        while connection.takesInput, bytes.readableBytes > 0 {
            let length = min(max(Self.pieceLength, connection.knownBody), bytes.readableBytes)
            guard let piece = bytes.readSlice(length: length) else { return }
            context.fireChannelRead(wrapInboundOut(piece))
        }
    }
}
