import NIOCore
import WebSocketCodec

/// A reader's result for some bytes.
struct Transcript: Equatable {
    var steps: [MessageReader.Step] = []
    var violation: FrameViolation?

    /// Feeds pieces one after the other to a new reader, each in a buffer of its own, until one is refused.
    init(
        _ pieces: [[UInt8]], role: WebSocketRole = .server,
        limit: Int = MessageReader.defaultMaximumMessageLength, deflate: DeflateParameters? = nil,
        inflater: Inflater? = nil
    ) {
        var reader = MessageReader(role: role, maximumMessageLength: limit, deflate: deflate, inflater: inflater)
        for piece in pieces {
            var bytes = ByteBuffer(bytes: piece)
            do {
                while let step = try reader.receive(&bytes) { self.steps.append(step) }
            } catch {
                self.violation = error
                return
            }
        }
    }

    init(
        _ bytes: [UInt8], role: WebSocketRole = .server, limit: Int = MessageReader.defaultMaximumMessageLength,
        deflate: DeflateParameters? = nil, inflater: Inflater? = nil
    ) {
        self.init([bytes], role: role, limit: limit, deflate: deflate, inflater: inflater)
    }
}

/// A frame as a client sends it, or as a server does where `mask` is `nil`.
func frame(
    _ opcode: Opcode, _ payload: [UInt8] = [], isFinal: Bool = true, reserved: ReservedBits = [],
    mask: MaskKey? = .example
) -> [UInt8] {
    var buffer = ByteBuffer()
    FrameWriter.write(
        opcode, payload: ByteBuffer(bytes: payload), isFinal: isFinal, reserved: reserved, mask: mask, into: &buffer)
    return Array(buffer.readableBytesView)
}

func closeFrame(_ code: UInt16, _ text: [UInt8] = [], mask: MaskKey? = .example) -> [UInt8] {
    frame(.close, [UInt8(code >> 8), UInt8(code & 0xFF)] + text, mask: mask)
}

extension MaskKey {
    /// The key of RFC 6455 §5.7.
    static let example = MaskKey(rawValue: 0x37FA_213D)
}

extension Array where Element == UInt8 {
    /// The array in two pieces, for every position of the split.
    var cuts: [[[UInt8]]] {
        self.indices.map { [Array(self[..<$0]), Array(self[$0...])] }
    }

    /// The array one byte at a time.
    var singleBytes: [[UInt8]] { self.map { [$0] } }
}

extension ByteBuffer {
    static func of(_ text: String) -> ByteBuffer { ByteBuffer(string: text) }
}
