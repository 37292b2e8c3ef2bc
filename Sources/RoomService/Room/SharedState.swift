package import NIOCore
import Synchronization

/// `State` as JSON at one position of a room: encoded once, and shared by everybody who is given it.
///
/// Its compressed form is made at most once, by who first wants it.
package final class SharedState: Sendable {
    private enum Compressed {
        case unmade
        /// Nil where it would not be shorter.
        case made(ByteBuffer?)
    }

    /// Tells it from all others of the process, also from those that are gone.
    package let number = count.add(1, ordering: .relaxed).newValue
    private static let count = Atomic<UInt64>(0)
    /// The last event in it.
    package let seq: Int
    /// The JSON.
    package let plain: ByteBuffer
    private let compressed = Mutex(Compressed.unmade)

    package init(seq: Int, plain: ByteBuffer) {
        self.seq = seq
        self.plain = plain
    }

    package convenience init(seq: Int, _ json: [UInt8]) {
        self.init(seq: seq, plain: ByteBuffer(bytes: json))
    }

    /// The JSON, copied.
    package var json: [UInt8] { Array(buffer: plain) }

    /// Whether its compressed form was made, or is known to be no shorter.
    package var isCompressed: Bool {
        compressed.withLock { if case .made = $0 { true } else { false } }
    }

    /// The compressed form; nil where it is no shorter.
    ///
    /// Where it is not made, `compress` makes it, while whoever else asks for it waits.
    package func compressed(by compress: (ByteBuffer) -> ByteBuffer?) -> ByteBuffer? {
        compressed.withLock { state in
            if case .made(let bytes) = state { return bytes }
            let bytes = compress(plain)
            state = .made(bytes)
            return bytes
        }
    }
}

/// One text message that a room gives to a connection: of its own, or around a state that others are given as well.
package struct RoomMessage: Sendable {
    /// The message, or what stands before the state.
    package let head: [UInt8]
    /// What is shared.
    package let state: SharedState?
    /// What stands behind the state.
    package let tail: [UInt8]

    /// A message of one connection's own.
    package init(_ message: [UInt8]) {
        self.init(head: message, state: nil, tail: [])
    }

    package init(head: [UInt8], state: SharedState?, tail: [UInt8]) {
        self.head = head
        self.state = state
        self.tail = tail
    }

    /// How many bytes the text has.
    package var count: Int { head.count + (state?.plain.readableBytes ?? 0) + tail.count }

    /// The whole text, copied together.
    package var bytes: [UInt8] {
        guard let state else { return head }
        return head + Array(buffer: state.plain) + tail
    }
}
