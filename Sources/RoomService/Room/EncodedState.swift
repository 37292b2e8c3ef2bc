import NIOCore
import RoomDomain
import RoomWire

/// A room's encoded state, with the room state that it shows.
///
/// A class, because a room state has hundreds of bytes, and this is passed on often.
final class EncodedState: Equatable, Sendable {
    let shared: SharedState
    let room: RoomState

    init(shared: SharedState, room: RoomState) {
        self.shared = shared
        self.room = room
    }

    static func == (left: EncodedState, right: EncodedState) -> Bool {
        left === right || left.shared == right.shared && left.room == right.room
    }
}

/// An encoding of a long state, outside the event loop; a class for the same reason.
final class EncodingJob: Sendable {
    /// The state's plain form, if it is encoded already.
    let known: SharedState?
    let room: RoomState
    /// The epoch of the log at whose position the state is.
    let epoch: String
    /// Makes the compressed form; nil if nobody needs it.
    let compress: (@Sendable (ByteBuffer) -> ByteBuffer?)?

    init(
        known: SharedState?, room: RoomState, epoch: String, compress: (@Sendable (ByteBuffer) -> ByteBuffer?)?
    ) {
        self.known = known
        self.room = room
        self.epoch = epoch
        self.compress = compress
    }

    /// Makes the state.
    func run(countingIn metrics: RoomMetrics) -> EncodedState {
        let state = known ?? SharedState(seq: room.seq, StateJSON.encode(room))
        if known == nil { metrics.stateEncoded() }
        if let compress { _ = state.compressed(by: compress) }
        return EncodedState(shared: state, room: room)
    }
}

extension RoomState {
    /// An estimate of the bytes in its JSON, which is rather too high than too low.
    var estimatedStateBytes: Int {
        1_024 + poolCharge + members.count * 96 + queue.count * 64 + history.count * 512
    }
}
