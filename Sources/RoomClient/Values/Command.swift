import GeoSearch
import RoomDomain
import RoomWire

/// A change of a room that somebody asks for.
///
/// ``Room/send(_:key:)`` and ``Room/post(_:key:)`` give it to a room. The server decides; ``ClientError`` tells why it
/// refused.
public struct Command: Sendable, Equatable {
    let domain: RoomCommand

    init(_ domain: RoomCommand) { self.domain = domain }

    /// The command's name in the protocol, for example `vote`.
    public var name: String { domain.kind.rawValue }

    /// The track that the command is for; nil for all that are for none, or for several.
    public var track: TrackID? {
        switch domain {
        case .vote(let track), .unvote(let track), .enqueue(let track, _), .setWaveform(let track, _),
            .setDuration(let track, _):
            TrackID(track)
        case .join, .leave, .rename, .updateRoom, .closeRoom, .setRole, .transferOwnership, .kick, .unban, .addTracks,
            .removeTracks, .setMissing, .dequeue, .move, .play, .pause, .resume, .seek, .skip, .finish, .voteSkip,
            .unvoteSkip, .syncDeck, .countSkipVotes, .replaceOwner, .endMembership:
            nil
        }
    }

    // MARK: Membership

    /// Joins the room, under a name other than the session's if one is given; 1 to 40 characters.
    public static func join(as name: String? = nil) -> Self { Self(.join(name: name)) }
    /// Leaves the room.
    public static let leave = Self(.leave)
    /// Takes another name in this room.
    public static func rename(to name: String) -> Self { Self(.rename(name: name)) }

    // MARK: Owners

    /// Changes the room; nil leaves a value as it is.
    ///
    /// Of settings, only those are changed that differ from the ones before.
    public static func update(
        name: String? = nil, visibility: Visibility? = nil, location: Location? = nil, clearsLocation: Bool = false,
        settings: (from: RoomSettings, to: RoomSettings)? = nil, note: String? = nil
    ) -> Self {
        var update = RoomDomain.RoomUpdate()
        update.name = name
        update.visibility = visibility?.domain
        update.location = location?.domain
        update.clearLocation = clearsLocation
        if let settings { update.settings = settings.to.update(from: settings.from) }
        update.note = note
        return Self(.updateRoom(update))
    }
    /// Closes the room for ever; with `forgets`, its location and its members' names are removed from the log too.
    public static func close(forgets: Bool = false, note: String? = nil) -> Self {
        Self(.closeRoom(forget: forgets, note: note))
    }
    /// Gives a member another role.
    public static func setRole(_ role: Role, of member: MemberID, note: String? = nil) -> Self {
        Self(.setRole(member: member.domain, role: role.domain, note: note))
    }
    /// Gives the room to another member.
    public static func transferOwnership(to member: MemberID, note: String? = nil) -> Self {
        Self(.transferOwnership(member: member.domain, note: note))
    }
    /// Removes members, and bans them if that is asked for, until `time` is over if it is given.
    public static func kick(
        _ members: [MemberID], bans: Bool = false, for time: Duration? = nil, note: String? = nil
    ) -> Self {
        let milliseconds = time.map(\.wholeMilliseconds)
        return Self(.kick(members: members.map(\.domain), ban: bans, durationMs: milliseconds, note: note))
    }
    /// Ends a ban.
    public static func unban(_ member: MemberID, note: String? = nil) -> Self {
        Self(.unban(member: member.domain, note: note))
    }

    // MARK: The pool

    /// Adds tracks to the pool, at most 500.
    public static func add(_ tracks: [TrackInfo]) -> Self { Self(.addTracks(tracks.map(\.domain))) }
    /// Removes tracks from the pool, at most 500.
    public static func remove(_ tracks: [TrackID]) -> Self { Self(.removeTracks(tracks.map(\.domain))) }
    /// Gives a track a waveform.
    public static func setWaveform(_ waveform: Waveform, of track: TrackID) -> Self {
        Self(.setWaveform(track: track.domain, waveform: waveform.domain))
    }
    /// Votes for a track.
    public static func vote(for track: TrackID) -> Self { Self(.vote(track: track.domain)) }
    /// Takes the vote for a track back.
    public static func unvote(_ track: TrackID) -> Self { Self(.unvote(track: track.domain)) }

