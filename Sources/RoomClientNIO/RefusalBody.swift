import NIOCore
import WebSocketCodec

/// The body of an answer that refuses a handshake (RFC 9112 §6.3), of which the first 64 KiB are kept.
struct RefusalBody {
    /// The most bytes that are kept: a problem (RFC 9457) has less than one KiB.
    static let most = 65_536

    private enum Length {
        case known(Int)
        case chunked
        case untilEnd
    }

    private let length: Length

    /// The body that the fields of a head announce.
    init(_ fields: HeaderFields) {
        if fields.contains("chunked", in: "transfer-encoding") {
            length = .chunked
        } else if let text = fields.onlyValue(of: "content-length"), let count = Int(text), count >= 0 {
            length = .known(count)
        } else {
            length = .untilEnd
        }
    }

    /// The body, or its beginning, if enough of it has arrived; at the end of the connection, whatever has.
    ///
    /// Called again with all bytes since the head, each time that some arrive.
    func read(_ bytes: ByteBuffer, isEnd: Bool) -> [UInt8]? {
        switch length {
        case .known(let count):
            let count = min(count, Self.most)
            return bytes.readableBytes >= count || isEnd ? Array(bytes.readableBytesView.prefix(count)) : nil
        case .untilEnd:
            return bytes.readableBytes >= Self.most || isEnd ? Array(bytes.readableBytesView.prefix(Self.most)) : nil
        case .chunked:
            let (body, isWhole) = Self.joined(bytes)
            // Chunks of one byte take six.
            return isWhole || isEnd || bytes.readableBytes > 8 * Self.most ? body : nil
        }
    }

    /// The data of the chunks (RFC 9112 §7.1) that have arrived, and whether no more are needed.
    private static func joined(_ bytes: ByteBuffer) -> (body: [UInt8], isWhole: Bool) {
        var bytes = bytes
        var body: [UInt8] = []
        while body.count < most {
            guard let end = bytes.readableBytesView.firstIndex(of: UInt8(ascii: "\n")),
                let line = bytes.readString(length: end + 1 - bytes.readerIndex)
            else { return (body, false) }
            let digits = line.prefix { $0.isHexDigit }
            guard let count = Int(digits, radix: 16), count > 0 else { return (body, true) }
            body += bytes.readableBytesView.prefix(min(count, most - body.count))
            // The data is followed by a line break.
            guard count <= bytes.readableBytes - 2 else { return (body, body.count >= most) }
            bytes.moveReaderIndex(forwardBy: count + 2)
        }
        return (body, true)
    }
}
