import NIOCore

/// What one connection is to be sent and its transport has not been given: frames in their order.
///
/// Deltas are known apart from answers and control frames, since they alone may be dropped. Owns no memory while it is
/// empty.
struct Outbox {
    /// A delta that waits.
    struct QueuedDelta {
        /// The followers of its room.
        let followers: RoomFollowers
        /// Its first event.
        let from: Int
        /// Where it begins and ends, in bytes since the connection's beginning.
        fileprivate let range: Range<Int>

        /// How many bytes it has.
        var byteCount: Int { range.count }
    }

    /// The most bytes that the transport is given at a time.
    static let chunkLimit = 32_768

    private var bytes = ByteBuffer()
    private var deltas: [QueuedDelta] = []
    /// Bytes that were taken since the connection's beginning.
    private var taken = 0
    /// How many of the bytes are deltas'.
    private(set) var deltaBytes = 0

    /// Whether nothing waits.
    var isEmpty: Bool { bytes.readableBytes == 0 }
    /// How many bytes wait.
    var byteCount: Int { bytes.readableBytes }
    /// How many bytes wait that cannot be dropped.
    var answerBytes: Int { bytes.readableBytes - deltaBytes }

    /// Adds a frame that must reach the peer.
    mutating func append(_ frame: ByteBuffer) {
        if bytes.readableBytes == 0, bytes.storageCapacity == 0 {
            bytes = frame
        } else {
            bytes.writeImmutableBuffer(frame)
        }
    }

    /// Adds a delta.
    mutating func append(_ frame: ByteBuffer, of followers: RoomFollowers, from: Int) {
        let start = taken + bytes.readableBytes
        append(frame)
        deltas.append(
            QueuedDelta(followers: followers, from: from, range: start..<start + frame.readableBytes))
        deltaBytes += frame.readableBytes
    }

    /// Takes the first bytes, at most ``chunkLimit``.
    mutating func takeChunk() -> ByteBuffer {
        guard bytes.readableBytes > Self.chunkLimit else { return takeAll() }
        // Copied, so that what comes later is not written into shared memory.
        let chunk = bytes.readSlice(length: Self.chunkLimit).map { ByteBuffer(bytes: $0.readableBytesView) }
        bytes.discardReadBytes()
        taken += Self.chunkLimit
        let begun = deltas.prefix { $0.range.lowerBound < taken }
        deltaBytes = deltas[begun.endIndex...].reduce(0) { $0 + $1.range.count }
        deltas.removeFirst(begun.count)
        return chunk ?? ByteBuffer()
    }

    /// Takes all bytes.
    mutating func takeAll() -> ByteBuffer {
        // Grown storage is not handed on with the few bytes that are left in it.
        let isMostlyEmpty = bytes.storageCapacity > 2 * max(bytes.readableBytes, Self.chunkLimit)
        let all = isMostlyEmpty ? ByteBuffer(bytes: bytes.readableBytesView) : bytes
        taken += all.readableBytes
        bytes = ByteBuffer()
        if !deltas.isEmpty { deltas = [] }
        deltaBytes = 0
        return all
    }

    /// Removes the deltas for which `isDropped` holds and of which no byte was taken, and returns them in their order.
    mutating func dropDeltas(where isDropped: (QueuedDelta) -> Bool = { _ in true }) -> [QueuedDelta] {
        let dropped = deltas.filter(isDropped)
        guard !dropped.isEmpty else { return [] }
        var rest = ByteBuffer()
        rest.reserveCapacity(bytes.readableBytes - dropped.reduce(0) { $0 + $1.range.count })
        var kept: [QueuedDelta] = []
        var (position, gone) = (taken, 0)
        for delta in deltas {
            if isDropped(delta) {
                copy(from: position, to: delta.range.lowerBound, into: &rest)
                position = delta.range.upperBound
                gone += delta.range.count
            } else {
                let range = delta.range.lowerBound - gone..<delta.range.upperBound - gone
                kept.append(QueuedDelta(followers: delta.followers, from: delta.from, range: range))
            }
        }
        copy(from: position, to: taken + bytes.readableBytes, into: &rest)
        bytes = rest.readableBytes == 0 ? ByteBuffer() : rest
        deltas = kept
        deltaBytes -= gone
        return dropped
    }

    private func copy(from start: Int, to end: Int, into target: inout ByteBuffer) {
        guard let slice = bytes.getSlice(at: bytes.readerIndex + start - taken, length: end - start) else { return }
        target.writeImmutableBuffer(slice)
    }
}
