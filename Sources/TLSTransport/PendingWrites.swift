internal import NIOCore

/// The writes that a handler has accepted and not encrypted yet, in order.
///
/// Writes before the mark have been flushed and go out; those after it wait for their flush. Owns no memory while it is
/// empty.
struct PendingWrites {
    private struct Write {
        var bytes: ByteBuffer
        let promise: EventLoopPromise<Void>?
    }

    /// Plaintext bytes held.
    private(set) var byteCount = 0

    private var writes: [Write] = []
    private var head = 0
    private var mark = 0

    /// Whether nothing is held, not even a write without bytes.
    var isEmpty: Bool { head == writes.count }

    /// Whether something is held that has been flushed.
    var hasFlushed: Bool { head < mark }

    /// Holds `bytes` until the next flush.
    mutating func append(_ bytes: ByteBuffer, promise: EventLoopPromise<Void>?) {
        byteCount += bytes.readableBytes
        writes.append(Write(bytes: bytes, promise: promise))
    }

    /// Marks everything held as flushed.
    mutating func flush() {
        mark = writes.count
    }

    /// Returns the first flushed bytes, at most `limit`, without removing them; empty if there are none.
    ///
    /// Returns a write's own storage if one write fills the record or is the only one; otherwise short writes are
    /// copied one after the other into `joined`.
    func next(limit: Int, joiningIn joined: inout ByteBuffer) -> ByteBuffer {
        guard hasFlushed else { return ByteBuffer() }
        let first = writes[head].bytes
        if first.readableBytes >= limit || head + 1 == mark {
            return first.getSlice(at: first.readerIndex, length: min(limit, first.readableBytes)) ?? first
        }
        joined.clear(minimumCapacity: limit)
        for write in writes[head..<mark] {
            let room = limit - joined.readableBytes
            if room == 0 { break }
            joined.writeBytes(write.bytes.readableBytesView.prefix(room))
        }
        return joined
    }

    /// Removes the first `count` flushed bytes, and returns the promise of the writes that end within them.
    ///
    /// `nil` if none of them has one. Completing it completes the promises of all these writes.
    mutating func remove(_ count: Int) -> EventLoopPromise<Void>? {
        byteCount -= count
        var left = count
        var promise: EventLoopPromise<Void>?
        while head < mark {
            let length = writes[head].bytes.readableBytes
            guard length <= left else {
                writes[head].bytes.moveReaderIndex(forwardBy: left)
                break
            }
            left -= length
            promise = promise.joined(with: writes[head].promise)
            head += 1
        }
        if isEmpty {
            reset()
        } else if head == mark {
            // The remaining writes have not been flushed: this is rare, and they are short.
            writes.removeFirst(head)
            head = 0
            mark = 0
        }
        return promise
    }

    /// Removes everything and fails the promises.
    mutating func fail(_ error: any Error) {
        let failed = writes[head...]
        reset()
        for write in failed { write.promise?.fail(error) }
    }

    private mutating func reset() {
        writes = []
        head = 0
        mark = 0
        byteCount = 0
    }
}

extension EventLoopPromise<Void>? {
    /// Returns a promise whose completion completes both; `nil` if neither exists.
    func joined(with other: Self) -> Self {
        guard let self else { return other }
        if let other { self.futureResult.cascade(to: other) }
        return self
    }
}
