import NIOCore
import NIOEmbedded
import RoomClient
import Testing
import WebSocketCodec

@testable import RoomClientNIO

/// How much a socket reads ahead of its receiver.
@Suite struct FloodTests {
    @Test(arguments: [1, 100, 3_000, 100_000])
    func `reading stops at 256 KiB of messages, and goes on when half are taken`(length: Int) throws {
        let line = try Line()
        let count = 1_500_000 / (length + 70)
        var rest = Line.flood(count, of: length)
        let all = rest.readableBytes
        try line.deliver(&rest)
        let first = all - rest.readableBytes
        #expect(first < SocketInbox.most + length + 2 * Line.piece)
        for number in 0..<count {
            let waiting = line.handler.inbox.waitingBytes
            #expect(waiting < SocketInbox.most + length + 100)
            #expect(line.next()?.hasPrefix("\(number) ") == true)
            let before = rest.readableBytes
            try line.deliver(&rest)
            // It does not stop and go with each message.
            if before > rest.readableBytes { #expect(waiting <= SocketInbox.most / 2 + length + 100) }
        }
        #expect(rest.readableBytes == 0 && line.next() == nil)
    }

    @Test func `compressed messages are inflated one at a time`() throws {
        let line = try Line()
        var bytes = ByteBuffer()
        let deflater = Deflater()
        let text = [UInt8](repeating: 0x61, count: 4 * 1024 * 1024)
        for _ in 0..<10 { FrameWriter.write(.text, compressing: text.span, with: deflater, into: &bytes) }
        FrameWriter.writeClose(CloseReason(.goingAway), into: &bytes)
        // All of it in one read.
        try line.channel.writeInbound(bytes)
        for _ in 0..<10 {
            #expect(line.handler.inbox.waitingBytes < text.count + 100)
            #expect(line.next()?.utf8.count == text.count)
        }
        #expect(line.next() == nil && line.handler.inbox.code == 1_001)
    }

    @Test func `what has arrived is not lost with the connection`() throws {
        let line = try Line()
        var bytes = Line.flood(20, of: 100_000)
        FrameWriter.writeClose(CloseReason(.serviceRestart), into: &bytes)
        try line.channel.writeInbound(bytes)
        try line.channel.close().wait()
        for number in 0..<20 { #expect(line.next()?.hasPrefix("\(number) ") == true) }
        #expect(line.next() == nil && line.handler.inbox.code == 1_012)
    }

    @Test func `pings beyond what the server reads wait as one`() throws {
        let line = try Line()
        line.channel.isWritable = false
        for number in 0..<1_000 {
            var ping = ByteBuffer()
            FrameWriter.write(.ping, payload: ByteBuffer(string: "\(number)"), into: &ping)
            try line.channel.writeInbound(ping)
        }
        #expect(try line.channel.readOutbound(as: ByteBuffer.self) == nil)
        line.channel.isWritable = true
        line.channel.pipeline.fireChannelWritabilityChanged()
        var reader = MessageReader(role: .server)
        var pongs: [String] = []
        while var frame = try line.channel.readOutbound(as: ByteBuffer.self) {
            while let step = try reader.receive(&frame) {
                guard case .pong(let payload) = step else { continue }
                pongs.append(String(buffer: payload))
            }
        }
        #expect(pongs == ["999"])
    }

    @Test func `messages after a close are dropped`() throws {
        let line = try Line()
        line.handler.close(CloseReason(.goingAway))
        var bytes = Line.flood(1_000, of: 10_000)
        try line.deliver(&bytes)
        #expect(bytes.readableBytes == 0 && line.handler.inbox.waitingBytes == 0)
        #expect(line.next() == nil)
    }
}

/// A socket's handler on a channel without a network, which delivers what is asked for.
private final class Line {
    /// One read of the transport.
    static let piece = 16_384

    let channel = EmbeddedChannel()
    let handler: SocketHandler
    private let reads = ReadCounter()

    init() throws {
        let server = try #require(ServerAddress("https://party.example"))
        handler = SocketHandler(
            to: server, deflate: DeflateParameters(serverNoContextTakeover: true), closingWithin: .seconds(2))
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/server")).wait()
        try channel.setOption(.autoRead, value: false).wait()
        try channel.pipeline.syncOperations.addHandlers([reads, handler])
    }

    deinit { _ = try? channel.finish(acceptAlreadyClosed: true) }

    /// Numbered messages.
    static func flood(_ count: Int, of length: Int) -> ByteBuffer {
        var bytes = ByteBuffer()
        let rest = String(repeating: "a", count: length)
        for number in 0..<count {
            FrameWriter.write(.text, payload: ByteBuffer(string: "\(number) \(rest)"), into: &bytes)
        }
        return bytes
    }

    /// Delivers as much of `bytes` as the handler asks for.
    func deliver(_ bytes: inout ByteBuffer) throws {
        while reads.isWanted, let piece = bytes.readSlice(length: min(Self.piece, bytes.readableBytes)),
            piece.readableBytes > 0
        {
            reads.isWanted = false
            try channel.writeInbound(piece)
        }
    }

    /// The next message, as a socket takes it.
    func next() -> String? {
        guard case .message(let message, let makesRoom) = handler.inbox.take() else { return nil }
        if makesRoom { handler.resume() }
        return String(decoding: message, as: UTF8.self)
    }
}

/// Notices that a read is asked for.
private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    var isWanted = false

    func read(context: ChannelHandlerContext) { isWanted = true }
}
