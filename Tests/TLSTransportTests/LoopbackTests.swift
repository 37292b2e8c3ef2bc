import Glibc
import NIOCore
import NIOPosix
import RandomTestSupport
import Testing

@testable import TLSTransport

/// Over real sockets: servers and clients on the loops of one group.
@Suite struct LoopbackTests {
    @Test(arguments: [(loops: 1, cutting: false), (1, true), (2, false), (2, true)], [false, true])
    func `megabytes in both directions arrive whole and in order`(
        _ setting: (loops: Int, cutting: Bool), sendsDirectly: Bool
    ) async throws {
        let seed = TestSeed.fresh()
        let cutting = setting.cutting
        let count = cutting ? 300_000 : 2_000_000
        try await Loopback.run(loops: setting.loops, sendsDirectly: sendsDirectly) { loopback in
            let atServer = loopback.promise()
            let atClient = loopback.promise()
            let listener = try await loopback.listen { channel, tls in
                if cutting { try channel.pipeline.syncOperations.addHandler(Cutter(seed: seed), position: .first) }
                try channel.pipeline.syncOperations.addHandler(
                    StreamHandler(sending: seed, expecting: ~seed, count: count, tls, done: atServer))
            }
            let client = try await loopback.connect(port: listener.port) { channel, tls in
                if cutting { try channel.pipeline.syncOperations.addHandler(Cutter(seed: ~seed), position: .first) }
                try channel.pipeline.syncOperations.addHandler(
                    StreamHandler(sending: ~seed, expecting: seed, count: count, tls, done: atClient))
            }
            try await atServer.futureResult.get()
            try await atClient.futureResult.get()
            try await client.close()
        }
    }

