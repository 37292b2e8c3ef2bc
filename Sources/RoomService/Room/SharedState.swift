package import NIOCore
import Synchronization

/// `State` as JSON at one position of a room: encoded once, and shared by everybody who is given it.
///
/// Its compressed form is made at most once, when it is first needed.
package final class SharedState: Equatable, Sendable {
    private enum Compressed {
        case unmade
        /// Nil if it would not be shorter.
        case made(ByteBuffer?)
    }

    /// Distinguishes it from all other states of the process, past ones included.
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

    /// Compares position and JSON; the compressed form follows from these.
    package static func == (one: SharedState, other: SharedState) -> Bool {
        one === other || one.seq == other.seq && one.plain == other.plain
    }

    /// The JSON, copied.
    package var json: [UInt8] { Array(buffer: plain) }

    /// Whether its compressed form was made, or is known to be no shorter.
    package var isCompressed: Bool {
        compressed.withLock { if case .made = $0 { true } else { false } }
    }

    /// The compressed form; nil if it is no shorter.
    ///
    /// `compress` makes it on the first call, while other callers wait.
    package func compressed(by compress: (ByteBuffer) -> ByteBuffer?) -> ByteBuffer? {
        compressed.withLock { state in
            if case .made(let bytes) = state { return bytes }
            let bytes = compress(plain)
            state = .made(bytes)
            return bytes
        }
    }
}

/// One text message of a room to a connection: either its own bytes, or its own bytes around a shared state.
package struct RoomMessage: Equatable, Sendable {
    /// The message, or its part before the state.
    package let head: [UInt8]
    /// The shared state; nil if there is none.
    package let state: SharedState?
    /// The part after the state.
    package let tail: [UInt8]

    /// Makes a message without a shared state.
    package init(_ message: [UInt8]) {
        self.init(head: message, state: nil, tail: [])
    }

    package init(head: [UInt8], state: SharedState?, tail: [UInt8]) {
        self.head = head
        self.state = state
        self.tail = tail
    }

    /// The number of bytes in the text.
    package var count: Int { head.count + (state?.plain.readableBytes ?? 0) + tail.count }

    /// The whole text, copied into one array.
    package var bytes: [UInt8] {
        guard let state else { return head }
        return head + Array(buffer: state.plain) + tail
    }
}
