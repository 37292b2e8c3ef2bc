import ArgumentParser
import NIOCore
import NIOPosix
import Synchronization
import TLSTransport
import WebSocketCodec

/// `EchoClient`: the WebSocket layer's client role, for the fuzzing server of Autobahn|Testsuite.
@main
struct EchoClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run every case of Autobahn's fuzzing server, and have it write its reports.",
        discussion: """
            One connection to 127.0.0.1 a case; every message is sent back as it came. What the cases found is in the \
            server's reports alone.
            """)

    @Option(help: "The port that the fuzzing server listens on.")
    var port: Int

    @Option(help: "The name in the reports: letters and digits.")
    var agent = "Backline"

    @Flag(help: "No TLS.")
    var plain = false

    func validate() throws {
        guard (1...65_535).contains(port) else { throw ValidationError("\(port) is not a port; expected 1 to 65535") }
    }

    func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let resources = try TLSEventLoopGroupResources(group)
        // The suite's certificate is made for one run, on this machine.
        let tls = plain ? nil : try TLSContext(clientVerifying: .noneForTests)
        let bootstrap = ClientBootstrap(group: group)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard let tls else { return }
                    try channel.pipeline.syncOperations.addHandler(
                        TLSHandler(tls, resources: resources.resources(on: channel.eventLoop)))
                }
            }
        let count = Mutex(0)
        try await converse(bootstrap, "/getCaseCount") { text in
            count.withLock { $0 = Int(String(buffer: text)) ?? 0 }
        }
        for number in 0..<count.withLock({ $0 }) {
            try await converse(bootstrap, "/runCase?case=\(number + 1)&agent=\(agent)")
        }
        try await converse(bootstrap, "/updateReports?agent=\(agent)")
        try await group.shutdownGracefully()
    }

    /// Connects, and returns when the connection has ended.
    private func converse(
        _ bootstrap: ClientBootstrap, _ target: String, onMessage: (@Sendable (ByteBuffer) -> Void)? = nil
    ) async throws {
        let nonce = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        let offers = DeflateParameters.offers(.contextTakeover)
        guard
            let handshake = ClientHandshake(
                host: "127.0.0.1:\(port)", target: target, extensions: offers, nonce: nonce)
        else { throw ValidationError("'\(agent)' cannot stand in the target of a request") }
        let ended = try await bootstrap.connect(host: "127.0.0.1", port: port) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(
                    ClientOpeningHandler(handshake, offers: offers, onMessage: onMessage))
                return channel.closeFuture
            }
        }
        try await ended.get()
    }
}
