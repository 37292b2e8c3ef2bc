import Glibc
import NIOCore
import Testing
import WebSocketCodec

/// The server's end of one connection: HTTP as text, then frames of a WebSocket.
actor Peer {
    nonisolated let channel: any Channel
    private let arrived: Mailbox<ByteBuffer>
    private var bytes = ByteBuffer()
    private var reader: MessageReader?
    private var deflater: Deflater?

    init(_ channel: any Channel, _ arrived: Mailbox<ByteBuffer>) {
        self.channel = channel
        self.arrived = arrived
    }

    // MARK: HTTP

    /// The next request's head.
    func request() async throws -> RequestHead {
        var parser = HeadParser()
        while true {
            if let head = try parser.parseRequest(&bytes) { return head }
            try await readMore()
        }
    }

    /// So many bytes of a request's body, as text.
    func body(_ count: Int) async throws -> String { String(buffer: try await raw(count)) }

    /// So many bytes, whatever they are.
    func raw(_ count: Int) async throws -> ByteBuffer {
        while true {
            if let read = bytes.readSlice(length: count) { return read }
            try await readMore()
        }
    }

    /// Sends text, with line breaks of HTTP.
    func send(_ text: String) async throws {
        try await channel.writeAndFlush(ByteBuffer(string: text.replacing("\n", with: "\r\n"))).get()
    }

    /// Answers with 200 and a body.
    func answer(_ body: String, _ fields: String = "") async throws {
        try await send("HTTP/1.1 200 OK\n\(fields)content-length: \(body.utf8.count)\n\n\(body)")
    }

    // MARK: WebSocket

    /// Accepts the opening handshake, and returns its request.
    @discardableResult
    func open(
        compressing: DeflatePolicy? = nil, subprotocols: [String] = ["backline.v1.json"],
        followedBy frames: ByteBuffer = ByteBuffer()
    ) async throws -> RequestHead {
        let head = try await request()
        let handshake = try ServerHandshake(head, subprotocols: subprotocols)
        let agreed = compressing.flatMap { DeflateParameters.negotiate(handshake.extensionOffers, policy: $0) }
        var response = ByteBuffer()
        handshake.writeResponse(into: &response, extensions: agreed.map { [$0.response] } ?? [])
        response.writeImmutableBuffer(frames)
        deflater = agreed.map { Deflater($0.parameters, sender: .server, threshold: 1) }
        reader = MessageReader(role: .server, maximumMessageLength: 1 << 25, deflate: agreed?.parameters)
        try await channel.writeAndFlush(response).get()
        return head
    }

    /// The next message or control frame.
    func step() async throws -> MessageReader.Step {
        while true {
            if let step = try reader?.receive(&bytes) { return step }
            try await readMore()
        }
    }

    /// Sends a frame.
    func send(
        _ opcode: Opcode, _ payload: String, isFinal: Bool = true, mask: MaskKey? = nil
    ) async throws {
        var frame = ByteBuffer()
        FrameWriter.write(opcode, payload: ByteBuffer(string: payload), isFinal: isFinal, mask: mask, into: &frame)
        try await channel.writeAndFlush(frame).get()
    }

    /// Sends a message, compressed if that was agreed.
    func message(_ text: String) async throws {
        var frame = ByteBuffer()
        if let deflater {
            FrameWriter.write(.text, compressing: Array(text.utf8).span, with: deflater, into: &frame)
        } else {
            FrameWriter.write(.text, payload: ByteBuffer(string: text), into: &frame)
        }
        try await channel.writeAndFlush(frame).get()
    }

    /// Sends a Close frame.
    func close(_ reason: CloseReason?) async throws {
        var frame = ByteBuffer()
        FrameWriter.writeClose(reason, into: &frame)
        try await channel.writeAndFlush(frame).get()
    }

    // MARK: The end

    /// Ends the connection.
    nonisolated func end() { channel.close(promise: nil) }

    /// Ends the connection at once, as a process does that is killed; without TLS.
    nonisolated func reset() async throws {
        let options = try #require(channel as? any SocketOptionProvider)
        // With this option, closing sends RST.
        try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        channel.close(promise: nil)
    }

    /// Waits until the client has ended the connection; what arrived and was not read before, in bytes.
    func ended() async -> Int {
        var count = bytes.readableBytes
        while let more = await arrived.next() { count += more.readableBytes }
        return count
    }

    private func readMore() async throws {
        guard var more = await arrived.next() else { throw ChannelError.eof }
        bytes.writeBuffer(&more)
    }
}
