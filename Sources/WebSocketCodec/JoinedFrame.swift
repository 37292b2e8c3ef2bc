package import NIOCore

/// A server's text frame around a part that many messages share: the bytes before and the bytes after the part.
///
/// The part itself is not copied. A compressed part is the result of ``Deflater/deflatePart(_:)``: it refers to nothing
/// before its beginning and ends on a byte boundary, so that head and tail can surround it as stored blocks (RFC 1951
/// §3.2.4), and no connection needs a compressor.
package struct JoinedFrame: Equatable, Sendable {
    /// The header and the bytes before the part.
    package let before: ByteBuffer
    /// The bytes after the part.
    package let after: ByteBuffer

    /// RFC 1951 §3.2.4: a stored block has at most 65,535 bytes.
    private static let blockLimit = 65_535
    /// The size of a stored block's header: its kind, the length, and the length's complement.
    private static let blockHeader = 5

    /// Makes a frame of `head`, `count` uncompressed bytes that follow, and `tail`.
    package init(head: Span<UInt8>, part count: Int, tail: Span<UInt8>) {
        let length = head.count + count + tail.count
        (self.before, self.after) = Self.make(.init(), length, head, tail) { Self.write($0, into: &$1) }
    }

    /// Makes a compressed frame (RFC 7692 §6.1) of `head`, a compressed part of `count` bytes, and `tail`.
    ///
    /// It may be sent if a message of that length may be compressed (``DeflateParameters/fits(_:from:)``).
    package init(head: Span<UInt8>, compressedPart count: Int, tail: Span<UInt8>) {
        // 1: the first byte of the empty stored block whose other four RFC 7692 §7.2.1 removes
        let length = Self.stored(head.count) + count + Self.stored(tail.count) + 1
        var (before, after) = Self.make(.rsv1, length, head, tail) { Self.writeStored($0, into: &$1) }
        after.writeInteger(UInt8(0))
        (self.before, self.after) = (before, after)
    }

    private static func make(
        _ reserved: ReservedBits, _ length: Int, _ head: Span<UInt8>, _ tail: Span<UInt8>,
        _ write: (Span<UInt8>, inout ByteBuffer) -> Void
    ) -> (ByteBuffer, ByteBuffer) {
        let header = FrameHeader(.text, payloadLength: UInt64(length), reserved: reserved)
        var before = ByteBuffer()
        before.reserveCapacity(header.byteCount + stored(head.count))
        header.write(into: &before)
        write(head, &before)
        var after = ByteBuffer()
        after.reserveCapacity(stored(tail.count) + 1)
        write(tail, &after)
        return (before, after)
    }

    /// The size of stored blocks that hold `count` bytes; 0 for no bytes.
    private static func stored(_ count: Int) -> Int {
        count + (count + blockLimit - 1) / blockLimit * blockHeader
    }

    private static func writeStored(_ bytes: Span<UInt8>, into buffer: inout ByteBuffer) {
        for start in stride(from: 0, to: bytes.count, by: blockLimit) {
            let block = bytes.extracting(start..<min(start + blockLimit, bytes.count))
            let length = UInt16(truncatingIfNeeded: block.count)
            // BFINAL 0 and BTYPE 00, and padding to a whole byte
            buffer.writeInteger(UInt8(0))
            buffer.writeInteger(length, endianness: .little)
            buffer.writeInteger(~length, endianness: .little)
            write(block, into: &buffer)
        }
    }

    private static func write(_ bytes: Span<UInt8>, into buffer: inout ByteBuffer) {
        // unsafe: raw bytes of a type with padding may be uninitialised; UInt8 has none
        _ = unsafe buffer.writeBytes(bytes.bytes)
    }
}
