import NIOCore
import RoomDomain
import RoomWire

/// A room's encoded state, with the room state that it shows.
struct EncodedState: Sendable {
    let shared: SharedState
    let room: RoomState
}

/// The requests that wait for a long state to be encoded.
///
/// A room has one encoding under way at a time, which all waiting requests share.
struct StateEncoding {
    struct Waiter {
        /// The position that the state must have reached.
        var seq: Int
        /// The connection that waits; nil for a look at the room.
        let connection: ConnectionID?
        /// Whether the compressed form is needed too.
        let compressed: Bool
        let done: @Sendable (isolated LiveRoom, EncodedState?) -> Void
    }

    var waiters: [Waiter] = []
    var isUnderWay = false
}

extension LiveRoom {
    /// Calls `done`, on the room's loop, with a state that is at least at the room's present position; with nil if
    /// there is none.
    ///
    /// A state is encoded once for each position. A short one is encoded and given at once; a long one is encoded, and
    /// compressed where a client wants that, outside the loop.
    func withState(
        compressed: Bool, for connection: ConnectionID? = nil,
        _ done: @escaping @Sendable (isolated LiveRoom, EncodedState?) -> Void
    ) {
        let isLong = confirmed.estimatedStateBytes > dependencies.settings.longStateBytes
        if let state = encodedState, state.seq == confirmed.seq, !isLong || !compressed || state.isCompressed {
            return done(self, EncodedState(shared: state, room: confirmed))
        }
        guard isLong else {
            let state = SharedState(seq: confirmed.seq, StateJSON.encode(confirmed))
            dependencies.metrics.stateEncoded()
            encodedState = state
            return done(self, EncodedState(shared: state, room: confirmed))
        }
        encoding.waiters.append(
            StateEncoding.Waiter(
                seq: confirmed.seq, connection: connection, compressed: compressed, done: done))
        encodeNext()
    }

    private func encodeNext() {
        guard !encoding.isUnderWay, !encoding.waiters.isEmpty else { return }
        encoding.isUnderWay = true
        let compresses = encoding.waiters.contains(where: \.compressed)
        let known = encodedState.flatMap { $0.seq == confirmed.seq ? $0 : nil }
        let (room, epoch, compress) = (confirmed, epoch, dependencies.settings.compressState)
        let metrics = dependencies.metrics
        dependencies.heavyWork.start(.encoding, thenOn: loop) {
            let state = known ?? SharedState(seq: room.seq, StateJSON.encode(room))
            if known == nil { metrics.stateEncoded() }
            if compresses { _ = state.compressed(by: compress) }
            return EncodedState(shared: state, room: room)
        } _: { result in
            self.assumeIsolated { $0.encoded(result, compressed: compresses, in: epoch) }
        }
    }

    private func encoded(
        _ result: Result<EncodedState, HeavyWorkRefusal>, compressed: Bool, in epoch: String
    ) {
        encoding.isUnderWay = false
        guard !isForgotten, case .success(let state) = result else { return giveUpEncoding() }
        guard epoch == self.epoch, mayStillBeShown(state.room) else { return encodeNext() }
        if state.shared.seq == confirmed.seq { encodedState = state.shared }
        // One at a time: an answer may raise the position that the same connection's next one must have.
        var index = 0
        while index < encoding.waiters.count {
            let waiter = encoding.waiters[index]
            if waiter.seq <= state.shared.seq, compressed || !waiter.compressed {
                encoding.waiters.remove(at: index)
                waiter.done(self, state)
            } else {
                index += 1
            }
        }
        encodeNext()
    }

    /// Whether nothing in a state was removed since: names by forgetting the room, a location by clearing it.
    private func mayStillBeShown(_ room: RoomState) -> Bool {
        room.redaction == confirmed.redaction
    }

    /// Records that a connection was given all events up to `seq`, so that no state it waits for goes back behind that.
    func given(_ seq: Int, to connection: ConnectionID) {
        for index in encoding.waiters.indices where encoding.waiters[index].connection == connection {
            encoding.waiters[index].seq = max(seq, encoding.waiters[index].seq)
        }
    }

    /// The log was replaced: any position of the new one suffices for the waiting requests.
    func encodeAnew() {
        encodedState = nil
        for index in encoding.waiters.indices { encoding.waiters[index].seq = 0 }
    }

    /// Answers the requests for a state that will not be encoded.
    private func giveUpEncoding() {
        let waiters = encoding.waiters
        encoding.waiters = []
        for waiter in waiters { waiter.done(self, nil) }
    }
}

extension RoomState {
    /// An estimate of the bytes in its JSON, which is rather too high than too low.
    var estimatedStateBytes: Int {
        1_024 + poolCharge + members.count * 96 + queue.count * 64 + history.count * 512
    }
}
