import NIOCore
import NIOHTTP1

/// The parts of one answer that the transport has not been given, in their order.
///
/// Bodies are held as they came, mostly one buffer that may be shared by many answers, and leave in slices of it: nothing
/// is copied for a connection but what its transport holds.
struct AnswerQueue {
    private var parts: [HTTPServerResponsePart] = []

    /// The most bytes of bodies that are handed on at a time.
    static let sliceLength = 16_384

    /// Whether nothing waits.
    var isEmpty: Bool { parts.isEmpty }
    /// Bytes of bodies that wait.
    private(set) var byteCount = 0

    /// Adds a part.
    mutating func append(_ part: HTTPServerResponsePart) {
        if case .body(let body) = part {
            guard body.readableBytes > 0 else { return }
            byteCount += body.readableBytes
        }
        parts.append(part)
    }

    /// Takes the first parts, up to a slice of bodies; how many bytes of bodies are in them.
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

    /// Forgets everything.
    mutating func removeAll() {
        parts = []
        byteCount = 0
    }
}
