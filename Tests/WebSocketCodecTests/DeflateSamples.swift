import NIOCore
import RandomTestSupport
import WebSocketCodec

/// `bytes` as blocks without compression (RFC 1951 §3.2.4), at a byte's start.
func storedBlocks(_ bytes: [UInt8], length: Int = 65_535, isFinal: Bool = false) -> [UInt8] {
    var result: [UInt8] = []
    var start = 0
    repeat {
        let piece = bytes[start..<min(start + length, bytes.count)]
        start += piece.count
        let (low, high) = (UInt8(piece.count & 0xFF), UInt8(piece.count >> 8))
        result += [isFinal && start == bytes.count ? 1 : 0, low, high, ~low, ~high] + piece
    } while start < bytes.count
    return result
}

/// The payload of a message whose data is `bytes` in blocks without compression (RFC 7692 §7.2.3.3).
func storedPayload(_ bytes: [UInt8], length: Int = 65_535) -> [UInt8] {
    storedBlocks(bytes, length: length) + [0x00]
}

extension Deflater {
    /// The payload of a compressed message; `nil` if the message is not compressed.
    func payload(of message: [UInt8]) -> [UInt8]? {
        var buffer = ByteBuffer()
        return self.deflate(message.span, into: &buffer) ? Array(buffer.readableBytesView) : nil
    }
}

extension Inflater {
    /// One message by itself, or after others.
    func message(
        of payload: [UInt8], limit: Int = 1 << 20, keepsContext: Bool = false
    ) throws(FrameViolation) -> [UInt8] {
        Array(
            try self.inflate(ByteBuffer(bytes: payload), limit: limit, keepsContext: keepsContext).readableBytesView)
    }
}

/// A message like this server's: JSON of about `length` bytes with events.
func deltaJSON(_ length: Int, using generator: inout SeededRandom) -> [UInt8] {
    var text = #"{"type":"delta","room":"r_7Q4ZK2M9XH","epoch":3,"seq":10482,"events":["#
    while text.utf8.count < length - 2 {
        let number = UInt32(truncatingIfNeeded: generator.next())
        text +=
            #"{"type":"trackVoted","at":\#(number),"by":"u_\#(number >> 8)","track":"t_\#(number >> 3)","score":1},"#
    }
    return Array((text.dropLast() + "]}").utf8)
}

/// The payload of a message of `mebibytes` × 2^20 zeros, about a thousandth as long.
func bomb(mebibytes: Int) -> [UInt8] {
    let zeros = [UInt8](repeating: 0, count: 1 << 20)
    let deflater = Deflater(keepsContext: true, level: 9)
    var payload: [UInt8] = []
    // After the first two, all messages are equal: each refers to the 32 KiB of zeros before it.
    let first = deflater.payload(of: zeros) ?? []
    let other = deflater.payload(of: zeros) ?? []
    let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
    payload += first
    for _ in 1..<mebibytes { payload += tail + other }
    return payload
}
