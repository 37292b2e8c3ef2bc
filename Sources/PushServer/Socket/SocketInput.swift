import NIOCore
import RoomService
import WebSocketCodec

/// The input of one socket that was read and is not handled: bytes that wait for their turn, and incomplete messages.
///
/// What it reads is counted as frames, which the socket's budget allows or refuses; what it holds is charged.
struct SocketInput: ~Copyable {
    /// What a change of the held bytes means.
    enum Charge: Equatable {
        /// The charge is as before.
        case unchanged
        /// The charge has changed to ``SocketInput/charged``.
        case changed
        /// The limits do not allow what is held: it was dropped, and the socket closes.
        case refused
    }

    /// The bytes that count as one frame: of input, and of an answer, which was encoded once for all.
    private static let (bytesOfOneFrame, answeredBytesOfOneFrame) = (1_024, 4_096)

    private var reader: MessageReader
    private var budget: MessageBudget
    private var waiting = ByteBuffer()
    /// The held bytes that are charged.
    private(set) var charged = 0

    init(_ reader: consuming MessageReader, _ budget: MessageBudget) {
        self.reader = reader
        self.budget = budget
    }

    // MARK: Bytes that wait

    /// Whether no bytes wait for their turn.
    var isEmpty: Bool { waiting.readableBytes == 0 }

    /// Adds bytes behind those that wait.
    mutating func append(_ bytes: inout ByteBuffer) {
        if isEmpty { waiting = bytes } else { waiting.writeBuffer(&bytes) }
    }

    /// Takes the bytes that wait.
    mutating func take() -> ByteBuffer {
        defer { waiting = ByteBuffer() }
        return waiting
    }

    /// Drops the bytes that wait.
    mutating func drop() { waiting = ByteBuffer() }

    // MARK: Reading

    /// Reads until a message or control frame is complete; nil if `bytes` end before that.
    ///
    /// `frames` is what the reading counts as: each complete frame, and one for each KiB of the larger of a message's two
    /// lengths, on the wire and inflated.
    mutating func read(
        _ bytes: inout ByteBuffer
    ) throws(FrameViolation) -> (step: MessageReader.Step?, frames: Int) {
        let step = try reader.receive(&bytes)
        let cost = reader.takeCost()
        return (step, cost.frames + cost.bytes / Self.bytesOfOneFrame)
    }

    /// Counts frames.
    mutating func count(_ frames: Int, perSecond: Int, at now: NIODeadline) -> MessageBudget.Verdict {
        budget.take(frames, perSecond: perSecond, at: now)
    }

    /// Counts an answer beyond an ordinary one, which may overdraw the budget.
    mutating func count(answerOf bytes: Int, perSecond: Int, at now: NIODeadline) {
        _ = budget.take(bytes / Self.answeredBytesOfOneFrame, perSecond: perSecond, at: now)
    }

    // MARK: Held bytes

    /// Charges what is held, mainly incomplete messages; `allows` says whether so many bytes more may be held.
    ///
    /// If they may not, the reader is replaced by `fresh`, and everything is dropped.
    mutating func charge(allows: (Int) -> Bool, fresh: () -> MessageReader) -> Charge {
        let held = reader.heldCapacity + waiting.readableBytes
        guard held >= WaitingBytes.step || charged > 0 else { return .unchanged }
        guard held <= charged || allows(held - charged) else {
            reader = fresh()
            waiting = ByteBuffer()
            charged = 0
            return .refused
        }
        charged = held
        return .changed
    }
}
