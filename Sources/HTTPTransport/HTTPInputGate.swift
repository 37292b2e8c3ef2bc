import NIOCore

/// Holds back the bytes of an HTTP connection that nobody wants to look at yet, before the reader of requests makes
/// something larger of them.
///
/// What it lets through comes in short pieces, so that of a line of requests sent at once few are read ahead.
final class HTTPInputGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// The most bytes of heads that are let through at a time.
    static let pieceLength = 512
    /// A peer that has sent more than this while it is not read from is closed: the system hands over all it has once
    /// the peer has ended its side.
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
        // Copied: the buffer belongs to the transport.
        held.writeBytes(bytes.readableBytesView)
        if held.readableBytes > Self.heldLimit { context.close(promise: nil) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        connection.inputHandled()
    }

    /// Lets through what was held back, as far as it is wanted now.
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
