import NIOCore

/// The payload of a non-empty Close frame: a code and a text for debugging (RFC 6455 §5.5.1).
package struct CloseReason: Equatable, Sendable {
    /// The longest text in UTF-8 bytes: RFC 6455 §5.5 leaves 125, of which the code takes 2.
    package static let maximumTextLength = 123

    /// The code for the end of the connection.
    package let code: CloseCode
    /// A text for developers, not for users; often empty, at most ``maximumTextLength`` bytes.
    package let text: String

    /// Makes a reason; a longer `text` is cut at the last whole Unicode scalar that fits.
    package init(_ code: CloseCode, _ text: String = "") {
        self.code = code
        guard text.utf8.count > Self.maximumTextLength else {
            self.text = text
            return
        }
        var end = text.startIndex
        var length = 0
        for scalar in text.unicodeScalars {
            length += UTF8.width(scalar)
            guard length <= Self.maximumTextLength else { break }
            end = text.unicodeScalars.index(after: end)
        }
        self.text = String(text.unicodeScalars[..<end])
    }

    /// Reads the payload of a received Close frame; `nil` for an empty payload.
    ///
    /// - Throws: ``FrameViolation/closePayloadTooShort``, ``FrameViolation/invalidCloseCode(_:)`` or
    ///   ``FrameViolation/invalidUTF8``.
    static func parse(_ payload: ByteBuffer) throws(FrameViolation) -> CloseReason? {
        guard payload.readableBytes > 0 else { return nil }
        // RFC 6455 §5.5.1: if there is a body, its first two bytes are the code
        guard let number = payload.getInteger(at: payload.readerIndex, as: UInt16.self) else {
            throw .closePayloadTooShort
        }
        guard let code = CloseCode(rawValue: number) else { throw .invalidCloseCode(number) }
        var rest = payload
        rest.moveReaderIndex(forwardBy: 2)
        var validator = UTF8Validator()
        // RFC 6455 §5.5.1: the rest is UTF-8
        guard validator.consume(rest.readableBytesUInt8Span), validator.isComplete else { throw .invalidUTF8 }
        return CloseReason(code, String(buffer: rest))
    }
}
