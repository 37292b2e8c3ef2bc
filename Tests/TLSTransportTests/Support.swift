import Foundation
import NIOCore
import NIOEmbedded
import Testing

@testable import TLSTransport

/// A directory that is removed with the value that owns it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String, _ text: String) throws -> String {
        let file = path + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        return file
    }
}

/// A development certificate that most tests share, and the contexts made from it.
struct Identity: Sendable {
    static let shared = Result { try Identity() }

    let directory: TemporaryDirectory
    let certificate: DevelopmentCertificate
    let server: TLSContext
    let pinned: TLSContext

    init() throws {
        directory = try TemporaryDirectory()
        certificate = try DevelopmentCertificate.load(orMakeIn: directory.path)
        server = try TLSContext(
            serverCertificateChain: certificate.certificatePath, privateKey: certificate.keyPath)
        pinned = try TLSContext(clientVerifying: .fingerprint(certificate.fingerprint))
    }
}

/// Records the output of a `TLSHandler`, and runs a test's own code for it.
final class Recorder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    var text: String { String(decoding: bytes, as: UTF8.self) }
    private(set) var bytes: [UInt8] = []
    private(set) var reads = 0
    private(set) var events: [TLSHandshakeCompleted] = []
    private(set) var faults: [TLSFault] = []
    private(set) var otherErrors: [any Error] = []
    /// How often the end of the peer's side was told.
    private(set) var ends = 0
    private(set) var isInactive = false
    var onRead: ((ChannelHandlerContext, ByteBuffer) -> Void)?
    var onEvent: ((ChannelHandlerContext) -> Void)?
    var onWritability: ((ChannelHandlerContext) -> Void)?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        reads += 1
        bytes += buffer.readableBytesView
        onRead?(context, buffer)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSHandshakeCompleted { events.append(event) }
        if event as? ChannelEvent == .inputClosed { ends += 1 }
        onEvent?(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        onWritability?(context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let fault = error as? TLSFault { faults.append(fault) } else { otherErrors.append(error) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        isInactive = true
        context.fireChannelInactive()
    }
}

extension TLSHandler {
    /// Whether OpenSSL's memory of the connection is freed.
    var isFreed: Bool { connection == nil }
}

/// One end of a connection without a network; the channel is closed with it.
final class EmbeddedEnd {
    let channel: EmbeddedChannel
    let tls: TLSHandler
    let recorder: Recorder

    init(
        _ context: TLSContext, _ resources: TLSEventLoopResources, serverName: String? = nil,
        whenItsTurn: ((@escaping @Sendable () -> Void) -> Bool)? = nil
    ) throws {
        channel = EmbeddedChannel()
        tls = TLSHandler(context, resources: resources, serverName: serverName, whenItsTurn: whenItsTurn)
        recorder = Recorder()
        try channel.pipeline.syncOperations.addHandlers([tls, recorder])
    }

    deinit {
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }

    func write(_ text: String) {
        channel.write(ByteBuffer(string: text), promise: nil)
    }

    func writeAndFlush(_ text: String) {
        write(text)
        channel.flush()
    }

    /// The handler's writes to the transport since the last call, one buffer for each.
    func takeOutbound() throws -> [ByteBuffer] {
        var taken: [ByteBuffer] = []
        while let next = try channel.readOutbound(as: ByteBuffer.self) { taken.append(next) }
        return taken
    }
}

/// Two ends on one event loop thread, sharing one set of loop resources, and the wire between them.
struct EmbeddedPair {
    let client: EmbeddedEnd
    let server: EmbeddedEnd

    init(
        client: TLSContext? = nil, server: TLSContext? = nil, serverName: String? = nil,
        whenServersTurn: ((@escaping @Sendable () -> Void) -> Bool)? = nil
    ) throws {
        let identity = try Identity.shared.get()
        let resources = try TLSEventLoopResources()
        self.client = try EmbeddedEnd(client ?? identity.pinned, resources, serverName: serverName)
        self.server = try EmbeddedEnd(server ?? identity.server, resources, whenItsTurn: whenServersTurn)
        // The server's end first: it sends nothing before the client does.
        try self.server.channel.connect(to: SocketAddress(unixDomainSocketPath: "/server")).wait()
        try self.client.channel.connect(to: SocketAddress(unixDomainSocketPath: "/client")).wait()
    }

    /// A pair whose handshake is done.
    static func connected() throws -> Self {
        let pair = try Self()
        try pair.exchange()
        try #require(pair.client.recorder.events.count == 1 && pair.server.recorder.events.count == 1)
        return pair
    }

    /// Carries bytes in both directions until neither end has any left, in pieces of at most `piece` bytes.
    func exchange(piece: Int = .max) throws {
        var moved = true
        while moved {
            moved = false
            for (from, to) in [(client, server), (server, client)] {
                for var buffer in try from.takeOutbound() {
                    moved = true
                    while let next = buffer.readSlice(length: min(piece, buffer.readableBytes)), next.readableBytes > 0
                    {
                        if to.channel.isActive { try to.channel.writeInbound(next) }
                    }
                }
            }
        }
    }
}

/// The type and length of each TLS record in `buffers` (RFC 8446 §5.1).
func records(_ buffers: [ByteBuffer]) -> [(type: UInt8, length: Int)] {
    var all = ByteBuffer()
    for buffer in buffers { all.writeImmutableBuffer(buffer) }
    var found: [(UInt8, Int)] = []
    while let type = all.readInteger(as: UInt8.self), all.readInteger(as: UInt16.self) != nil,
        let length = all.readInteger(as: UInt16.self), all.readSlice(length: Int(length)) != nil
    {
        found.append((type, Int(length)))
    }
    return found
}

/// Runs a program to its end, without input, and returns what it printed.
func run(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text
}

func run(_ arguments: String...) throws -> String {
    try run(arguments)
}
