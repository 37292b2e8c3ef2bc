package import RoomDomain
package import RoomWire

/// What a person has done and the room has not confirmed: shown at once, on top of the replica.
///
/// An effect lasts until its command is refused, or until it is acknowledged *and* the replica has reached the position
/// of the acknowledgement. Answer and events come in either order, and between them nothing flickers: each effect
/// changes nothing where the replica has the change already.
package struct Overlay: Sendable, Equatable {
    /// The parts of a room that effects touch.
    package struct Touched: Sendable, Equatable {
        package var votes: Set<TrackID> = []
        package var queue = false
        package var playback = false
        package var name = false

        static let nothing = Touched()

        package init(votes: Set<TrackID> = [], queue: Bool = false, playback: Bool = false, name: Bool = false) {
            (self.votes, self.queue, self.playback, self.name) = (votes, queue, playback, name)
        }

        mutating func formUnion(_ other: Touched) {
            votes.formUnion(other.votes)
            queue = queue || other.queue
            playback = playback || other.playback
            name = name || other.name
        }
    }

    struct Effect: Sendable, Equatable {
        var number: CommandNumber
        var shown: Shown
        /// The server's time when the command was given; nil if it was not known.
        var at: Timestamp?
        /// The position of its acknowledgement; nil before it.
        var seq: Int?
        /// Whether the entry of an `enqueue` is in the replica, although the answer has not come.
        var isEntered = false
    }

    /// In the order of the calls.
    private(set) var effects: [Effect] = []

    package init() {}

    package var isEmpty: Bool { effects.isEmpty }

    /// The tracks whose votes effects touch.
    var touchedVotes: Set<TrackID> { effects.reduce(into: []) { $0.formUnion($1.shown.touched.votes) } }

    /// Shows a command that was just given.
    package mutating func add(_ command: OutboxCommand, at serverTime: Timestamp?) -> Touched {
        guard let shown = Shown(command.command) else { return .nothing }
        effects.append(Effect(number: command.number, shown: shown, at: serverTime))
        return shown.touched
    }

    /// Takes the effect of a command back that was not carried out, or whose outcome nobody knows.
    package mutating func remove(_ number: CommandNumber) -> Touched {
        guard let index = effects.firstIndex(where: { $0.number == number }) else { return .nothing }
        return effects.remove(at: index).shown.touched
    }

    /// A command is durable at `seq`; the replica has reached `reached`.
    package mutating func acknowledged(
        _ number: CommandNumber, seq: Int, entry: EntryID?, reached: Int
    ) -> Touched {
        guard let index = effects.firstIndex(where: { $0.number == number }) else { return .nothing }
        effects[index].seq = seq
        if let entry { name(entry, for: number.entry) }
        return self.reached(reached)
    }

    /// The replica has reached a position: the effects of what is in it end.
    package mutating func reached(_ seq: Int) -> Touched {
        var touched = Touched.nothing
        effects.removeAll { effect in
            guard let end = effect.seq, end <= seq else { return false }
            touched.formUnion(effect.shown.touched)
            return true
        }
        return touched
    }

    /// The replica has another epoch: acknowledgements of the earlier one say nothing about it.
    package mutating func began() {
        effects.removeAll { $0.seq != nil }
        for index in effects.indices { effects[index].isEntered = false }
    }

    /// The replica takes an event in: the entry of one's own `enqueue` may come before the answer.
    package mutating func sees(_ event: ShownEvent, of me: MemberID?) {
        guard !effects.isEmpty, case .known(let recorded) = event,
            case .entryEnqueued(_, let track, _, let by?, _) = recorded.event, by == me
        else { return }
        let index = effects.firstIndex { effect in
            if case .enqueue(track, _) = effect.shown { !effect.isEntered && effect.seq == nil } else { false }
        }
        if let index { effects[index].isEntered = true }
    }

    /// Other effects that name the entry under way are for the entry that the room has given.
    private mutating func name(_ entry: EntryID, for shown: EntryID) {
        for index in effects.indices {
            effects[index].shown = effects[index].shown.naming(entry, insteadOf: shown)
        }
    }
}