    // MARK: The queue

    /// Adds a track to the queue, at its end if no place is given.
    public static func enqueue(_ track: TrackID, at index: Int? = nil) -> Self {
        Self(.enqueue(track: track.domain, index: index))
    }
    /// Removes an entry from the queue.
    public static func dequeue(_ entry: EntryID) -> Self { Self(.dequeue(entry: entry.domain)) }
    /// Moves an entry to another place.
    public static func move(_ entry: EntryID, to index: Int) -> Self { Self(.move(entry: entry.domain, index: index)) }

    // MARK: The deck

    /// Plays an entry, or the head of the queue.
    public static func play(_ entry: EntryID? = nil) -> Self { Self(.play(entry: entry?.domain)) }
    // Four commands may name the entry that they are for. If that is not on air any more, they change nothing; without
    // an entry they are for whatever is on air when they arrive.

    /// Pauses an entry that is on air.
    public static func pause(_ entry: EntryID? = nil) -> Self { Self(.pause(entry: entry?.domain)) }
    /// Goes on with an entry that is on air.
    public static func resume(_ entry: EntryID? = nil) -> Self { Self(.resume(entry: entry?.domain)) }
    /// Goes to a position of an entry that is on air.
    public static func seek(to position: Duration, of entry: EntryID? = nil) -> Self {
        Self(.seek(positionMs: position.wholeMilliseconds, entry: entry?.domain))
    }
    /// Skips an entry that is on air.
    public static func skip(_ entry: EntryID? = nil) -> Self { Self(.skip(entry: entry?.domain)) }
    /// Tells that an entry has been played to its end, or cannot be played.
    public static func finish(_ entry: EntryID, isMissing: Bool = false) -> Self {
        Self(.finish(entry: entry.domain, isMissing: isMissing))
    }
    /// Votes to skip an entry that is on air.
    public static func voteToSkip(_ entry: EntryID) -> Self { Self(.voteSkip(entry: entry.domain)) }
    /// Takes the vote to skip an entry back.
    public static func unvoteToSkip(_ entry: EntryID) -> Self { Self(.unvoteSkip(entry: entry.domain)) }
    /// Tells how long a track is, as a deck has measured it.
    public static func setDuration(_ duration: Duration, of track: TrackID) -> Self {
        Self(.setDuration(track: track.domain, durationMs: duration.wholeMilliseconds))
    }
    /// Tells which tracks the deck lacks or cannot play: all of them, at most 10,000.
    public static func setMissing(_ tracks: some Sequence<TrackID>) -> Self { Self(.setMissing(tracks.map(\.domain))) }
}

/// What makes a command one and the same however often it is sent: 1 to 128 characters, for one command only.
public struct CommandKey: Sendable, Hashable, CustomStringConvertible {
    /// The key.
    public let description: String

    /// Takes a key; nil if it is empty or too long, or has control characters.
    public init?(_ text: String) {
        guard ClientMessage.isKey(text) else { return nil }
        description = text
    }

    init(known text: String) { description = text }

    /// A key that nothing else has: 128 bits of randomness.
    public static func random() -> Self {
        var random = SystemRandomNumberGenerator()
        let parts = [random.next(), random.next()] as [UInt64]
        let digits = parts.map { part in
            let text = String(part, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        return Self(known: digits.joined())
    }
}

/// The answer to a command that was carried out, and is durable.
public struct Receipt: Sendable, Hashable {
    /// The number of the last event that it caused; the room's position if it changed nothing.
    public let sequence: Int
    /// The member that one became by a `join`.
    public let member: MemberID?
    /// The tracks that an `add` has added or found, in its order.
    public let tracks: [TrackID]
    /// The entry that an `enqueue` has made.
    public let entry: EntryID?

    init(sequence: Int, _ result: CommandResult?) {
        self.sequence = sequence
        var (member, tracks, entry) = (nil as MemberID?, [] as [TrackID], nil as EntryID?)
        switch result {
        case .member(let id): member = MemberID(id)
        case .tracks(let ids): tracks = ids.map { TrackID($0) }
        case .entry(let id): entry = EntryID(id)
        case .waveform, nil: break
        }
        (self.member, self.tracks, self.entry) = (member, tracks, entry)
    }
}
