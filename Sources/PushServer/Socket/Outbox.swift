import NIOCore
import RoomDomain
import RoomService

/// What one connection is to be sent and its transport has not been given: frames in their order, as segments of bytes.
///
/// Deltas and ephemeral messages are known apart from answers and control frames, since they alone may be dropped. What many
/// connections are sent is kept by reference: it is sliced, and never copied whole. Owns no memory while it is empty.
struct Outbox {
    /// What all followers of a room get.
    enum Kind {
        case delta
        case ephemeral(EphemeralMessage.Kind)
    }

    /// A delta or ephemeral message that waits.
    struct Droppable {
        /// What it is.
        let kind: Kind
        /// Its room.
        let room: RoomID
        /// Its first event; of an ephemeral message, the first that comes after it.
        let from: Int
        /// How many bytes it has.
        let byteCount: Int
    }

    /// Bytes that follow each other in one buffer: one frame that may be dropped, or a part of what may not.
    private struct Segment {
        var bytes: ByteBuffer
        /// Nil where it must reach the peer: an answer, or a delta of which a byte was taken.
        var droppable: Droppable?
        /// Whether the bytes are there for others, and for as long as these want them, in any case.
        var isShared = false

        var byteCount: Int { bytes.readableBytes }
    }

    /// The most bytes that the transport is given at a time: as many as one TLS record carries.
    static let chunkLimit = 16_384
    /// The longest frame that is copied behind another, so that many short answers take little memory.
    private static let joinLimit = 1_024

    private var segments: [Segment] = []
    /// The first segment that has not been taken.
    private var first = 0
    /// How many bytes wait.
    private(set) var byteCount = 0
    /// How many of the bytes may be dropped.
    private(set) var droppableBytes = 0
    /// How many of the bytes are there for others in any case.
    private(set) var sharedBytes = 0

    /// Whether nothing waits.
    var isEmpty: Bool { byteCount == 0 }
    /// How many bytes wait that cannot be dropped.
    var answerBytes: Int { byteCount - droppableBytes }
    /// How many bytes wait that this connection is charged for.
    var ownBytes: Int { byteCount - sharedBytes }

    // MARK: Adding

    /// Adds a frame that must reach the peer, or the part of one that is this connection's own.
    mutating func append(_ frame: ByteBuffer) {
        byteCount += frame.readableBytes
        if let last = segments.indices.last, last >= first, segments[last].droppable == nil, !segments[last].isShared,
            frame.readableBytes <= Self.joinLimit, segments[last].byteCount <= Self.chunkLimit
        {
            segments[last].bytes.writeImmutableBuffer(frame)
        } else {
            segments.append(Segment(bytes: frame))
        }
    }

    /// Adds a part of a frame that must reach the peer and is the same for many: `bytes` are kept as they are.
    mutating func append(shared bytes: ByteBuffer) {
        byteCount += bytes.readableBytes
        sharedBytes += bytes.readableBytes
        segments.append(Segment(bytes: bytes, isShared: true))
    }

    /// Adds a delta or ephemeral message.
    mutating func append(_ frame: ByteBuffer, _ kind: Kind, of room: RoomID, from: Int) {
        let count = frame.readableBytes
        byteCount += count
        droppableBytes += count
        segments.append(
            Segment(bytes: frame, droppable: Droppable(kind: kind, room: room, from: from, byteCount: count)))
    }

    // MARK: Taking

    /// Takes the first bytes, at most ``chunkLimit``: a slice of a long segment, or a copy of several short ones.
    mutating func takeChunk() -> ByteBuffer {
        guard first < segments.count else { return ByteBuffer() }
        if first == segments.count - 1 || segments[first].byteCount >= Self.chunkLimit {
            return take(atMost: Self.chunkLimit)
        }
        return takeJoined(min(byteCount, Self.chunkLimit))
    }

    /// Takes all bytes.
    mutating func takeAll() -> ByteBuffer {
        segments.count - first == 1 ? take(atMost: byteCount) : takeJoined(byteCount)
    }

    private mutating func takeJoined(_ count: Int) -> ByteBuffer {
        guard count > 0 else { return ByteBuffer() }
        var joined = ByteBuffer()
        joined.reserveCapacity(count)
        while joined.readableBytes < count { joined.writeImmutableBuffer(take(atMost: count - joined.readableBytes)) }
        return joined
    }

    /// Takes bytes of the first segment, of which there is one.
    private mutating func take(atMost limit: Int) -> ByteBuffer {
        if let droppable = segments[first].droppable {
            droppableBytes -= droppable.byteCount
            segments[first].droppable = nil
        }
        let bytes: ByteBuffer
        if segments[first].byteCount <= limit {
            bytes = segments[first].bytes
            if segments[first].isShared { sharedBytes -= bytes.readableBytes }
            // What was taken is not kept.
            segments[first].bytes = ByteBuffer()
            first += 1
        } else {
            bytes = segments[first].bytes.readSlice(length: limit) ?? ByteBuffer()
            if segments[first].isShared { sharedBytes -= bytes.readableBytes }
        }
        byteCount -= bytes.readableBytes
        if byteCount == 0 {
            segments = []
            first = 0
        } else if first > 16, 2 * first > segments.count {
            segments.removeFirst(first)
            first = 0
        }
        return bytes
    }

    // MARK: Dropping

    /// Removes what may be dropped, for which `isDropped` holds, and of which no byte was taken; returns it in its order.
    mutating func drop(where isDropped: (Droppable) -> Bool = { _ in true }) -> [Droppable] {
        guard droppableBytes > 0 else { return [] }
        var dropped: [Droppable] = []
        segments.removeFirst(first)
        first = 0
        segments.removeAll { segment in
            guard let droppable = segment.droppable, isDropped(droppable) else { return false }
            dropped.append(droppable)
            return true
        }
        let gone = dropped.reduce(0) { $0 + $1.byteCount }
        byteCount -= gone
        droppableBytes -= gone
        if segments.isEmpty { segments = [] }
        return dropped
    }
}
