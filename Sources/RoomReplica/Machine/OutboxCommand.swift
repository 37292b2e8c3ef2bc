package import RoomDomain
package import RoomWire

/// The number of a command on this device: greater than those of all earlier ones.
package struct CommandNumber: Hashable, Comparable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) {
        self.rawValue = rawValue
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The number of the entry that an `enqueue` shows until the room has given it its own: below zero, as no room's.
    package var entry: EntryID { EntryID(rawValue: -rawValue) }
}

/// A command that waits for its answer, with everything that is kept of it on the device.
package struct OutboxCommand: Sendable, Equatable {
    /// What the client knew when it first sent the command.
    package struct Sending: Sendable, Equatable {
        /// The room's epoch.
        package var epoch: String
        /// The newest count of keyed commands; nil if it knew none.
        package var keyed: Int?

        package init(epoch: String, keyed: Int?) {
            self.epoch = epoch
            self.keyed = keyed
        }
    }

    /// Its number on this device.
    package var number: CommandNumber
    /// The room that it is for.
    package var room: RoomReference
    /// The key under which it is sent, every time.
    package var key: String
    /// The command.
    package var command: RoomCommand
    /// The time after which it is not sent any more, by the device's wall clock.
    package var expiresAt: Timestamp
    /// Whether it is kept on the device until it is answered.
    package var isKept: Bool
    /// What the client knew when it first sent the command; nil: it has never been sent.
    package var sending: Sending?

    package init(
        number: CommandNumber, room: RoomReference, key: String, command: RoomCommand, expiresAt: Timestamp,
        isKept: Bool, sending: Sending? = nil
    ) {
        self.number = number
        self.room = room
        self.key = key
        self.command = command
        self.expiresAt = expiresAt
        self.isKept = isKept
        self.sending = sending
    }
}

/// What became of a command.
package enum CommandAnswer: Sendable, Equatable {
    /// It was carried out and is durable.
    case acknowledged(seq: Int, CommandResult?)
    /// The answer is no; nothing was changed.
    case refused(Refusal)
    /// It was never sent: a later command on this device took its effect back, or says the same.
    case superseded
    /// It was never sent, and it is too late for it now.
    case expired
    /// It was sent, and nobody can say whether it was carried out; it is not sent again.
    case outcomeUnknown
}

extension RoomCommand {
    /// How long the command is worth sending.
    ///
    /// A live control is good for ten seconds: a pause of an hour ago must not stop the party, and the end of a song must
    /// not be logged an hour late. Others are good for a day.
    var lifetimeMs: Int64 {
        switch self {
        case .play, .pause, .resume, .seek, .skip, .finish: 10_000
        case .join, .leave, .rename, .updateRoom, .closeRoom, .setRole, .transferOwnership, .kick, .unban, .addTracks,
            .removeTracks, .setWaveform, .setDuration, .setMissing, .vote, .unvote, .enqueue, .dequeue, .move,
            .voteSkip, .unvoteSkip, .syncDeck, .countSkipVotes, .replaceOwner, .endMembership:
            86_400_000
        }
    }

    /// Whether carrying the command out a second time does no harm, although the room has forgotten its key.
    var isHarmlessToRepeat: Bool {
        switch self {
        case .vote, .unvote, .voteSkip, .unvoteSkip, .finish, .dequeue, .removeTracks, .rename, .leave, .syncDeck,
            .setDuration, .setMissing:
            true
        // An entry that has left the air does not come back.
        case .skip(let entry): entry != nil
        case .join, .updateRoom, .closeRoom, .setRole, .transferOwnership, .kick, .unban, .addTracks, .setWaveform,
            .enqueue, .move, .play, .pause, .resume, .seek, .countSkipVotes, .replaceOwner, .endMembership:
            false
        }
    }

    /// The entry that the command names, apart from a deck's.
    var namedEntry: EntryID? {
        switch self {
        case .dequeue(let entry), .move(let entry, _), .finish(let entry, _), .voteSkip(let entry),
            .unvoteSkip(let entry):
            entry
        case .play(let entry), .pause(let entry), .resume(let entry), .seek(_, let entry), .skip(let entry): entry
        case .join, .leave, .rename, .updateRoom, .closeRoom, .setRole, .transferOwnership, .kick, .unban, .addTracks,
            .removeTracks, .setWaveform, .setDuration, .setMissing, .vote, .unvote, .enqueue, .syncDeck,
            .countSkipVotes, .replaceOwner, .endMembership:
            nil
        }
    }

    /// The same command for another entry.
    func naming(_ entry: EntryID) -> RoomCommand {
        switch self {
        case .dequeue: .dequeue(entry: entry)
        case .move(_, let index): .move(entry: entry, index: index)
        case .play: .play(entry: entry)
        case .pause: .pause(entry: entry)
        case .resume: .resume(entry: entry)
        case .seek(let positionMs, _): .seek(positionMs: positionMs, entry: entry)
        case .skip: .skip(entry: entry)
        case .finish(_, let isMissing): .finish(entry: entry, isMissing: isMissing)
        case .voteSkip: .voteSkip(entry: entry)
        case .unvoteSkip: .unvoteSkip(entry: entry)
        case .join, .leave, .rename, .updateRoom, .closeRoom, .setRole, .transferOwnership, .kick, .unban, .addTracks,
            .removeTracks, .setWaveform, .setDuration, .setMissing, .vote, .unvote, .enqueue, .syncDeck,
            .countSkipVotes, .replaceOwner, .endMembership:
            self
        }
    }

    /// The track that the command votes for or takes a vote from.
    var votedTrack: TrackID? {
        switch self {
        case .vote(let track), .unvote(let track): track
        case .join, .leave, .rename, .updateRoom, .closeRoom, .setRole, .transferOwnership, .kick, .unban, .addTracks,
            .removeTracks, .setWaveform, .setDuration, .setMissing, .enqueue, .dequeue, .move, .play, .pause, .resume,
            .seek, .skip, .finish, .voteSkip, .unvoteSkip, .syncDeck, .countSkipVotes, .replaceOwner, .endMembership:
            nil
        }
    }
}
