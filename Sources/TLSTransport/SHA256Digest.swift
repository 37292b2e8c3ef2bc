internal import COpenSSL

/// A SHA-256 digest (FIPS 180-4): 32 bytes.
///
/// It identifies certificates (as their fingerprint) and bearer tokens (stores keep only their digest). `==` is not
/// constant-time: compare digests of secrets, never secrets.
package struct SHA256Digest: Hashable, Sendable, CustomStringConvertible {
    /// The number of bytes of a digest.
    package static let byteCount = 32

    /// The digest, always 32 bytes.
    package let bytes: [UInt8]

    /// Computes the digest of `message` in O(n).
    package init(hashing message: Span<UInt8>) {
        bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.byteCount) { output, count in
            // OpenSSL reads the span and writes exactly 32 bytes, which is the capacity.
            unsafe message.withUnsafeBufferPointer { input in
                _ = unsafe SHA256(input.baseAddress, input.count, output.baseAddress)
            }
            count = Self.byteCount
        }
    }

    /// Computes the digest of `message` in O(n).
    package init(hashing message: [UInt8]) {
        self.init(hashing: message.span)
    }

    /// Takes over a stored digest; `nil` unless there are exactly 32 bytes.
    package init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads 64 hexadecimal digits of either case, with or without a colon after each pair; `nil` for anything else.
    package init?(hex: String) {
        let text = Array(hex.utf8)
        let step = text.count == 3 * Self.byteCount - 1 ? 3 : 2
        guard step == 3 || text.count == 2 * Self.byteCount else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        for index in stride(from: 0, to: text.count, by: step) {
            guard let high = Self.value(ofDigit: text[index]), let low = Self.value(ofDigit: text[index + 1]),
                step == 2 || index + 2 == text.count || text[index + 2] == UInt8(ascii: ":")
            else { return nil }
            bytes.append(high << 4 | low)
        }
        self.bytes = bytes
    }

    /// 64 lower-case hexadecimal digits.
    package var hex: String {
        String(decoding: bytes.flatMap { [Self.digit($0 >> 4), Self.digit($0 & 15)] }, as: UTF8.self)
    }

    /// Pairs of upper-case hexadecimal digits with colons between, as `openssl x509 -fingerprint -sha256` prints them.
    package var colonHex: String {
        bytes.map { String(decoding: [Self.digit($0 >> 4), Self.digit($0 & 15)], as: UTF8.self).uppercased() }
            .joined(separator: ":")
    }

    /// The same as `hex`.
    package var description: String { hex }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
