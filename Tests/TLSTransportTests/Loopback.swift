import NIOCore
import NIOPosix
import RandomTestSupport
import Synchronization

@testable import TLSTransport

/// Event loops, their TLS resources, and channels between them on the loopback interface.
struct Loopback: Sendable {
    /// The handlers to add after the TLS handler of a new channel, on the channel's loop.
    typealias Configure = @Sendable (any Channel, TLSHandler) throws -> Void

    let group: MultiThreadedEventLoopGroup
    private let resources: TLSEventLoopGroupResources
    private let identity: Identity
    private let sendsDirectly: Bool
    private let turns = RandomTurns()

    static func run(loops: Int, sendsDirectly: Bool = false, _ body: (Loopback) async throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: loops)
        do {
            let loopback = try Loopback(
                group: group, resources: TLSEventLoopGroupResources(group), identity: Identity.shared.get(),
                sendsDirectly: sendsDirectly)
            try await body(loopback)
        } catch {
            try? await group.shutdownGracefully()
            throw error
        }
        try await group.shutdownGracefully()
    }

    func promise<Value: Sendable>(of type: Value.Type = Void.self) -> EventLoopPromise<Value> {
        group.next().makePromise(of: type)
    }

    func listen(context: TLSContext? = nil, _ configure: @escaping Configure) async throws -> any Channel {
        try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try add(context ?? identity.server, to: channel, configure)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    func connect(
        port: Int, context: TLSContext? = nil, serverName: String? = nil, _ configure: @escaping Configure
    ) async throws -> any Channel {
        // NIO's default of 10 s is short for a machine that runs all tests at once, slowed down by a sanitizer.
        try await ClientBootstrap(group: group)
            .connectTimeout(.seconds(300))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try add(context ?? identity.pinned, serverName: serverName, to: channel, configure)
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    private func add(
        _ context: TLSContext, serverName: String? = nil, to channel: any Channel, _ configure: Configure
    ) throws {
        let loop = channel.eventLoop
        let tls = TLSHandler(
            context, resources: resources.resources(on: loop), serverName: serverName, sendsDirectly: sendsDirectly,
            whenItsTurn: context.role == .client
                ? nil
                : { [turns] step in
                    guard let delay = turns.next() else { return true }
                    loop.scheduleTask(in: delay, step)
                    return false
                })
        try channel.pipeline.syncOperations.addHandler(tls)
        try configure(channel, tls)
    }
}

/// The time of handshake steps: half of them at once, the others some time later, or after the next bytes.
private final class RandomTurns: Sendable {
    private let random = Mutex(SeededRandom(seed: TestSeed.fresh()))

    /// The delay of the next step; nil: none.
    func next() -> TimeAmount? {
        random.withLock { random in
            Bool.random(using: &random) ? .microseconds(.random(in: 0...2_000, using: &random)) : nil
        }
    }
}

extension Channel {
    /// The port that a listening channel was given.
    var port: Int { localAddress?.port ?? 0 }
}

/// The endless byte sequence of a seed: a random block, repeated.
struct SeededBytes {
    /// A prime, so that no record or buffer size makes the sequence look the same at another position.
    private static let period = 65_521
    private let block: ByteBuffer
    private var position = 0

    init(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var block = ByteBuffer()
        while block.readableBytes < Self.period { block.writeInteger(generator.next()) }
        self.block = block
    }

    mutating func next(_ count: Int) -> ByteBuffer {
        var bytes = ByteBuffer()
        while bytes.readableBytes < count {
            let length = min(count - bytes.readableBytes, Self.period - position)
            bytes.writeImmutableBuffer(block.getSlice(at: position, length: length) ?? ByteBuffer())
            position = (position + length) % Self.period
        }
        return bytes
    }
}

/// Sends one seed's bytes in writes of random size, expects another's, and completes a promise when all have arrived.
final class StreamHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    struct Mismatch: Error {
        let offset: Int
    }

    private var outgoing: SeededBytes
    private var incoming: SeededBytes
    private var sizes: SeededRandom
    private var toSend: Int
    private var toReceive: Int
    private let count: Int
    private let tls: TLSHandler
    private let done: EventLoopPromise<Void>

    init(sending: UInt64, expecting: UInt64, count: Int, _ tls: TLSHandler, done: EventLoopPromise<Void>) {
        outgoing = SeededBytes(seed: sending)
        incoming = SeededBytes(seed: expecting)
        sizes = SeededRandom(seed: sending ^ 0x5555)
        toSend = count
        toReceive = count
        self.count = count
        self.tls = tls
        self.done = done
    }

    func channelActive(context: ChannelHandlerContext) {
        write(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        write(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let received = unwrapInboundIn(data)
        guard received == incoming.next(received.readableBytes) else {
            done.fail(Mismatch(offset: count - toReceive))
            context.close(promise: nil)
            return
        }
        toReceive -= received.readableBytes
        if toReceive == 0 { done.succeed() }
        // Also writes from within channelRead.
        write(context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        done.fail(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        done.fail(ChannelError.eof)
    }

    /// Writes until the channel has enough, in groups of random size, through the pipeline and past it.
    private func write(_ context: ChannelHandlerContext) {
        while toSend > 0, context.channel.isWritable, context.channel.isActive {
            for _ in 0..<Int.random(in: 1...4, using: &sizes) {
                let size = min(
                    toSend, Int.random(in: 0...[10, 300, 70_000][Int.random(in: 0...2, using: &sizes)], using: &sizes))
                toSend -= size
                let bytes = outgoing.next(size)
                if Bool.random(using: &sizes) {
                    context.write(NIOAny(bytes), promise: nil)
                } else {
                    tls.send(bytes)
                }
            }
            context.flush()
        }
    }
}

/// Splits the transport's reads into pieces of random size.
final class Cutter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private var sizes: SeededRandom

    init(seed: UInt64) {
        sizes = SeededRandom(seed: seed)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = unwrapInboundIn(data)
        while buffer.readableBytes > 0 {
            let size = min(
                buffer.readableBytes,
                Int.random(in: 1...[6, 600, 20_000][Int.random(in: 0...2, using: &sizes)], using: &sizes))
            guard let piece = buffer.readSlice(length: size) else { return }
            context.fireChannelRead(NIOAny(piece))
        }
    }
}

/// Echoes its input, after one line about the handshake.
final class EchoHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let greets: Bool
    private let closed: EventLoopPromise<[TLSFault]>?
    private var faults: [TLSFault] = []

    init(greets: Bool = false, closed: EventLoopPromise<[TLSFault]>? = nil) {
        self.greets = greets
        self.closed = closed
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard greets, let event = event as? TLSHandshakeCompleted else { return }
        let line = "\(event.version) \(event.applicationProtocol ?? "none") \(event.resumed ? "resumed" : "full")\n"
        context.writeAndFlush(NIOAny(ByteBuffer(string: line)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(data, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let fault = error as? TLSFault { faults.append(fault) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        closed?.succeed(faults)
    }
}
