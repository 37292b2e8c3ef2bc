import NIOCore
import RoomService
import WebSocketCodec

/// The deltas and ephemeral messages of one delivery, framed once for all followers.
final class DeliveryBatch {
    let updates: [PublishedEvents]
    let ephemeral: [EphemeralMessage]
    /// The messages of both, deltas first.
    private let messages: [[UInt8]]
    private let framing: FrameMaker
    private let plain: [ByteBuffer]
    private let joinedPlain: ByteBuffer
    /// The compressed frames, made when the first follower needs them.
    private var compressed: (frames: [ByteBuffer], joined: ByteBuffer, longest: Int)?

    /// Frames the messages; there must be at least one.
    init(_ updates: [PublishedEvents], _ ephemeral: [EphemeralMessage], _ framing: FrameMaker) {
        self.updates = updates
        self.ephemeral = ephemeral
        self.framing = framing
        messages = updates.map(\.message) + ephemeral.map(\.message)
        plain = messages.map { framing.plain($0) }
        joinedPlain = Self.join(plain)
    }

    /// The number of bytes in its frames, uncompressed.
    var byteCount: Int { joinedPlain.readableBytes }

    /// All frames, one after the other, in the form that a connection with this compression reads.
    func bytes(for compression: SocketCompression) -> ByteBuffer {
        guard compression.isOn else { return joinedPlain }
        let compressed = compressedFrames()
        return compression.takes(messageOf: compressed.longest) ? compressed.joined : joinedPlain
    }

    /// The frame of one message, numbered from the first delta; ephemeral messages follow the deltas.
    func frame(_ index: Int, for compression: SocketCompression) -> ByteBuffer {
        guard compression.takes(messageOf: messages[index].count) else { return plain[index] }
        return compressedFrames().frames[index]
    }

    private func compressedFrames() -> (frames: [ByteBuffer], joined: ByteBuffer, longest: Int) {
        if let compressed { return compressed }
        let frames = zip(messages, plain).map { framing.compressed($0) ?? $1 }
        let made = (frames, Self.join(frames), messages.reduce(0) { max($0, $1.count) })
        compressed = made
        return made
    }

    private static func join(_ frames: [ByteBuffer]) -> ByteBuffer {
        guard frames.count > 1, var joined = frames.first else { return frames.first ?? ByteBuffer() }
        joined.reserveCapacity(frames.reduce(0) { $0 + $1.readableBytes })
        for frame in frames.dropFirst() { joined.writeImmutableBuffer(frame) }
        return joined
    }
}
