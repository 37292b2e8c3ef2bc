import Foundation
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import TLSTransport

/// The key of a ticket, and the time for which it is valid.
@Suite struct TicketKeyTests {
    @Test func `each day has its key, and the previous day's remains`() throws {
        let time = ManualTime()
        let keys = TicketKeys(now: time.read)
        func age(of key: [UInt8]) -> TicketKeys.Age { keys.forOpening(Array(key[..<16])).age }
        let first = try #require(keys.forSealing())
        time.advance(TicketKeys.lifetime - 1)
        #expect(keys.forSealing() == first && age(of: first) == .current)
        time.advance(1)
        #expect(age(of: first) == .previous)
        let second = try #require(keys.forSealing())
        #expect(second != first && age(of: second) == .current)
        #expect(keys.forOpening(Array(first[..<16])).bytes == first)
        time.advance(TicketKeys.lifetime)
        #expect(age(of: second) == .previous && age(of: first) == .unknown)
    }

    @Test func `after two days without connections no earlier key is left`() throws {
        let time = ManualTime()
        let keys = TicketKeys(now: time.read)
        let first = try #require(keys.forSealing())
        time.advance(2 * TicketKeys.lifetime)
        #expect(keys.forOpening(Array(first[..<16])).age == .unknown)
        #expect(try #require(keys.forSealing()) != first)
    }

    @Test func `keys differ from each other, and so do their parts`() throws {
        let keys = try (0..<50).map { _ in try #require(TicketKeys(now: { 0 }).forSealing()) }
        #expect(Set(keys).count == 50 && keys.allSatisfy { $0.count == 80 })
        let parts = keys.flatMap { [Array($0[16..<48]), Array($0[48...])] }
        #expect(Set(parts).count == 100)
    }

    /// A client keeps one session and reconnects with it, a day later each time.
    @Test(arguments: ["TLSv1_2", "TLSv1_3"])
    func `tickets of the day before are taken and renewed, older ones are not`(version: String) async throws {
        let time = ManualTime()
        let identity = try Identity.shared.get()
        let context = try TLSContext(
            serverCertificateChain: identity.certificate.certificatePath, privateKey: identity.certificate.keyPath,
            ticketKeys: TicketKeys(now: time.read))
        let group = MultiThreadedEventLoopGroup.singleton
        let resources = try TLSEventLoopGroupResources(group)
        // After each handshake the server sends one byte, after its tickets; or time passes.
        let listener = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        TLSHandler(context, resources: resources.resources(on: channel.eventLoop)),
                        Greeter { time.advance($0) },
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        let printed = try await NIOThreadPool.singleton.runIfActive {
            try run("python3", "-c", Self.client, "\(port)", version, "\(TicketKeys.lifetime)")
        }
        try await listener.close()
        // Full; the same day; of the day before, and renewed; the renewed one on the next day; the first one too late.
        #expect(printed == "False\nTrue\nTrue\nTrue\nFalse\n")
    }

    private static let client = """
        import socket, ssl, sys
        port, version, day = int(sys.argv[1]), getattr(ssl.TLSVersion, sys.argv[2]), sys.argv[3]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.minimum_version = context.maximum_version = version
        def connect(session, advance="0"):
            with socket.create_connection(("127.0.0.1", port), timeout=600) as plain:
                with context.wrap_socket(plain, session=session) as stream:
                    stream.sendall((advance + "\\n").encode())
                    assert stream.recv(1) == b"."
                    print(stream.session_reused)
                    return stream.session
        first = connect(None)
        same = connect(first, day)
        renewed = connect(same, "0")
        connect(renewed, day)
        connect(first)
        """
}

/// A clock that a test sets.
private final class ManualTime: Sendable {
    private let seconds = Mutex(1_000)

    var read: @Sendable () -> Int { { self.seconds.withLock { $0 } } }

    func advance(_ by: Int) { seconds.withLock { $0 += by } }
}

/// Reads a number of seconds, advances the clock by them, and answers with a full stop.
private final class Greeter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let advance: (Int) -> Void
    private var line = ""

    init(_ advance: @escaping (Int) -> Void) {
        self.advance = advance
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        line += String(buffer: unwrapInboundIn(data))
        guard line.hasSuffix("\n") else { return }
        advance(Int(line.dropLast()) ?? 0)
        line = ""
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: ".")), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
