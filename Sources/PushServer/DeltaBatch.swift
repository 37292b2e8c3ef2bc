import NIOCore
import RoomService
import WebSocketCodec

/// The deltas of one delivery, framed once for all who get them.
final class DeltaBatch {
    let updates: [PublishedEvents]
    private let framing: FrameMaker
    private let plain: [ByteBuffer]
    private let joinedPlain: ByteBuffer
    /// Made when the first follower wants it.
    private var compressed: (frames: [ByteBuffer], joined: ByteBuffer, longest: Int)?

    /// Frames the messages of `updates`, of which there is at least one.
    init(_ updates: [PublishedEvents], _ framing: FrameMaker) {
        self.updates = updates
        self.framing = framing
        plain = updates.map { framing.plain($0.message) }
        joinedPlain = Self.join(plain)
    }

    /// How many deltas there are.
    var count: Int { updates.count }

    /// How many bytes its frames have, uncompressed.
    var byteCount: Int { joinedPlain.readableBytes }

    /// All frames, one behind the other, as a connection with this compression understands them.
    func bytes(for compression: SocketCompression) -> ByteBuffer {
        guard compression.isOn else { return joinedPlain }
        let compressed = compressedFrames()
        return compression.takes(messageOf: compressed.longest) ? compressed.joined : joinedPlain
    }

    /// The frame of one delta.
    func frame(_ index: Int, for compression: SocketCompression) -> ByteBuffer {
        guard compression.takes(messageOf: updates[index].message.count) else { return plain[index] }
        return compressedFrames().frames[index]
    }

    private func compressedFrames() -> (frames: [ByteBuffer], joined: ByteBuffer, longest: Int) {
        if let compressed { return compressed }
        let frames = zip(updates, plain).map { framing.compressed($0.message) ?? $1 }
        let made = (frames, Self.join(frames), updates.reduce(0) { max($0, $1.message.count) })
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
