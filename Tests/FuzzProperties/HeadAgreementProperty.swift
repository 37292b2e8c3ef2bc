import HTTPTransport
import NIOCore
import NIOEmbedded
import NIOHTTP1
import WebSocketCodec

/// The two readers of heads agree: `HeadParser`, which reads the first head of a connection, and SwiftNIO's, which
/// reads all heads of requests that reach the HTTP server, and of handshakes that follow them.
///
/// - A head that both read is the same head, and ends at the same byte.
/// - A handshake without `Content-Length` that is accepted as a first request is read as the same handshake behind
///   another request.
/// - While the first reader waits for more bytes, the other one has no head either.
///
/// Where one of them refuses bytes that the other reads, the request is refused on one of the two ways in, and its
/// connection ends: no byte after a head is ever read by both.
package enum HeadAgreementProperty {
    /// The result for bytes for which the property holds.
    package enum Verdict: Hashable, CaseIterable, Sendable {
        /// Both read the same handshake, which is accepted.
        case handshake
        /// Both read the same head.
        case head
        /// Only `HeadParser` refuses the bytes.
        case refusedAsFirst
        /// Only SwiftNIO's reader refuses them.
        case refusedAsLater
        /// Both refuse them.
        case refused
        /// Both wait for more.
        case unfinished
    }

    private enum Reading: Equatable {
        case head(RequestHead)
        case refused
        case unfinished
    }

    /// Checks the property for the first bytes of a connection.
    @discardableResult
    package static func check(_ bytes: some Collection<UInt8>) throws(BrokenProperty) -> Verdict {
        var buffer = ByteBuffer(bytes: bytes)
        var parser = HeadParser()
        let first: Reading
        do throws(HandshakeViolation) {
            first = try parser.parseRequest(&buffer).map { .head($0) } ?? .unfinished
        } catch {
            first = .refused
        }
        let later = try read(bytes)
        switch (first, later) {
        case (.head(let head), .head(let other)):
            try require(head == other, "first \(head), later \(other)")
            let length = buffer.readerIndex
            try require(try read(bytes.prefix(length - 1)) == .unfinished, "a shorter head is read later")
            try require(try read(bytes.prefix(length)) == later, "a longer head is read later")
            return isAccepted(head) ? .handshake : .head
        case (.head(let head), .refused):
            // SwiftNIO's reader takes fewer forms of a length, which a handshake does not have.
            try require(
                !isAccepted(head) || !head.fields.values(of: "Content-Length").isEmpty,
                "a handshake that is accepted only as a first request: \(head)")
            return .refusedAsLater
        case (.head, .unfinished): throw BrokenProperty("a head for which the other reader waits")
        case (.refused, .head): return .refusedAsFirst
        case (.refused, .refused), (.unfinished, .refused): return .refused
        case (.refused, .unfinished): return .refusedAsFirst
        case (.unfinished, .head(let head)): throw BrokenProperty("waits, although the other reader has \(head)")
        case (.unfinished, .unfinished): return .unfinished
        }
    }

    private static func isAccepted(_ head: RequestHead) -> Bool {
        (try? ServerHandshake(head, subprotocols: ["backline.v1.json"])) != nil
    }

    /// Reads the first head with SwiftNIO's reader, limited as the server limits it.
    private static func read(_ bytes: some Collection<UInt8>) throws(BrokenProperty) -> Reading {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = HeadParser.defaultMaximumHeadLength
        limits.maxHeaderListSize = HeadParser.defaultMaximumHeadLength
        limits.maxHeaderFieldCount = HeadParser.defaultMaximumFieldCount
        let channel = EmbeddedChannel()
        let reader = Reader()
        do {
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
            let pipeline = channel.pipeline.syncOperations
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false, withErrorHandling: false, withEncoderConfiguration: .init(),
                withDecoderLimitConfiguration: limits)
            try pipeline.addHandler(reader)
        } catch {
            throw BrokenProperty("\(error)")
        }
        // A failure reaches the reader as well.
        _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))
        let isRefused = reader.isRefused
        _ = try? channel.finish(acceptAlreadyClosed: true)
        guard let head = reader.head else { return isRefused ? .refused : .unfinished }
        guard head.version == .http1_1 || head.version == .http1_0, let read = RequestHead(head) else {
            return .refused
        }
        // SwiftNIO's name of this method, which no handshake and no route has, is not its spelling.
        guard head.method == .MSEARCH else { return .head(read) }
        return .head(
            RequestHead(method: "M-SEARCH", target: read.target, isHTTP11: read.isHTTP11, fields: read.fields))
    }

    /// Keeps the first head, or that there is none.
    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart

        private(set) var head: HTTPRequestHead?
        private(set) var isRefused = false

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if case .head(let head) = unwrapInboundIn(data), self.head == nil { self.head = head }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if head == nil { isRefused = true }
        }
    }
}
