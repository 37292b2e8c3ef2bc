import NIOCore
import NIOHTTP1

/// The parts of one answer that have not been given to the transport yet, in order.
///
/// Bodies are held as they came, mostly as one buffer that many answers may share, and are passed on in slices of it:
/// the only bytes copied for a connection are those that its transport holds.
struct AnswerQueue {
    private var parts: [HTTPServerResponsePart] = []

    /// The most bytes of bodies that are passed on at a time.
    static let sliceLength = 16_384

    /// Whether it is empty.
    var isEmpty: Bool { parts.isEmpty }
    /// The bytes of bodies that it holds.
    private(set) var byteCount = 0

    /// Adds a part.
    mutating func append(_ part: HTTPServerResponsePart) {
        if case .body(let body) = part {
            guard body.readableBytes > 0 else { return }
            byteCount += body.readableBytes
        }
        parts.append(part)
    }

    /// Removes the first parts, up to a slice of bodies; returns them and their bytes of bodies.
    mutating func takeSlice() -> (parts: [HTTPServerResponsePart], bytes: Int) {
        var taken: [HTTPServerResponsePart] = []
        var bytes = 0
        var count = 0
        taking: for part in parts {
            guard case .body(.byteBuffer(var body)) = part else {
                taken.append(part)
                count += 1
                continue
            }
            let room = Self.sliceLength - bytes
            if body.readableBytes <= room {
                taken.append(part)
                bytes += body.readableBytes
                count += 1
                continue
            }
            if room > 0, let slice = body.readSlice(length: room) {
                taken.append(.body(.byteBuffer(slice)))
                bytes += room
                parts[count] = .body(.byteBuffer(body))
            }
            break taking
        }
        parts.removeFirst(count)
        byteCount -= bytes
        return (taken, bytes)
    }

    /// Removes everything.
    mutating func removeAll() {
        parts = []
        byteCount = 0
    }
}
