/// Whether a room can be found without knowing its id or code.
package enum Visibility: String, Sendable, Hashable, CaseIterable {
    /// Listings and nearby searches show it.
    case `public`
    /// The room is found only by its id or code.
    case unlisted
}

/// The rights of a member.
package enum Role: String, Sendable, Hashable, CaseIterable {
    /// All rights; an open room has exactly one owner.
    case owner
    /// Pool, queue and playback, and kicking guests.
    case dj
    /// Voting.
    case guest
}

/// The way in which the queue is filled.
package enum QueueMode: String, Sendable, Hashable, CaseIterable {
    /// By the DJ alone.
    case dj
    /// By the top request, when the queue is empty and an entry ends.
    case votes
    /// By turns among those who ask.
    case fair
}

/// The settings of a room, which its owner may change.
package struct RoomSettings: Sendable, Hashable {
    /// The way in which the queue is filled.
    package var queueMode: QueueMode = .dj
    /// The fraction of the online members, 0 to 1, whose votes skip the entry on air.
    package var skipRatio: Double = 0.5
    /// The most waiting entries of one member; 0: no limit.
    package var maxWaitingPerMember: Int = 0
    /// The number of other plays required between two plays of the same track; 0: none.
    package var repeatAfterPlays: Int = 0
    /// Whether guests may add tracks to the pool.
    package var guestsMayAdd = false
    /// Whether guests may add no tracks, whatever ``guestsMayAdd`` says, and the room chooses no track by itself.
    package var queueLocked = false
    /// The time a guest must wait between two additions to the pool, in milliseconds; 0: no wait.
    package var slowModeMs = 0
    /// The time after which an absent owner is replaced by another member, in milliseconds; 0: never.
    package var ownerAwayMs = 0
    /// Whether the plays of a public room count in numbers across rooms.
    package var countedAcrossRooms = true

    package init() {}
}

/// A member of the room.
package struct Member: Sendable, Hashable {
    /// The number by which others know the member.
    package var id: MemberID
    /// The session behind it; never shown to others.
    package var session: SessionID
    /// Display name.
    package var name: String
    /// The member's rights.
    package var role: Role
    /// When the membership began.
    package var joinedAt: Timestamp

    package init(id: MemberID, session: SessionID, name: String, role: Role, joinedAt: Timestamp) {
        self.id = id
        self.session = session
        self.name = name
        self.role = role
        self.joinedAt = joinedAt
    }
}

/// A ban of a session.
package struct Ban: Sendable, Hashable {
    /// The session's member number when it was banned.
    package var member: MemberID
    /// The instant when the ban ends; nil: it ends only when it is lifted.
    package var until: Timestamp?
    /// The member's role when it was banned; a guest if the log does not say.
    package var role: Role
    /// The reason that was given for the ban.
    package var note: String?

    package init(member: MemberID, until: Timestamp? = nil, role: Role = .guest, note: String? = nil) {
        self.member = member
        self.until = until
        self.role = role
        self.note = note
    }

    /// Whether the ban is still in force.
    package func holds(at now: Timestamp) -> Bool { until.map { now < $0 } ?? true }

    /// The refusal for a banned session, with the time left until the ban ends and the reason for the ban.
    func refusal(at now: Timestamp) -> RoomRefusal {
        .banned(retryAfterMs: until.map { $0.milliseconds &- now.milliseconds }, reason: note)
    }
}

/// Metadata of a song.
package struct TrackInfo: Sendable, Hashable {
    /// The catalogue it comes from.
    package var source: String
    /// Its identifier in that catalogue.
    package var sourceID: String
    /// Its title.
    package var title: String
    /// The performer.
    package var artist: String?
    /// The album it is from.
    package var album: String?
    /// Its length in milliseconds.
    package var durationMs: Int64?
    /// The web address of a picture of it.
    package var artworkURL: String?

    package init(
        source: String, sourceID: String, title: String, artist: String? = nil, album: String? = nil,
        durationMs: Int64? = nil, artworkURL: String? = nil
    ) {
        self.source = source
        self.sourceID = sourceID
        self.title = title
        self.artist = artist
        self.album = album
        self.durationMs = durationMs
        self.artworkURL = artworkURL
    }
}

