package import NIOCore
import WebSocketCodec

extension RoomServer {
    /// Compresses a long state for all who may be given it compressed, on whatever thread; nil where it becomes no
    /// shorter.
    package static func compress(_ state: ByteBuffer) -> ByteBuffer? {
        Deflater().deflatePart(state.readableBytesUInt8Span)
    }
}
