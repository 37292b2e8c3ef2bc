package import GeoSearch

/// A request to change a room.
///
/// Values are as the peer sent them: ``RoomState/decide(_:by:at:)`` checks them. A `note` is the reason that the sender
/// gives.
package enum RoomCommand: Sendable, Equatable {
    /// If the name is left out, the session's name is used.
    case join(name: String?)
    case leave
    case rename(name: String)
    case updateRoom(RoomUpdate)
    /// If `forget` is true, the room's location and its members' names are removed from the log too; this is also
    /// allowed in a room that is already closed.
    case closeRoom(forget: Bool, note: String? = nil)
    case setRole(member: MemberID, role: Role, note: String? = nil)
    case transferOwnership(member: MemberID, note: String? = nil)
    /// Kicks all of the members or none; with `durationMs`, bans end after that time.
    case kick(members: [MemberID], ban: Bool, durationMs: Int64? = nil, note: String?)
    case unban(member: MemberID, note: String? = nil)
    case addTracks([TrackInfo])
    case removeTracks([TrackID])
    /// Gives a track a waveform. The room holds its name only.
    case setWaveform(track: TrackID, waveform: Waveform)
    /// Gives a track the length that the deck has measured.
    case setDuration(track: TrackID, durationMs: Int64)
    /// Tells which tracks the deck lacks or cannot play: these and no others.
    case setMissing([TrackID])
    case vote(track: TrackID)
    case unvote(track: TrackID)
    /// If the index is left out, it is the queue's length.
    case enqueue(track: TrackID, index: Int?)
    case dequeue(entry: EntryID)
    case move(entry: EntryID, index: Int)
    /// If no entry is named, plays the first waiting entry that the deck has.
    case play(entry: EntryID?)
    /// Pauses what is on air; like `resume`, `seek` and `skip` for one entry only, if it is named.
    case pause(entry: EntryID?)
    case resume(entry: EntryID?)
    case seek(positionMs: Int64, entry: EntryID? = nil)
    case skip(entry: EntryID?)
    /// If `isMissing` is true, the deck cannot play the entry, which is skipped then.
    case finish(entry: EntryID, isMissing: Bool = false)
    case voteSkip(entry: EntryID)
    case unvoteSkip(entry: EntryID)
    /// Replaces queue and playback with those of the DJ's device, which may have been offline and decides alone, and
    /// records what was heard there meanwhile.
    case syncDeck(Deck)
    /// Skips the entry on air if a change in who is online has made the votes sufficient. Only the server sends this.
    case countSkipVotes
    /// Replaces this owner, who has been away for as long as the room allows. Only the server sends this.
    case replaceOwner(MemberID)
    /// Ends the membership of a session that is over. Only the server sends this.
    case endMembership(session: SessionID, reason: LeaveReason)

    /// A `closeRoom` that does not forget the room.
    package static var closeRoom: RoomCommand { .closeRoom(forget: false) }

    /// A `pause` of whatever is on air.
    package static var pause: RoomCommand { .pause(entry: nil) }

    /// A `resume` of whatever is on air.
    package static var resume: RoomCommand { .resume(entry: nil) }

    /// A `skip` of whatever is on air.
    package static var skip: RoomCommand { .skip(entry: nil) }

    /// A `kick` of one member.
    package static func kick(
        member: MemberID, ban: Bool, durationMs: Int64? = nil, note: String?
    ) -> RoomCommand {
        .kick(members: [member], ban: ban, durationMs: durationMs, note: note)
    }
}

