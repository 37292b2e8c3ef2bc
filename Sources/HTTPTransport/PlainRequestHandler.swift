package import NIOCore
package import WebSocketCodec

/// Answers a request that comes without TLS to a port for TLS, and ends its connection.
///
/// It stands next to the transport. Unless the first byte is one of a request, it passes everything on and removes
/// itself. It has no timer: the deadline of a connection's first request is its owner's.
package final class PlainRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// The most bytes that are read and dropped after the answer.
    static let lingerLimit = 65_536

    private var request: PlainRequest
    private let fields: [HeaderField]
    private let isAdmitted: () -> Bool
    /// The bytes that are not decided about.
    private var arrived = ByteBuffer()
    private var isAnswered = false
    private var dropped = 0

    /// Makes the handler of one connection.
    ///
    /// `fields` are added to the answer; without `isAdmitted`, asked once for a
    /// whole request, there is none.
    package init(_ request: consuming PlainRequest, fields: [HeaderField], isAdmitted: @escaping () -> Bool) {
        self.request = request
        self.fields = fields
        self.isAdmitted = isAdmitted
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var input = unwrapInboundIn(data)
        guard !isAnswered else {
            dropped += input.readableBytes
            if dropped > Self.lingerLimit { context.close(promise: nil) }
            return
        }
        arrived.writeBuffer(&input)
        switch request.read(arrived) {
        case .undecided: break
        case .tls:
            let bytes = arrived
            arrived = ByteBuffer()
            context.fireChannelRead(wrapInboundOut(bytes))
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        case .answered(let answer):
            isAnswered = true
            arrived = ByteBuffer()
            guard isAdmitted() else { return context.close(promise: nil) }
            send(answer, context)
        }
    }

    /// Sends the answer and no more; what still comes is dropped, since a reset could take the answer away.
    private func send(_ answer: PlainRequest.Answer, _ context: ChannelHandlerContext) {
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(answer.bytes(adding: fields))).flatMap {
            bound.value.close(mode: .output)
        }.whenFailure { _ in
            bound.value.close(promise: nil)
        }
    }
}
