package import NIOCore

/// The key that a client combines with the payload of one frame (RFC 6455 §5.3).
///
/// A fresh, unpredictable key for every frame keeps the author of a payload from choosing the bytes on the wire.
package struct MaskKey: Equatable, Sendable {
    /// The four bytes in the order of the wire, the first one most significant.
    package let rawValue: UInt32

    /// Makes a key from its four bytes, the first one most significant.
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Draws a key; the values of `generator` must be unpredictable (RFC 6455 §10.3).
    package init(using generator: inout some RandomNumberGenerator) {
        self.rawValue = generator.next()
    }

    /// Masks or unmasks bytes in place; doing it twice restores the bytes.
    ///
    /// If another `ByteBuffer` shares the storage, the storage is copied first.
    ///
    /// - Parameters:
    ///   - buffer: The buffer, whose readable bytes contain the range.
    ///   - index: The start of the range, counted like `readerIndex`.
    ///   - count: The length of the range.
    ///   - phase: The number of bytes of the same frame before the range.
    package func apply(to buffer: inout ByteBuffer, at index: Int, count: Int, phase: Int = 0) {
        let start = index - buffer.readerIndex
        var bytes = buffer.mutableReadableBytesSpan
        let end = start + count
        precondition(start >= 0 && count >= 0 && end <= bytes.byteCount, "\(index), \(count) of \(bytes.byteCount)")

        // The bytes as stored in either byte order, rotated so that the first one belongs to `phase`.
        let turn = UInt32(truncatingIfNeeded: phase & 3) * 8
        let rotated = self.rawValue << turn | self.rawValue >> ((32 - turn) & 31)
        let word = UInt64(rotated) << 32 | UInt64(rotated)
        let stored = word.bigEndian
        var offset = start
        while offset &+ 8 <= end {
            // unsafe: a load of raw bytes; every bit pattern is a UInt64, and the span checks the bounds
            let value = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            bytes.storeBytes(of: value ^ stored, toByteOffset: offset, as: UInt64.self)
            offset &+= 8
        }
        var shift: UInt64 = 56
        while offset < end {
            // unsafe: as above, for UInt8
            let value = unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self)
            bytes.storeBytes(
                of: value ^ UInt8(truncatingIfNeeded: word >> shift), toByteOffset: offset, as: UInt8.self)
            offset &+= 1
            shift &-= 8
        }
    }
}