/// A song in the pool.
package struct Track: Sendable, Hashable {
    /// Its number in the room.
    package var id: TrackID
    /// The track's metadata, shared by all copies of the room.
    package private(set) var shared: SharedTrackInfo
    /// The member who added it.
    package var addedBy: MemberID
    /// The number of members who vote for it.
    package var votes: Int = 0
    /// The number of the event at which its votes last rose from 0 to 1; nil while it has no votes.
    package var requestedSeq: Int?
    /// The number of the play, from 1, in which it was last on air; nil if it has never been on air.
    package var lastPlay: Int?
    /// The name of its newest waveform; nil if it has none.
    package var waveform: WaveformName?
    /// How often its waveform was set lately; nil if it never was.
    package var waveformHour: WaveformHour?
    /// Whether the deck lacks it or cannot play it.
    package var isMissing = false

    package init(
        id: TrackID, info: TrackInfo, addedBy: MemberID, votes: Int = 0, requestedSeq: Int? = nil,
        lastPlay: Int? = nil, waveform: WaveformName? = nil, waveformHour: WaveformHour? = nil, isMissing: Bool = false
    ) {
        self.init(
            id: id, shared: SharedTrackInfo(info), addedBy: addedBy, votes: votes, requestedSeq: requestedSeq,
            lastPlay: lastPlay)
        self.waveform = waveform
        self.waveformHour = waveformHour
        self.isMissing = isMissing
    }

    init(
        id: TrackID, shared: SharedTrackInfo, addedBy: MemberID, votes: Int = 0, requestedSeq: Int? = nil,
        lastPlay: Int? = nil
    ) {
        self.id = id
        self.shared = shared
        self.addedBy = addedBy
        self.votes = votes
        self.requestedSeq = requestedSeq
        self.lastPlay = lastPlay
    }

    /// A track that has entered the pool; it shares the metadata.
    package init(_ added: NumberedTrack, addedBy: MemberID) {
        self.init(id: added.id, shared: added.shared, addedBy: addedBy)
    }

    /// The track's metadata.
    package var info: TrackInfo { shared.info }

    /// Gives the track another length.
    package mutating func setDuration(_ durationMs: Int64) { shared = shared.lasting(durationMs) }

    /// The key by which it is sorted.
    var titleKey: TitleKey { shared.titleKey }
}

/// An entry of the queue.
package struct QueueEntry: Sendable, Hashable {
    /// Its number in the room.
    package var id: EntryID
    /// The track to play.
    package var track: TrackID
    /// The member who enqueued it; nil if the server did.
    package var addedBy: MemberID?
    /// The member whose turn playing it uses up; nil if it is nobody's turn.
    package var turnOf: MemberID?

    /// Playing the entry is the turn of the member who enqueued it, unless `turnOf` names another.
    package init(id: EntryID, track: TrackID, addedBy: MemberID?, turnOf: MemberID? = nil) {
        self.id = id
        self.track = track
        self.addedBy = addedBy
        self.turnOf = turnOf ?? addedBy
    }
}

/// The number of turns that a member has had, and the round of the last one.
package struct Turns: Sendable, Hashable {
    /// How many turns there were.
    package var taken = 0
    /// The round of the last turn; a member who missed rounds takes the next turn in the last complete round.
    package var round = 0

    package init(taken: Int = 0, round: Int = 0) {
        self.taken = taken
        self.round = round
    }

    /// The turns after one more, given that all rounds up to `floor` are complete.
    func next(above floor: Int) -> Turns {
        Turns(taken: taken &+ 1, round: max(round, floor) &+ 1)
    }
}

/// The entry on air.
package struct OnAir: Sendable, Hashable {
    /// The entry's number; the entry has left the queue.
    package var entry: EntryID
    /// The track that is played.
    package var track: TrackID
    /// The member who started it; nil if the server did.
    package var startedBy: MemberID?
    /// The time when it started.
    package var startedAt: Timestamp
    /// The number of the event that started it.
    package var startedSeq: Int
    /// Whether it is paused.
    package var isPaused: Bool
    /// The position in the song at the instant `at`, in milliseconds.
    package var positionMs: Int64
    /// The instant at which `positionMs` and `heardMs` hold.
    package var at: Timestamp
    /// The time for which it had been heard at `at`, without pauses and jumps, in milliseconds.
    package var heardMs: Int64
    /// Members who want it skipped.
    package var skipVoters: Set<MemberID> = []
    /// The member whose turn it is; nil if it is nobody's.
    package var turnOf: MemberID?
    /// That member's turns before this one; nil if there were none.
    package var turnsBefore: Turns?

    package init(
        entry: EntryID, track: TrackID, startedBy: MemberID?, startedAt: Timestamp, startedSeq: Int, isPaused: Bool,
        positionMs: Int64, at: Timestamp, heardMs: Int64, skipVoters: Set<MemberID> = [], turnOf: MemberID? = nil
    ) {
        self.entry = entry
        self.track = track
        self.startedBy = startedBy
        self.startedAt = startedAt
        self.startedSeq = startedSeq
        self.isPaused = isPaused
        self.positionMs = positionMs
        self.at = at
        self.heardMs = heardMs
        self.skipVoters = skipVoters
        self.turnOf = turnOf
    }
}

/// The reason why an entry left the air.
package enum FinishReason: String, Sendable, Hashable, CaseIterable {
    /// The song ended.
    case ended
    /// A member skipped it, or enough members voted to.
    case skipped
    /// Another entry was started in its place.
    case replaced
}

/// An entry that was on air.
package struct HistoryEntry: Sendable, Hashable {
    /// The entry's number.
    package var entry: EntryID
    /// The track that was played.
    package var track: TrackID
    /// The track's title at that time.
    package var title: String
    /// The track's artist at that time.
    package var artist: String?
    /// The time when it started.
    package var startedAt: Timestamp
    /// The time when it left the air.
    package var endedAt: Timestamp
    /// The reason why it left the air.
    package var reason: FinishReason
    /// The time for which it was heard, in milliseconds.
    package var playedMs: Int64

    package init(
        entry: EntryID, track: TrackID, title: String, artist: String?, startedAt: Timestamp, endedAt: Timestamp,
        reason: FinishReason, playedMs: Int64
    ) {
        self.entry = entry
        self.track = track
        self.title = title
        self.artist = artist
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.reason = reason
        self.playedMs = playedMs
    }
}
