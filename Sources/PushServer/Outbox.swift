import NIOCore
import RoomService

/// What one connection is to be sent and its transport has not been given: frames in their order.
///
/// Deltas and live messages are known apart from answers and control frames, since they alone may be dropped. Owns no
/// memory while it is empty.
struct Outbox {
    /// What all followers of a room get.
    enum Kind {
        case delta
        case live(LiveMessage.Kind)
    }

    /// A delta or live message that waits.
    struct Droppable {
        /// What it is.
        let kind: Kind
        /// The followers of its room.
        let followers: RoomFollowers
        /// Its first event; of a live message, the first that comes after it.
        let from: Int
        /// Where it begins and ends, in bytes since the connection's beginning.
        fileprivate let range: Range<Int>

        /// How many bytes it has.
        var byteCount: Int { range.count }
    }

    /// The most bytes that the transport is given at a time.
    static let chunkLimit = 32_768

    private var bytes = ByteBuffer()
    private var droppables: [Droppable] = []
    /// Bytes that were taken since the connection's beginning.
    private var taken = 0
    /// How many of the bytes may be dropped.
    private(set) var droppableBytes = 0

    /// Whether nothing waits.
    var isEmpty: Bool { bytes.readableBytes == 0 }
    /// How many bytes wait.
    var byteCount: Int { bytes.readableBytes }
    /// How many bytes wait that cannot be dropped.
    var answerBytes: Int { bytes.readableBytes - droppableBytes }

    /// Adds a frame that must reach the peer.
    mutating func append(_ frame: ByteBuffer) {
        if bytes.readableBytes == 0, bytes.storageCapacity == 0 {
            bytes = frame
        } else {
            bytes.writeImmutableBuffer(frame)
        }
    }

    /// Adds a delta or live message.
    mutating func append(_ frame: ByteBuffer, _ kind: Kind, of followers: RoomFollowers, from: Int) {
        let start = taken + bytes.readableBytes
        append(frame)
        droppables.append(
            Droppable(kind: kind, followers: followers, from: from, range: start..<start + frame.readableBytes))
        droppableBytes += frame.readableBytes
    }

    /// Takes the first bytes, at most ``chunkLimit``.
    mutating func takeChunk() -> ByteBuffer {
        guard bytes.readableBytes > Self.chunkLimit else { return takeAll() }
        // Copied, so that what comes later is not written into shared memory.
        let chunk = bytes.readSlice(length: Self.chunkLimit).map { ByteBuffer(bytes: $0.readableBytesView) }
        bytes.discardReadBytes()
        taken += Self.chunkLimit
        let begun = droppables.prefix { $0.range.lowerBound < taken }
        droppableBytes = droppables[begun.endIndex...].reduce(0) { $0 + $1.range.count }
        droppables.removeFirst(begun.count)
        return chunk ?? ByteBuffer()
    }

    /// Takes all bytes.
    mutating func takeAll() -> ByteBuffer {
        // Grown storage is not handed on with the few bytes that are left in it.
        let isMostlyEmpty = bytes.storageCapacity > 2 * max(bytes.readableBytes, Self.chunkLimit)
        let all = isMostlyEmpty ? ByteBuffer(bytes: bytes.readableBytesView) : bytes
        taken += all.readableBytes
        bytes = ByteBuffer()
        if !droppables.isEmpty { droppables = [] }
        droppableBytes = 0
        return all
    }

    /// Removes what may be dropped, for which `isDropped` holds, and of which no byte was taken; returns it in its order.
    mutating func drop(where isDropped: (Droppable) -> Bool = { _ in true }) -> [Droppable] {
        let dropped = droppables.filter(isDropped)
        guard !dropped.isEmpty else { return [] }
        var rest = ByteBuffer()
        rest.reserveCapacity(bytes.readableBytes - dropped.reduce(0) { $0 + $1.range.count })
        var kept: [Droppable] = []
        var (position, gone) = (taken, 0)
        for item in droppables {
            if isDropped(item) {
                copy(from: position, to: item.range.lowerBound, into: &rest)
                position = item.range.upperBound
                gone += item.range.count
            } else {
                let range = item.range.lowerBound - gone..<item.range.upperBound - gone
                kept.append(Droppable(kind: item.kind, followers: item.followers, from: item.from, range: range))
            }
        }
        copy(from: position, to: taken + bytes.readableBytes, into: &rest)
        bytes = rest.readableBytes == 0 ? ByteBuffer() : rest
        droppables = kept
        droppableBytes -= gone
        return dropped
    }

    private func copy(from start: Int, to end: Int, into target: inout ByteBuffer) {
        guard let slice = bytes.getSlice(at: bytes.readerIndex + start - taken, length: end - start) else { return }
        target.writeImmutableBuffer(slice)
    }
}
