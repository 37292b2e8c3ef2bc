package import NIOCore
import WebSocketCodec

extension RoomServer {
    /// Compresses a long state for all who may be given it compressed; nil if it becomes no shorter.
    ///
    /// May be called on any thread.
    package static func compress(_ state: ByteBuffer) -> ByteBuffer? {
        Deflater().deflatePart(state.readableBytesUInt8Span)
    }
}
