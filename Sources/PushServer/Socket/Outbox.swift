import NIOCore
import RoomDomain
import RoomService

/// The output of one connection that has not been given to its transport: frames in order, as segments of bytes.
///
/// Deltas and ephemeral messages are kept apart from answers and control frames, since only they may be dropped. Bytes
/// that many connections are sent are kept by reference: they are sliced, and never copied as a whole. An empty outbox
/// owns no memory.
struct Outbox {
    /// The kinds of messages that all followers of a room get.
    enum Kind {
        case delta
        case ephemeral(EphemeralMessage.Kind)
    }

    /// A delta or ephemeral message that waits.
    struct Droppable {
        /// Its kind.
        let kind: Kind
        /// Its room.
        let room: RoomID
        /// Its first event; for an ephemeral message, the first event after it.
        let from: Int
        /// Its number of bytes.
        let byteCount: Int
    }

    /// Consecutive bytes in one buffer: one frame that may be dropped, or a part of the output that may not.
    private struct Segment {
        var bytes: ByteBuffer
        /// The message, if it may be dropped; nil for an answer, and for a delta of which a byte was taken.
        var droppable: Droppable?
        /// Whether others share the bytes, which stay in memory for those anyway.
        var isShared = false

        var byteCount: Int { bytes.readableBytes }
    }

    /// The most bytes that the transport is given at a time; one TLS record carries as many.
    static let chunkLimit = 16_384
    /// The longest frame that is copied behind another, which makes many short answers take little memory.
    private static let joinLimit = 1_024

    private var segments: [Segment] = []
    /// The first segment that has not been taken.
    private var first = 0
    /// The number of bytes that wait.
    private(set) var byteCount = 0
    /// The bytes among them that may be dropped.
    private(set) var droppableBytes = 0
    /// The bytes among them that are shared with others.
    private(set) var sharedBytes = 0
    /// The signals that wait, as their senders are charged for them.
    private var signals: [SignalBacklog.Charge] = []
    /// The states that have not been taken completely, as they are charged.
    private var states: [HeldStates.Hold] = []
    /// Whether somebody was asked to flush it.
    private var isFlushDue = false
    /// Whether nothing comes after what waits.
    private var isLast = false

    /// Whether it is empty.
    var isEmpty: Bool { byteCount == 0 }
    /// Whether everything was taken, and the channel is to be closed.
    var isOver: Bool { isLast && isEmpty }
    /// The number of waiting bytes that may not be dropped.
    var answerBytes: Int { byteCount - droppableBytes }
    /// The number of waiting bytes that are charged to this connection.
    var ownBytes: Int { byteCount - sharedBytes }

    // MARK: Adding

    /// Adds a frame that must reach the peer, or the part of such a frame that only this connection has.
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

    /// Adds a signal; its sender is charged until it is taken.
    mutating func append(_ frame: ByteBuffer, _ charge: SignalBacklog.Charge) {
        signals.append(charge)
        append(frame)
    }

    /// Adds the part of a frame that must reach the peer and is the same for many; `bytes` are kept without a copy, and
    /// are charged by `hold` until they are taken.
    mutating func append(shared bytes: ByteBuffer, _ hold: HeldStates.Hold? = nil) {
        if let hold { states.append(hold) }
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

    /// Output was added; returns whether somebody must be asked to flush it.
    mutating func asksForFlush() -> Bool {
        defer { isFlushDue = true }
        return !isFlushDue
    }

    /// Nothing comes after what waits: the channel is closed once that was taken (``isOver``).
    mutating func endsConnection() { isLast = true }

    /// The flush that was asked for begins.
    mutating func flushBegins() { isFlushDue = false }

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

    /// Takes bytes of the first segment, which must exist.
    private mutating func take(atMost limit: Int) -> ByteBuffer {
        if let droppable = segments[first].droppable {
            droppableBytes -= droppable.byteCount
            segments[first].droppable = nil
        }
        let bytes: ByteBuffer
        if segments[first].byteCount <= limit {
            bytes = segments[first].bytes
            if segments[first].isShared { sharedBytes -= bytes.readableBytes }
            // Taken bytes are not kept.
            segments[first].bytes = ByteBuffer()
            first += 1
        } else {
            bytes = segments[first].bytes.readSlice(length: limit) ?? ByteBuffer()
            if segments[first].isShared { sharedBytes -= bytes.readableBytes }
        }
        byteCount -= bytes.readableBytes
        if answerBytes == 0, !signals.isEmpty { signals = [] }
        if sharedBytes == 0, !states.isEmpty { states = [] }
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

    /// Removes messages for which `isDropped` holds, unless a byte of them was taken; returns them in order.
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
