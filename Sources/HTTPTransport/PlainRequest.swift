package import NIOCore
package import WebSocketCodec

/// The first bytes of a connection to a port for TLS: the beginning of TLS, or a request without it.
///
/// A record of TLS begins with a number below 32 or above 127, and a request of HTTP with a capital letter, so the first
/// byte decides. A request is read as far as its head, within the parser's limits.
package struct PlainRequest: ~Copyable, Sendable {
    /// The meaning of the bytes so far.
    package enum Verdict: Equatable, Sendable {
        /// Nothing yet: more bytes are needed.
        case undecided
        /// No request: they are TLS, or for TLS to refuse.
        case tls
        /// A request, with its answer.
        case answered(Answer)
    }

    /// The answer to a request without TLS.
    package enum Answer: Equatable, Sendable {
        /// The same page over https.
        case moved(to: String, isHead: Bool)
        /// A text that says to use https.
        case refused(isHead: Bool)
    }

    private var parser: HeadParser
    private let isPage: @Sendable (Substring) -> Bool

    /// Makes the reader of one connection; `isPage` says whether a path shows something to a person.
    package init(maximumHeadLength: Int, isPage: @escaping @Sendable (Substring) -> Bool) {
        parser = HeadParser(maximumHeadLength: maximumHeadLength)
        self.isPage = isPage
    }

    /// Reads all bytes that have arrived so far; after another verdict than `undecided`, it must not be called again.
    package mutating func read(_ bytes: ByteBuffer) -> Verdict {
        guard let first = bytes.readableBytesView.first else { return .undecided }
        guard (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first) else { return .tls }
        var rest = bytes
        do throws(HandshakeViolation) {
            guard let head = try parser.parseRequest(&rest) else { return .undecided }
            return .answered(answer(to: head))
        } catch {
            return .answered(.refused(isHead: false))
        }
    }

    private func answer(to head: RequestHead) -> Answer {
        let isHead = head.method == "HEAD"
        guard isHead || head.method == "GET", head.target.hasPrefix("/"), !head.target.contains("#"),
            isPage(head.path), let host = head.fields.onlyValue(of: "Host"), RequestRule.isHost(host)
        else { return .refused(isHead: isHead) }
        return .moved(to: "https://\(host)\(head.target)", isHead: isHead)
    }
}

extension PlainRequest.Answer {
    /// The bytes of the answer, which ends the connection; `fields` are added to its own.
    package func bytes(adding fields: [HeaderField]) -> ByteBuffer {
        var location: HeaderField?
        let (status, text, isHead): (Int, String, Bool)
        switch self {
        case .moved(let address, let isHeadRequest):
            (status, text, isHead) = (308, "This page is at \(address)\n", isHeadRequest)
            location = HeaderField("Location", address)
        case .refused(let isHeadRequest):
            (status, isHead) = (400, isHeadRequest)
            text = "This port speaks HTTPS only: use https:// in place of http://\n"
        }
        var head = HeaderFields()
        let own = [
            HeaderField("Content-Type", "text/plain; charset=utf-8"),
            HeaderField("Content-Length", "\(text.utf8.count)"), HeaderField("Connection", "close"),
            location,
        ]
        for field in own.compactMap({ $0 }) + fields { head.append(field) }
        var bytes = ByteBuffer()
        ResponseHead(status: status, fields: head).write(into: &bytes)
        if !isHead { bytes.writeString(text) }
        return bytes
    }
}
