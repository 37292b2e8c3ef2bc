package import NIOCore

/// Reads the head of one HTTP/1 message from bytes that arrive in pieces.
///
/// The caller keeps the bytes and passes all of them again with each addition; the parser remembers how far it has
/// read, so that the work is O(n) however the bytes arrive. Bytes that are not allowed in a head are refused as soon as
/// they arrive: lines end with CR LF, folded lines and control characters are not accepted (RFC 9112 §2.2, §5.2).
///
/// A parser reads one head; after a violation it must not be used any more.
///
/// A server that passes other requests on to another HTTP server keeps its buffer and parses a copy of it (which shares
/// the bytes), because a parsed head is removed from the front of the buffer that was parsed.
package struct HeadParser: ~Copyable, Sendable {
    /// The default limit of a head: 16 KiB, which has room for the largest cookies that browsers send together, and is
    /// what other servers allow.
    package static let defaultMaximumHeadLength = 16 * 1024
    /// The default limit of the number of fields; browsers send about 20.
    package static let defaultMaximumFieldCount = 100

    private let maximumHeadLength: Int
    private let maximumFieldCount: Int
    /// The number of bytes of the head that have been examined.
    private var scanned = 0
    /// The start of the start line.
    private var start = 0
    /// The start of the line that is being examined.
    private var lineStart = 0
    /// The ends of the complete lines, without CR LF, beginning with the start line.
    private var lineEnds: [Int] = []

    /// Makes a parser for one head, with its limits in bytes and fields.
    package init(
        maximumHeadLength: Int = HeadParser.defaultMaximumHeadLength,
        maximumFieldCount: Int = HeadParser.defaultMaximumFieldCount
    ) {
        self.maximumHeadLength = maximumHeadLength
        self.maximumFieldCount = maximumFieldCount
    }

    /// Removes a request's head from the front of `bytes`; `nil`, with nothing removed, if more bytes are needed.
    package mutating func parseRequest(_ bytes: inout ByteBuffer) throws(HandshakeViolation) -> RequestHead? {
        guard let length = try self.scan(bytes.readableBytesUInt8Span, isRequest: true) else { return nil }
        let parts = self.line(0, of: bytes).split(separator: " ", omittingEmptySubsequences: false)
        // RFC 9112 §3: method SP request-target SP HTTP-version
        guard parts.count == 3, HeaderField.isToken(parts[0]), !parts[1].isEmpty,
            parts[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .malformedStartLine }
        let isHTTP11 = try Self.parseVersion(parts[2])
        let head = RequestHead(
            method: String(parts[0]), target: String(parts[1]), isHTTP11: isHTTP11, fields: try self.fields(of: bytes))
        bytes.moveReaderIndex(forwardBy: length)
        return head
    }

    /// Removes a response's head from the front of `bytes`; `nil`, with nothing removed, if more bytes are needed.
    package mutating func parseResponse(_ bytes: inout ByteBuffer) throws(HandshakeViolation) -> ResponseHead? {
        guard let length = try self.scan(bytes.readableBytesUInt8Span, isRequest: false) else { return nil }
        let parts = self.line(0, of: bytes).split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        // RFC 9112 §4: HTTP-version SP 3DIGIT SP [reason-phrase]; some servers omit the last space
        guard parts.count >= 2, parts[1].utf8.count == 3,
            parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let status = Int(parts[1]), status >= 100
        else { throw .malformedStartLine }
        guard try Self.parseVersion(parts[0]) else { throw .notHTTP11 }
        let head = ResponseHead(status: status, fields: try self.fields(of: bytes))
        bytes.moveReaderIndex(forwardBy: length)
        return head
    }

    /// Examines the new bytes; returns the length of the head once its last line has arrived.
    private mutating func scan(_ bytes: Span<UInt8>, isRequest: Bool) throws(HandshakeViolation) -> Int? {
        while self.scanned < bytes.count {
            guard self.scanned < self.maximumHeadLength else { throw .headTooLarge(limit: self.maximumHeadLength) }
            let byte = bytes[self.scanned]
            let followsCR = self.scanned > 0 && bytes[self.scanned - 1] == 0x0D
            switch byte {
            case 0x0A:
                guard followsCR else { throw .forbiddenByte(byte) }
                let end = self.scanned - 1
                self.scanned += 1
                if end == self.lineStart {
                    if !self.lineEnds.isEmpty { return self.scanned }
                    // RFC 9112 §2.2: a server ignores an empty line before a request.
                    guard isRequest, self.start == 0 else { throw .malformedStartLine }
                    self.start = self.scanned
                    self.lineStart = self.scanned
                    continue
                }
                // The first line is not a field.
                guard self.lineEnds.count <= self.maximumFieldCount else {
                    throw .tooManyFields(limit: self.maximumFieldCount)
                }
                self.lineEnds.append(end)
                self.lineStart = self.scanned
                continue
            case 0x0D where !followsCR:
                break
            default:
                // A CR without LF after it is not allowed either.
                guard !followsCR else { throw .forbiddenByte(0x0D) }
                guard HeaderField.isValueByte(byte) else { throw .forbiddenByte(byte) }
            }
            self.scanned += 1
        }
        return nil
    }

    /// The bytes of a complete line as text; bytes that are not UTF-8 become U+FFFD.
    private func line(_ index: Int, of bytes: ByteBuffer) -> Substring {
        let start = index == 0 ? self.start : self.lineEnds[index - 1] + 2
        let end = self.lineEnds[index]
        return bytes.getString(at: bytes.readerIndex + start, length: end - start)?[...] ?? ""
    }

    private func fields(of bytes: ByteBuffer) throws(HandshakeViolation) -> HeaderFields {
        var fields = HeaderFields()
        for index in self.lineEnds.indices.dropFirst() {
            let line = self.line(index, of: bytes)
            // RFC 9112 §5.1: no white space between the name and the colon; a folded line begins with white space
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")), HeaderField.isToken(line[..<colon]) else {
                throw .malformedField
            }
            let value = trimmingWhitespace(line[line.utf8.index(after: colon)...])
            fields.append(HeaderField(valid: String(line[..<colon]), String(value)))
        }
        return fields
    }

    private static func parseVersion(_ text: Substring) throws(HandshakeViolation) -> Bool {
        switch text {
        case "HTTP/1.1": return true
        case "HTTP/1.0": return false
        default:
            let bytes = Array(text.utf8)
            let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
            // RFC 9112 §2.3: HTTP-name "/" DIGIT "." DIGIT
            guard text.hasPrefix("HTTP/"), bytes.count == 8, isDigit(bytes[5]), bytes[6] == UInt8(ascii: "."),
                isDigit(bytes[7])
            else { throw .malformedStartLine }
            throw .unsupportedHTTPVersion
        }
    }
}
