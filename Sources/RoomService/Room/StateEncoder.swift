import NIOCore
import RoomDomain
import RoomWire

/// Encodes a room's state once for each position, for all who need it.
///
/// A short state is encoded at once. A long one is encoded, and compressed where a client wants that, outside the event
/// loop. Invariants, which the tests cite by number:
///
/// 1. One encoding is under way at a time, which all waiting questions share.
/// 2. No question is given a state from before the position at which it was asked, or from before what its connection was
///    given in another way since (``given(_:to:)``).
/// 3. No question is given a state from which anything was removed since, or one of a log that was replaced.
/// 4. Each question that waits is taken out once.
struct StateEncoder<Question> {
    private struct Waiter {
        let question: Question
        /// The position that the state must have reached.
        var seq: Int
        /// The connection that waits; nil for a look at the room.
        let connection: ConnectionID?
        /// Whether the compressed form is needed too.
        let compressed: Bool
    }

    /// The state as JSON, if it was encoded at the room's present position.
    private var current: SharedState?
    private var waiters: [Waiter] = []
    private var isUnderWay = false
    private let longBytes: Int
    private let compress: @Sendable (ByteBuffer) -> ByteBuffer?
    private let metrics: RoomMetrics

    init(settings: RoomHostSettings, metrics: RoomMetrics) {
        longBytes = settings.answers.longStateBytes
        compress = settings.answers.compressState
        self.metrics = metrics
    }

    /// Whether no question waits.
    var isIdle: Bool { waiters.isEmpty }

    /// The room's state, if it can be given at once; otherwise nil, and the question waits for an encoding
    /// (``begin(_:in:)``).
    mutating func state(
        of room: RoomState, compressed: Bool, for question: @autoclosure () -> Question, of connection: ConnectionID?
    ) -> EncodedState? {
        let isLong = room.estimatedStateBytes > longBytes
        if let current, current.seq == room.seq, !isLong || !compressed || current.isCompressed {
            return EncodedState(shared: current, room: room)
        }
        guard isLong else {
            let state = SharedState(seq: room.seq, StateJSON.encode(room))
            metrics.stateEncoded()
            current = state
            return EncodedState(shared: state, room: room)
        }
        waiters.append(Waiter(question: question(), seq: room.seq, connection: connection, compressed: compressed))
        return nil
    }

    /// Begins an encoding of the room's present state; nil if one is under way, or no question waits.
    mutating func begin(_ room: RoomState, in epoch: String) -> EncodingJob? {
        guard !isUnderWay, !waiters.isEmpty else { return nil }
        isUnderWay = true
        return EncodingJob(
            known: current.flatMap { $0.seq == room.seq ? $0 : nil }, room: room, epoch: epoch,
            compress: waiters.contains(where: \.compressed) ? compress : nil)
    }

    /// The encoding has ended; returns whether its state may be given to those who wait.
    ///
    /// They are then taken out one at a time (``next(of:_:)``), and another encoding is begun for the others.
    mutating func ended(_ job: EncodingJob, with state: EncodedState, now room: RoomState, in epoch: String) -> Bool {
        isUnderWay = false
        // What may be removed are names, by forgetting the room, and a location, by clearing it.
        guard job.epoch == epoch, state.room.redaction == room.redaction else { return false }
        if state.shared.seq == room.seq { current = state.shared }
        return true
    }

    /// Takes out the next question that the state serves; nil if none is left.
    ///
    /// One at a time: an answer may raise the position that the same connection's next one must have.
    mutating func next(of job: EncodingJob, _ state: EncodedState) -> Question? {
        let index = waiters.firstIndex { $0.seq <= state.shared.seq && (job.compress != nil || !$0.compressed) }
        return index.map { waiters.remove(at: $0).question }
    }

    /// The encoding has ended without a state, or the room is gone: takes out the questions that wait.
    mutating func giveUp() -> [Question] {
        isUnderWay = false
        defer { waiters = [] }
        return waiters.map(\.question)
    }

    /// Records that a connection was given all events up to `seq`, so that no state it waits for goes back behind that.
    mutating func given(_ seq: Int, to connection: ConnectionID) {
        for index in waiters.indices where waiters[index].connection == connection {
            waiters[index].seq = max(seq, waiters[index].seq)
        }
    }

    /// The room has moved on.
    mutating func outdate() { current = nil }

    /// The log was replaced: any position of the new one suffices for the questions that wait.
    mutating func replaced() {
        current = nil
        for index in waiters.indices { waiters[index].seq = 0 }
    }
}