    @Test(arguments: [false, true])
    func `many connections share a loop's buffers without mixing`(sendsDirectly: Bool) async throws {
        let seed = TestSeed.fresh()
        try await Loopback.run(loops: 2, sendsDirectly: sendsDirectly) { loopback in
            let listener = try await loopback.listen { channel, _ in
                try channel.pipeline.syncOperations.addHandler(EchoHandler())
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<12 {
                    let seed = seed &+ UInt64(index)
                    group.addTask {
                        let done = loopback.promise()
                        do {
                            let client = try await loopback.connect(port: listener.port) { channel, tls in
                                try channel.pipeline.syncOperations.addHandler(Cutter(seed: seed), position: .first)
                                try channel.pipeline.syncOperations.addHandler(
                                    StreamHandler(sending: seed, expecting: seed, count: 20_000, tls, done: done))
                            }
                            try await done.futureResult.get()
                            try await client.close()
                        } catch {
                            done.fail(error)
                            throw error
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(arguments: [false, true], [false, true])
    func `a peer that does not read makes the channel unwritable, and writable when it reads`(
        bySend: Bool, sendsDirectly: Bool
    ) async throws {
        try await Loopback.run(loops: 2, sendsDirectly: sendsDirectly) { loopback in
            let count = 8 << 20
            let stalled = loopback.promise()
            let written = loopback.promise(of: Int.self)
            let received = loopback.promise()
            let listener = try await loopback.listen { channel, tls in
                try channel.pipeline.syncOperations.addHandler(
                    SteadyWriter(tls, count: count, bySend: bySend, stalled: stalled, done: written))
            }
            let client = try await loopback.connect(port: listener.port) { channel, _ in
                try channel.syncOptions?.setOption(.autoRead, value: false)
                try channel.pipeline.syncOperations.addHandler(CountingReader(count, done: received))
            }
            try await stalled.futureResult.get()
            try await client.setOption(.autoRead, value: true).get()
            try await received.futureResult.get()
            // NIO's high water mark is 64 KiB: up to that, one chunk more, and what TLS adds to both.
            #expect(try await written.futureResult.get() <= 65_536 + SteadyWriter.chunk + 1_024)
            try await client.close()
        }
    }

    @Test(arguments: [false, true])
    func `bytes written before close arrive although the peer is slow`(sendsDirectly: Bool) async throws {
        try await Loopback.run(loops: 2, sendsDirectly: sendsDirectly) { loopback in
            let count = 8 << 20
            let received = loopback.promise()
            let listener = try await loopback.listen { channel, tls in
                try channel.pipeline.syncOperations.addHandler(WriteAndClose(count))
            }
            let client = try await loopback.connect(port: listener.port) { channel, _ in
                try channel.pipeline.syncOperations.addHandler(CountingReader(count, done: received))
            }
            try await received.futureResult.get()
            try await client.closeFuture.get()
        }
    }

    @Test func `nothing is sent on a descriptor that SwiftNIO has closed`() async throws {
        try await Loopback.run(loops: 1, sendsDirectly: true) { loopback in
            let done = loopback.promise(of: Int.self)
            let listener = try await loopback.listen { channel, tls in
                try channel.pipeline.syncOperations.addHandler(SendWhileClosing(tls, done: done))
            }
            let client = try await loopback.connect(port: listener.port) { channel, _ in
                try channel.syncOptions?.setOption(.autoRead, value: false)
            }
            #expect(try await done.futureResult.get() == 0)
            try? await client.close()
        }
    }

    @Test func `a client that checks the name reaches the server through the resolver's address`() async throws {
        let identity = try Identity.shared.get()
        let context = try TLSContext(
            clientVerifying: .certificateAuthority(path: identity.certificate.certificatePath))
        try await Loopback.run(loops: 1) { loopback in
            let listener = try await loopback.listen { channel, _ in
                try channel.pipeline.syncOperations.addHandler(EchoHandler())
            }
            let done = loopback.promise()
            let client = try await loopback.connect(
                port: listener.port, context: context, serverName: "localhost"
            ) { channel, tls in
                try channel.pipeline.syncOperations.addHandler(
                    StreamHandler(sending: 1, expecting: 1, count: 1_000, tls, done: done))
            }
            try await done.futureResult.get()
            try await client.close()
        }
    }
}

/// Writes a number of bytes in chunks while the channel is writable, and reports the largest unsent number.
private final class SteadyWriter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    static let chunk = 30_000

    private let tls: TLSHandler
    private var left: Int
    private let bySend: Bool
    private let stalled: EventLoopPromise<Void>
    private let done: EventLoopPromise<Int>
    private var mostUnsent = 0

    init(_ tls: TLSHandler, count: Int, bySend: Bool, stalled: EventLoopPromise<Void>, done: EventLoopPromise<Int>) {
        self.tls = tls
        left = count
        self.bySend = bySend
        self.stalled = stalled
        self.done = done
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is TLSHandshakeCompleted { write(context) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { write(context) }
    }

    private func write(_ context: ChannelHandlerContext) {
        while left > 0, context.channel.isWritable {
            let bytes = ByteBuffer(repeating: 7, count: min(left, Self.chunk))
            left -= bytes.readableBytes
            if bySend { tls.send(bytes) } else { context.writeAndFlush(NIOAny(bytes), promise: nil) }
            mostUnsent = max(mostUnsent, tls.unsentByteCount)
        }
        if left == 0 { done.succeed(mostUnsent) } else { stalled.succeed() }
    }
}

/// Counts bytes up to a number.
private final class CountingReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private var left: Int
    private let done: EventLoopPromise<Void>

    init(_ count: Int, done: EventLoopPromise<Void>) {
        left = count
        self.done = done
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        left -= unwrapInboundIn(data).readableBytes
        if left == 0 { done.succeed() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        done.fail(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        done.fail(ChannelError.eof)
    }
}

/// Writes everything in one piece when the handshake is done, and closes at once.
private final class WriteAndClose: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let count: Int

    init(_ count: Int) {
        self.count = count
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is TLSHandshakeCompleted else { return }
        context.writeAndFlush(NIOAny(ByteBuffer(repeating: 7, count: count)), promise: nil)
        context.close(promise: nil)
    }
}

/// Closes its channel without TLS, takes over the freed descriptor, and sends during everything that follows.
///
/// It reports the number of bytes received from the sockets that got the descriptor's number.
private final class SendWhileClosing: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let tls: TLSHandler
    private let done: EventLoopPromise<Int>
    private var pairs: [(Int32, Int32)] = []

    init(_ tls: TLSHandler, done: EventLoopPromise<Int>) {
        self.tls = tls
        self.done = done
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is TLSHandshakeCompleted else { return }
        let transport = context.channel._channelCore
        // Fails while SwiftNIO closes: the socket is closed, but no handler has been told.
        let queued = context.eventLoop.makePromise(of: Void.self)
        queued.futureResult.assumeIsolated().whenFailure { _ in self.occupyAndSend() }
        transport.write0(NIOAny(ByteBuffer(string: "never flushed")), promise: queued)
        // As for an error of the socket: not through the pipeline.
        transport.close0(error: ChannelError.eof, mode: .all, promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        occupyAndSend()
        var leaked = 0
        for (one, other) in pairs {
            var byte: UInt8 = 0
            // Reads at most the one byte that fits.
            while unsafe recv(one, &byte, 1, Int32(MSG_DONTWAIT)) > 0 { leaked += 1 }
            while unsafe recv(other, &byte, 1, Int32(MSG_DONTWAIT)) > 0 { leaked += 1 }
            close(one)
            close(other)
        }
        done.succeed(leaked)
    }

    private func occupyAndSend() {
        for _ in 0..<8 {
            var pair: [Int32] = [-1, -1]
            // Writes the two descriptors.
            guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else { continue }
            pairs.append((pair[0], pair[1]))
        }
        tls.send(ByteBuffer(string: "for the peer only"))
    }
}
