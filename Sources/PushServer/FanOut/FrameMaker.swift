import NIOCore
import RoomService
import WebSocketCodec

/// Makes the frames of one event loop's messages, and inflates the compressed messages of its peers.
final class FrameMaker {
    /// Inflates the messages of peers, each of which is compressed on its own.
    let inflater = Inflater()
    private let deflater = Deflater()

    /// The compressed form of a state, which is made here if nobody has made it yet; nil if it is no shorter.
    func compressed(_ state: SharedState) -> ByteBuffer? {
        state.compressed { deflater.deflatePart($0.readableBytesUInt8Span) }
    }

    /// Makes a text frame.
    func plain(_ message: [UInt8]) -> ByteBuffer {
        PreparedFrame(.text, capacity: message.count) { $0.writeBytes(message) }.bytes
    }

    /// Makes a compressed text frame; nil if the message is better sent uncompressed.
    func compressed(_ message: [UInt8]) -> ByteBuffer? {
        PreparedFrame(.text, compressing: message.span, with: deflater)?.bytes
    }
}
