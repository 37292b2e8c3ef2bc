import NIOCore
import WebSocketCodec

/// One connection of a client: a request, or a WebSocket in the server's role.
///
/// Confined to the stage's event loop.
final class StageConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum State {
        /// A request's head has not arrived yet.
        case head
        /// The handshake waits for its answer.
        case held(ServerHandshake)
        case open
        /// What arrives is dropped.
        case over
    }

    /// The longest message that is sent one byte a frame; longer ones are sent in pieces.
    private static let cutLength = 4_096
    /// A prime: the cuts of several messages fall on different places.
    private static let pieceLength = 61
    /// The time for the client to answer a close.
    private static let closeTimeout = TimeAmount.seconds(2)

    let number: Int
    private let stage: Stage
    private var state = State.head
    private var parser = HeadParser()
    private var arrived = ByteBuffer()
    private var reader = MessageReader(role: .server)
    private var closing = CloseHandshake(role: .server)
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var isMuted = false

    init(_ number: Int, _ stage: Stage) {
        self.number = number
        self.stage = stage
    }

    // MARK: Channel

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        switch state {
        case .over: return
        case .held: arrived.writeImmutableBuffer(bytes)
        case .open: read(&bytes)
        case .head:
            arrived.writeImmutableBuffer(bytes)
            do throws(HandshakeViolation) {
                guard let head = try parser.parseRequest(&arrived) else { return }
                try take(head)
            } catch {
                state = .over
                respond(error.status, Array(error.detail.utf8))
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        closing.transportEnded()
        timer?.cancel()
        self.context = nil
        var code: UInt16?
        if case .closedByPeer(let reason?)? = closing.outcome { code = reason.code.rawValue }
        stage.closed(number, code)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    // MARK: Opening

    private func take(_ head: RequestHead) throws(HandshakeViolation) {
        guard head.asksForWebSocket else {
            state = .over
            return stage.requested(number, method: head.method, path: head.target)
        }
        state = .held(try ServerHandshake(head, subprotocols: ["backline.v1.json"]))
        var token: String?
        if let field = head.fields.onlyValue(of: "Authorization"), field.hasPrefix("Bearer ") {
            token = String(field.dropFirst(7))
        } else if let cookies = head.fields.onlyValue(of: "Cookie") {
            let name = "__Host-backline_session="
            let pair = cookies.split(separator: ";").map { $0.drop { $0 == " " } }.first { $0.hasPrefix(name) }
            token = pair.map { String($0.dropFirst(name.count)) }
        }
        stage.opening(number, path: head.target, token: token)
    }

    func accept() {
        guard case .held(let handshake) = state, let context else { return }
        state = .open
        var response = ByteBuffer()
        handshake.writeResponse(into: &response)
        context.writeAndFlush(wrapOutboundOut(response), promise: nil)
        // What came with the handshake is read when its answer has been.
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.execute { bound.value.readEarly() }
    }

    private func readEarly() {
        var early = arrived
        arrived = ByteBuffer()
        if early.readableBytes > 0 { read(&early) }
    }

    func respond(_ status: Int, _ body: [UInt8]) {
        guard let context else { return }
        state = .over
        let type = status < 400 ? "application/json" : "application/problem+json"
        let fields = [
            HeaderField("Content-Type", type), HeaderField("Content-Length", "\(body.count)"),
            HeaderField("Connection", "close"),
        ]
        var response = ByteBuffer()
        ResponseHead(status: status, fields: HeaderFields(fields.compactMap { $0 })).write(into: &response)
        response.writeBytes(body)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(response)).whenComplete { _ in channel.close(promise: nil) }
    }

    // MARK: Open

    private func read(_ bytes: inout ByteBuffer) {
        guard !isMuted else { return }
        do throws(FrameViolation) {
            while let step = try reader.receive(&bytes) { handle(step) }
        } catch {
            stage.fail("the client breaks the rules of WebSocket: \(error)")
            perform(closing.violated(error))
        }
    }

    private func handle(_ step: MessageReader.Step) {
        switch step {
        case .text(let message): stage.received(number, Array(message.readableBytesView))
        case .binary: stage.fail("the client has sent a binary message")
        case .ping(let payload):
            guard closing.isOpen, let context else { return }
            var frame = ByteBuffer()
            FrameWriter.write(.pong, payload: payload, mask: nil, into: &frame)
            context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
        case .pong: break
        case .close(let reason): perform(closing.peerClosed(reason))
        }
    }

    func mute() { isMuted = true }

    func send(_ text: [UInt8], isCut: Bool) {
        guard closing.isOpen, let context else { return }
        guard isCut else {
            var frame = ByteBuffer()
            FrameWriter.write(.text, payload: ByteBuffer(bytes: text), mask: nil, into: &frame)
            context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
            return
        }
        // Every byte of the message is a frame of its own, and every byte of the frames a write; a ping comes between.
        let length = text.count <= Self.cutLength ? 1 : Self.pieceLength
        var rest = text[...]
        var opcode = Opcode.text
        while let piece = Optional(rest.prefix(length)), !piece.isEmpty {
            rest = rest.dropFirst(length)
            var frame = ByteBuffer()
            FrameHeader(opcode, payloadLength: UInt64(piece.count), isFinal: rest.isEmpty).write(into: &frame)
            frame.writeBytes(piece)
            opcode = .continuation
            write(frame, byByte: length == 1, context)
            guard rest.count == text.count / 2 else { continue }
            var ping = ByteBuffer()
            FrameWriter.write(.ping, payload: ByteBuffer(), mask: nil, into: &ping)
            write(ping, byByte: length == 1, context)
        }
    }

    private func write(_ frame: ByteBuffer, byByte: Bool, _ context: ChannelHandlerContext) {
        guard byByte else { return context.writeAndFlush(wrapOutboundOut(frame), promise: nil) }
        for byte in frame.readableBytesView {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: [byte])), promise: nil)
        }
    }

    // MARK: Closing

    func close(_ code: UInt16) {
        guard let code = CloseCode(rawValue: code) else { return drop() }
        perform(closing.close(CloseReason(code)))
    }

    func drop() { context?.close(promise: nil) }

    private func perform(_ step: CloseHandshake.Step) {
        guard let context else { return }
        switch step {
        case .send(let reason):
            writeClose(reason, context)
            let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
            timer = context.eventLoop.scheduleTask(in: Self.closeTimeout) {
                let connection = bound.value
                connection.perform(connection.closing.timedOut())
            }
        case .sendAndDrop(let reason):
            writeClose(reason, context)
            context.close(promise: nil)
        case .drop: context.close(promise: nil)
        case .nothing: break
        }
    }

    private func writeClose(_ reason: CloseReason?, _ context: ChannelHandlerContext) {
        var frame = ByteBuffer()
        FrameWriter.writeClose(reason, into: &frame)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }
}
