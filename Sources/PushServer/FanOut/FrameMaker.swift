package import NIOCore
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

/// What one connection agreed to about compression: each message by itself, if at all, so that one compressed frame
/// serves all who may get it and nothing is kept between two messages.
struct SocketCompression {
    /// What was agreed; nil where nothing is compressed.
    let parameters: DeflateParameters?

    /// Whether any message is compressed.
    var isOn: Bool { parameters != nil }

    /// Whether a message of `length` bytes may be compressed.
    func takes(messageOf length: Int) -> Bool { parameters?.fits(length) ?? false }

    /// Agrees to one of a client's offers, unless compression is turned off.
    static func negotiate(
        _ offers: [ExtensionOffer], isAllowed: Bool
    ) -> (compression: SocketCompression, response: [ExtensionOffer]) {
        guard isAllowed, let (parameters, response) = DeflateParameters.negotiate(offers) else {
            return (SocketCompression(parameters: nil), [])
        }
        return (SocketCompression(parameters: parameters), [response])
    }
}

extension RoomServer {
    /// Compresses a long state for all who may be given it compressed, on whatever thread; nil where it becomes no
    /// shorter.
    package static func compress(_ state: ByteBuffer) -> ByteBuffer? {
        Deflater().deflatePart(state.readableBytesUInt8Span)
    }
}
