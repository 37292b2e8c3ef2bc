package import GeoSearch

/// What somebody asks of a room.
///
/// Values are as the peer gave them: ``RoomState/decide(_:by:at:)`` checks them. A `note` is the reason that somebody
/// gives for what it does.
package enum RoomCommand: Sendable, Equatable {
    /// The name is the session's where it is left out.
    case join(name: String?)
    case leave
    case rename(name: String)
    case updateRoom(RoomUpdate)
    /// Where `forget` is true, the room's location and its members' names go from the log as well; that may be asked of
    /// a room that is closed already.
    case closeRoom(forget: Bool, note: String? = nil)
    case setRole(member: MemberID, role: Role, note: String? = nil)
    case transferOwnership(member: MemberID, note: String? = nil)
    /// All of them or none; bans end after `durationMs` where that is given.
    case kick(members: [MemberID], ban: Bool, durationMs: Int64? = nil, note: String?)
    case unban(member: MemberID, note: String? = nil)
    case addTracks([TrackInfo])
    case removeTracks([TrackID])
    case vote(track: TrackID)
    case unvote(track: TrackID)
    /// The index is the queue's length where it is left out.
    case enqueue(track: TrackID, index: Int?)
    case dequeue(entry: EntryID)
    case move(entry: EntryID, index: Int)
    /// The head of the queue where no entry is named.
    case play(entry: EntryID?)
    case pause
    case resume
    case seek(positionMs: Int64)
    case skip
    case finish(entry: EntryID)
    case voteSkip(entry: EntryID)
    /// Who plays is the authority on its own deck, which may have been offline.
    case syncDeck(Deck)
    /// Who is online has changed: whether that skips what is on air. Only the server asks for this.
    case countSkipVotes
    /// This member owns the room and has been away for as long as the room allows. Only the server asks for this.
    case replaceOwner(MemberID)
    /// The session is over: only the server asks for this.
    case endMembership(session: SessionID, reason: LeaveReason)

    /// Closing alone.
    package static var closeRoom: RoomCommand { .closeRoom(forget: false) }

    /// Kicking one member.
    package static func kick(
        member: MemberID, ban: Bool, durationMs: Int64? = nil, note: String?
    ) -> RoomCommand {
        .kick(members: [member], ban: ban, durationMs: durationMs, note: note)
    }
}

extension RoomCommand {
    /// A command without its values; the raw value is its name wherever it is written: in messages, in fingerprints of
    /// keyed commands, and in labels of metrics.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case join, leave, rename, updateRoom, closeRoom, setRole, transferOwnership, kick, unban, addTracks
        case removeTracks, vote, unvote, enqueue, dequeue, move, play, pause, resume, seek, skip, finish, voteSkip
        case syncDeck
        // The server's own: no message asks for them.
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
        case .syncDeck: .syncDeck
        case .countSkipVotes: .countSkipVotes
        case .replaceOwner: .replaceOwner
        case .endMembership: .endMembership
        }
    }

    /// How many tracks, entries or members it names: what deciding it takes grows with them.
    package var itemCount: Int {
        switch self {
        case .addTracks(let tracks): tracks.count
        case .removeTracks(let tracks): tracks.count
        case .syncDeck(let deck): deck.queue.count
        case .kick(let members, _, _, _): members.count
        case .join, .leave, .rename, .updateRoom, .closeRoom, .setRole, .transferOwnership, .unban, .vote, .unvote,
            .enqueue, .dequeue, .move, .play, .pause, .resume, .seek, .skip, .finish, .voteSkip,
            .countSkipVotes, .replaceOwner, .endMembership:
            1
        }
    }
}

/// What an owner wants changed; nil: leave as it is.
package struct RoomUpdate: Sendable, Equatable {
    package var name: String?
    /// Where it is to be, as it was sent.
    package var location: Coordinate?
    package var clearLocation = false
    package var visibility: Visibility?
    package var settings = SettingsUpdate()
    /// The reason that is given for it.
    package var note: String?

    package init() {}
}

/// Settings to change; nil: leave as it is.
package struct SettingsUpdate: Sendable, Equatable {
    package var queueMode: QueueMode?
    package var skipRatio: Double?
    package var maxWaitingPerMember: Int?
    package var repeatAfterPlays: Int?
    package var guestsMayAdd: Bool?
    package var queueLocked: Bool?
    package var slowModeMs: Int?
    package var ownerAwayMs: Int?

    package init() {}
}

/// Queue and playback as a DJ's device has them.
package struct Deck: Sendable, Equatable {
    /// Something to play.
    package enum Item: Sendable, Hashable {
        /// A track of the pool; a waiting entry of it counts as this item where no other item names that entry.
        case track(TrackID)
        case entry(EntryID)
    }

    /// What is on air.
    package enum Playback: Sendable, Equatable {
        case stopped
        /// It was at `positionMs` at the instant `at`.
        case onAir(Item, isPaused: Bool, positionMs: Int64, at: Timestamp)
    }

    /// What waits, in play order.
    package var queue: [Item]
    package var playback: Playback

    package init(queue: [Item], playback: Playback) {
        self.queue = queue
        self.playback = playback
    }
}

/// A room to be made.
package struct RoomFounding: Sendable, Equatable {
    package var id: RoomID
    package var code: RoomCode
    package var name: String
    /// Where it is to be, as it was sent.
    package var location: Coordinate?
    package var visibility: Visibility
    package var settings: SettingsUpdate
    /// Becomes the owner.
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

/// Who asks.
package enum Actor: Sendable, Equatable {
    /// A session, with its display name.
    case session(SessionID, name: String)
    /// The server itself.
    case server
}

/// What a command gives back beside its position.
package enum CommandResult: Sendable, Equatable {
    case member(MemberID)
    case tracks([TrackID])
    case entry(EntryID)
}
