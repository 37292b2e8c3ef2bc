import NIOCore
import RoomService
import WebSocketCodec

/// Makes the frames of one event loop's messages, and reads the compressed ones of its peers.
final class FrameMaker {
    /// What a compressed message of a peer is read with: each is compressed by itself.
    let inflater = Inflater()
    private let deflater = Deflater()

    /// A state in its compressed form, which is made here where nobody has made it; nil where it is no shorter.
    func compressed(_ state: SharedState) -> ByteBuffer? {
        state.compressed { deflater.deflatePart($0.readableBytesUInt8Span) }
    }

    /// A text frame.
    func plain(_ message: [UInt8]) -> ByteBuffer {
        PreparedFrame(.text, capacity: message.count) { $0.writeBytes(message) }.bytes
    }

    /// A compressed text frame; nil where the message is better sent as it is.
    func compressed(_ message: [UInt8]) -> ByteBuffer? {
        PreparedFrame(.text, compressing: message.span, with: deflater)?.bytes
    }
}
