import NIOCore
import NIOEmbedded
import RoomDomain
import RoomService
import RoomWire
import Testing
import WebSocketCodec

@testable import PushServer

/// The client's end of a socket of a ``SocketWorld``.
///
/// What it sends arrives when the server reads. While its ``valve`` is shut, it takes nothing of what the server sends.
final class TestSocket {
    /// Holds what the server writes while it is shut, and notes when the server wants to read.
    final class Valve: ChannelDuplexHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        var isShut = false
        /// Whether the server wants to read.
        fileprivate(set) var wantsToRead = false
        private var held: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []
        private var context: ChannelHandlerContext?

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        func read(context: ChannelHandlerContext) { wantsToRead = true }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if isShut { held.append((data, promise)) } else { context.write(data, promise: promise) }
        }

        func channelInactive(context: ChannelHandlerContext) {
            for (_, promise) in held { promise?.fail(ChannelError.ioOnClosedChannel) }
            held = []
            context.fireChannelInactive()
        }

        /// Lets everything through that is held.
        func open() {
            isShut = false
            guard let context else { return }
            let held = held
            self.held = []
            for (data, promise) in held { context.write(data, promise: promise) }
            context.flush()
        }
    }

    let channel: EmbeddedChannel
    let connection: WebSocketConnection
    private let valve = Valve()
    private let world: SocketWorld
    private var reader = MessageReader(role: .client)
    /// Bytes that the server has not read.
    private(set) var unread = ByteBuffer()
    /// The messages that the server has sent and ``take()`` has not returned.
    private var messages: [JSONValue] = []
    /// The close frame of the server; nil if none came.
    private(set) var closeReason: CloseReason?
    private(set) var pings = 0

    init(_ session: Session, room: RoomID?, in world: SocketWorld) throws {
        self.world = world
        let loop = world.hub.loop
        connection = WebSocketConnection(
            loop.makeID(), response: ByteBuffer(), loop: loop, hub: world.hub, session: session, ownRoom: room,
            position: nil, compression: SocketCompression(parameters: nil), tls: nil, ticket: nil, place: nil,
            account: loop.admission.waiting.account(of: 1))
        channel = EmbeddedChannel(handlers: [valve, connection], loop: world.channelLoop)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        channel.read()
    }

    /// Whether the server has not closed the channel.
    var isConnected: Bool { channel.isActive }

    /// Whether the server has neither closed the channel nor begun to.
    var isOpen: Bool { channel.isActive && closeReason == nil }

    // MARK: Sending

    /// Sends a text message.
    func send(_ text: String) { send(.text, ByteBuffer(string: text)) }

    /// Sends text messages, which arrive together.
    func send(_ texts: [String]) {
        for text in texts { write(.text, ByteBuffer(string: text)) }
        pump()
    }

    /// Sends a frame.
    func send(_ opcode: Opcode, _ payload: ByteBuffer = ByteBuffer()) {
        write(opcode, payload)
        pump()
    }

    private func write(_ opcode: Opcode, _ payload: ByteBuffer) {
        FrameWriter.write(opcode, payload: payload, mask: MaskKey(rawValue: 0x1234_5678), into: &unread)
    }

    /// Sends a close frame.
    func close(_ code: CloseCode = .normal) {
        FrameWriter.writeClose(CloseReason(code, ""), mask: MaskKey(rawValue: 0x1234_5678), into: &unread)
        pump()
    }

    /// Sends bytes as they are.
    func sendRaw(_ bytes: [UInt8]) {
        unread.writeBytes(bytes)
        pump()
    }

    /// The client's end of the transport is gone.
    func vanish() {
        world.onLoop { channel.close(promise: nil) }
    }

    /// Gives the server what it wants to read, until it wants no more.
    func pump() {
        world.settle()
        while channel.isActive, valve.wantsToRead, unread.readableBytes > 0 {
            valve.wantsToRead = false
            let bytes = unread
            unread = ByteBuffer()
            world.onLoop {
                channel.pipeline.fireChannelRead(bytes)
                channel.pipeline.fireChannelReadComplete()
                if channel.isActive { channel.read() }
            }
        }
    }

    /// Takes what the server has sent and sends, or takes nothing of it.
    func setValve(open: Bool) {
        world.onLoop { if open { valve.open() } else { valve.isShut = true } }
    }

    // MARK: Receiving

    /// Takes the messages that have arrived.
    func take() throws -> [JSONValue] {
        pump()
        while var bytes = try channel.readOutbound(as: ByteBuffer.self) {
            while let step = try reader.receive(&bytes) {
                switch step {
                case .text(let text): messages.append(try JSONValue(parsing: Array(buffer: text)))
                case .ping(let payload):
                    pings += 1
                    if closeReason == nil, answersPings { send(.pong, payload) }
                case .close(let reason): closeReason = reason
                case .binary, .pong: break
                }
            }
        }
        defer { messages = [] }
        return messages
    }

    /// Whether pings are answered.
    var answersPings = true

    /// Takes the messages that have arrived; their types.
    func takeTypes() throws -> [String] { try take().map(\.type) }
}

extension JSONValue {
    /// A member of an object; nil if there is none.
    subscript(name: String) -> JSONValue? { object?[name] }

    /// The member `type` of a message.
    var type: String { self["type"]?.string ?? "" }
}
