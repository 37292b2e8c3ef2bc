import NIOCore
import RoomDomain
import RoomWire

/// A room's state, encoded, and the room that it was.
struct EncodedState: Sendable {
    let shared: SharedState
    let room: RoomState
}

/// What waits for a long state to be encoded: one encoding of a room is under way at a time, and all who wait share it.
struct StateEncoding {
    struct Waiter {
        /// The position that the state must have reached.
        var seq: Int
        /// Who waits; nil for a look.
        let connection: ConnectionID?
        /// Whether the compressed form is wanted too.
        let compressed: Bool
        let done: @Sendable (isolated LiveRoom, EncodedState?) -> Void
    }

    var waiters: [Waiter] = []
    var isUnderWay = false
}

extension LiveRoom {
    /// Calls `done`, on the room's loop, with the state of a position that is at least the room's of now; with nil where
    /// none can be had.
    ///
    /// A state is encoded once a position. A short one is encoded and given at once; a long one is encoded, and
    /// compressed where somebody wants that, beside the loop.
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
        guard condition != .forgotten, case .success(let state) = result else { return giveUpEncoding() }
        guard epoch == self.epoch, mayStillBeShown(state.room) else { return encodeNext() }
        if state.shared.seq == confirmed.seq { encodedState = state.shared }
        // One after the other: an answer may raise what the same connection's next one must have.
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

    /// Whether nothing of a state was taken away since: names by forgetting, a location by clearing it.
    private func mayStillBeShown(_ room: RoomState) -> Bool {
        room.redaction == confirmed.redaction
    }

    /// A connection was given all events up to `seq`: nothing that it waits for goes back behind it.
    func given(_ seq: Int, to connection: ConnectionID) {
        for index in encoding.waiters.indices where encoding.waiters[index].connection == connection {
            encoding.waiters[index].seq = max(seq, encoding.waiters[index].seq)
        }
    }

    /// The log is another one: whatever position it has, it is what those who wait are given.
    func encodeAnew() {
        encodedState = nil
        for index in encoding.waiters.indices { encoding.waiters[index].seq = 0 }
    }

    /// Answers whoever waits for a state that nobody will encode.
    private func giveUpEncoding() {
        let waiters = encoding.waiters
        encoding.waiters = []
        for waiter in waiters { waiter.done(self, nil) }
    }
}

extension RoomState {
    /// About how many bytes its JSON has, more rather than fewer.
    var estimatedStateBytes: Int {
        1_024 + poolCharge + members.count * 96 + queue.count * 64 + history.count * 512
    }
}
