import ArgumentParser
import Foundation
import NIOCore
import NIOPosix
import TLSTransport
import UnixSignals

/// `EchoServer`: the WebSocket layer's server role, for conformance suites.
@main
struct EchoServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send every WebSocket message back as it came, at whatever path.",
        discussion: """
            Listens on 127.0.0.1 with a self-signed certificate and prints one line on standard output when clients can \
            connect: listening on https://HOST:PORT. SIGTERM and SIGINT stop it with exit code 0.
            """)

    @Option(help: "The port to listen on; 0 takes a free one.")
    var port = 0

    @Flag(help: "No TLS.")
    var plain = false

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("\(port) is not a port; expected 0 to 65535") }
    }

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let tls = plain ? nil : try Self.makeTLS()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let resources = try TLSEventLoopGroupResources(group)
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls {
                        try pipeline.addHandler(TLSHandler(tls, resources: resources.resources(on: channel.eventLoop)))
                    }
                    try pipeline.addHandler(ServerOpeningHandler())
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        // Not `print`, which buffers output to a pipe.
        try FileHandle.standardOutput.write(
            contentsOf: Data(
                "listening on \(plain ? "http" : "https")://127.0.0.1:\(listener.localAddress?.port ?? 0)\n".utf8))
        for await _ in signals { break }
        try await group.shutdownGracefully()
    }

    /// A context with its own certificate, whose files are removed when this returns.
    private static func makeTLS() throws -> TLSContext {
        let folder = FileManager.default.temporaryDirectory.appending(path: "backline-echo-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let certificate = try DevelopmentCertificate.load(orMakeIn: folder.path)
        return try TLSContext(serverCertificateChain: certificate.certificatePath, privateKey: certificate.keyPath)
    }
}