extension RoomCommand {
    /// A command without its values; the raw value is its name in messages, in fingerprints of keyed commands, and in
    /// labels of metrics.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case join, leave, rename, updateRoom, closeRoom, setRole, transferOwnership, kick, unban, addTracks
        case removeTracks, setWaveform, setDuration, setMissing, vote, unvote, enqueue, dequeue, move, play, pause,
            resume, seek, skip, finish, voteSkip, unvoteSkip
        case syncDeck
        // The server's own commands: no message can ask for them.
        case countSkipVotes, replaceOwner, endMembership
    }

    /// The command without its values.
    package var kind: Kind {
        switch self {
        case .join: .join
        case .leave: .leave
        case .rename: .rename
        case .updateRoom: .updateRoom
        case .closeRoom: .closeRoom
        case .setRole: .setRole
        case .transferOwnership: .transferOwnership
        case .kick: .kick
        case .unban: .unban
        case .addTracks: .addTracks
        case .removeTracks: .removeTracks
        case .setWaveform: .setWaveform
        case .setDuration: .setDuration
        case .setMissing: .setMissing
        case .vote: .vote
        case .unvote: .unvote
        case .enqueue: .enqueue
        case .dequeue: .dequeue
        case .move: .move
        case .play: .play
        case .pause: .pause
        case .resume: .resume
        case .seek: .seek
        case .skip: .skip
        case .finish: .finish
        case .voteSkip: .voteSkip
        case .unvoteSkip: .unvoteSkip
        case .syncDeck: .syncDeck
        case .countSkipVotes: .countSkipVotes
        case .replaceOwner: .replaceOwner
        case .endMembership: .endMembership
        }
    }

    /// The waveform that the command brings.
    package var waveform: Waveform? {
        if case .setWaveform(_, let waveform) = self { waveform } else { nil }
    }

    /// The number of tracks, entries or members that the command names; the cost of deciding it grows with this number.
    package var itemCount: Int {
        switch self {
        case .addTracks(let tracks): tracks.count
        case .removeTracks(let tracks), .setMissing(let tracks): tracks.count
        case .syncDeck(let deck): deck.queue.count + deck.played.count
        case .kick(let members, _, _, _): members.count
        case .join, .leave, .rename, .updateRoom, .closeRoom, .setRole, .transferOwnership, .unban, .setWaveform,
            .setDuration, .vote, .unvote, .enqueue, .dequeue, .move, .play, .pause, .resume, .seek, .skip, .finish,
            .voteSkip, .unvoteSkip, .countSkipVotes, .replaceOwner, .endMembership:
            1
        }
    }
}

/// The changes that an owner asks for; nil leaves a value as it is.
package struct RoomUpdate: Sendable, Equatable {
    package var name: String?
    /// The new location, exactly as it was sent.
    package var location: Coordinate?
    package var clearLocation = false
    package var visibility: Visibility?
    package var settings = SettingsUpdate()
    /// The reason that the owner gives.
    package var note: String?

    package init() {}
}

/// Changes to settings; nil leaves a setting as it is.
package struct SettingsUpdate: Sendable, Equatable {
    package var queueMode: QueueMode?
    package var skipRatio: Double?
    package var maxWaitingPerMember: Int?
    package var repeatAfterPlays: Int?
    package var guestsMayAdd: Bool?
    package var queueLocked: Bool?
    package var slowModeMs: Int?
    package var ownerAwayMs: Int?
    package var countedAcrossRooms: Bool?

    package init() {}
}

/// The values from which a room is made.
package struct RoomFounding: Sendable, Equatable {
    package var id: RoomID
    package var code: RoomCode
    package var name: String
    /// The location, exactly as it was sent.
    package var location: Coordinate?
    package var visibility: Visibility
    package var settings: SettingsUpdate
    /// The session that becomes the owner.
    package var founder: SessionID
    package var founderName: String

    package init(
        id: RoomID, code: RoomCode, name: String, location: Coordinate?, visibility: Visibility,
        settings: SettingsUpdate, founder: SessionID, founderName: String
    ) {
        self.id = id
        self.code = code
        self.name = name
        self.location = location
        self.visibility = visibility
        self.settings = settings
        self.founder = founder
        self.founderName = founderName
    }
}

/// The sender of a command.
package enum Actor: Sendable, Equatable {
    /// A session, with its display name.
    case session(SessionID, name: String)
    /// The server itself.
    case server
}

/// The result of a command, in addition to its position.
package enum CommandResult: Sendable, Equatable {
    case member(MemberID)
    case tracks([TrackID])
    case entry(EntryID)
    case waveform(WaveformName)
}
