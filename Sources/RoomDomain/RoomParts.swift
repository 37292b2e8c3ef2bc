/// Who may find a room without knowing it.
package enum Visibility: String, Sendable, Hashable, CaseIterable {
    /// Listings and nearby searches show it.
    case `public`
    /// Only who knows its id or code finds it.
    case unlisted
}

/// What a member may do.
package enum Role: String, Sendable, Hashable, CaseIterable {
    /// Everything; an open room has exactly one.
    case owner
    /// Pool, queue and playback, and kicking guests.
    case dj
    /// Voting.
    case guest
}

/// How the queue is filled.
package enum QueueMode: String, Sendable, Hashable, CaseIterable {
    /// By the DJ alone.
    case dj
    /// By the top request, when the queue is empty and an entry ends.
    case votes
    /// By turns among those who ask.
    case fair
}

/// What an owner may set.
package struct RoomSettings: Sendable, Hashable {
    /// How the queue is filled.
    package var queueMode: QueueMode = .dj
    /// The part of the online members, 0 to 1, whose votes skip what is on air.
    package var skipRatio: Double = 0.5
    /// How many waiting entries a member may have; 0: any number.
    package var maxWaitingPerMember: Int = 0
    /// How many other plays must lie between two of the same track; 0: none.
    package var repeatAfterPlays: Int = 0
    /// Whether guests may add tracks to the pool.
    package var guestsMayAdd = false
    /// Whether guests may add nothing, whatever ``guestsMayAdd`` says, and the room chooses nothing by itself.
    package var queueLocked = false
    /// How long a guest waits between two additions to the pool, in milliseconds; 0: not at all.
    package var slowModeMs = 0
    /// For how long the owner may be away before somebody else who is there becomes it, in milliseconds; 0: for ever.
    package var ownerAwayMs = 0

    package init() {}
}

/// Somebody in the room.
package struct Member: Sendable, Hashable {
    /// The number by which others know the member.
    package var id: MemberID
    /// The session behind it; never shown to others.
    package var session: SessionID
    /// Display name.
    package var name: String
    /// What the member may do.
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

/// A session that may not come back.
package struct Ban: Sendable, Hashable {
    /// The number of the member that it was when it was banned.
    package var member: MemberID
    /// When it may come back; nil: when it is unbanned.
    package var until: Timestamp?
    /// The role that the member had; a guest where the log does not say.
    package var role: Role

    package init(member: MemberID, until: Timestamp? = nil, role: Role = .guest) {
        self.member = member
        self.until = until
        self.role = role
    }

    /// Whether it may not come back yet.
    package func holds(at now: Timestamp) -> Bool { until.map { now < $0 } ?? true }

    /// Why it is refused, with the time after which it is not any more.
    func refusal(at now: Timestamp) -> RoomRefusal {
        .banned(retryAfterMs: until.map { $0.milliseconds &- now.milliseconds })
    }
}

/// What is known of a song: metadata only.
package struct TrackInfo: Sendable, Hashable {
    /// The catalogue it comes from.
    package var source: String
    /// Its identity there.
    package var sourceID: String
    /// Its title.
    package var title: String
    /// Who performs it.
    package var artist: String?
    /// The album it is from.
    package var album: String?
    /// Its length in milliseconds.
    package var durationMs: Int64?
    /// Where a picture of it can be had.
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
    /// What is known of it, the same for all copies of the room.
    let shared: SharedTrackInfo
    /// Who added it.
    package var addedBy: MemberID
    /// How many members vote for it.
    package var votes: Int = 0
    /// The event at which it last went from no vote to one; nil at no votes.
    package var requestedSeq: Int?
    /// The number of the play, from 1, in which it was last on air; nil where it never was.
    package var lastPlay: Int?

    package init(
        id: TrackID, info: TrackInfo, addedBy: MemberID, votes: Int = 0, requestedSeq: Int? = nil,
        lastPlay: Int? = nil
    ) {
        self.init(
            id: id, shared: SharedTrackInfo(info), addedBy: addedBy, votes: votes, requestedSeq: requestedSeq,
            lastPlay: lastPlay)
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

    /// What is known of it.
    package var info: TrackInfo { shared.info }

    /// By what it is sorted.
    var titleKey: TitleKey { shared.keys.title }
}

/// A place in the queue.
package struct QueueEntry: Sendable, Hashable {
    /// Its number in the room.
    package var id: EntryID
    /// What is to be played.
    package var track: TrackID
    /// Who enqueued it; nil where the server did.
    package var addedBy: MemberID?
    /// Whose turn it is when it is played; nil where it is nobody's.
    package var turnOf: MemberID?

    /// It is the turn of who enqueued it, unless somebody else is named.
    package init(id: EntryID, track: TrackID, addedBy: MemberID?, turnOf: MemberID? = nil) {
        self.id = id
        self.track = track
        self.addedBy = addedBy
        self.turnOf = turnOf ?? addedBy
    }
}

/// How often a member had a turn, and in which round last.
package struct Turns: Sendable, Hashable {
    /// How many turns there were.
    package var taken = 0
    /// The round of the last one; who missed rounds takes the next turn in the last full round.
    package var round = 0

    package init(taken: Int = 0, round: Int = 0) {
        self.taken = taken
        self.round = round
    }

    /// With one more turn, where all before the round after `floor` are over.
    func next(above floor: Int) -> Turns {
        Turns(taken: taken &+ 1, round: max(round, floor) &+ 1)
    }
}

/// What is on air.
package struct OnAir: Sendable, Hashable {
    /// The entry, which has left the queue.
    package var entry: EntryID
    /// What is played.
    package var track: TrackID
    /// Who started it; nil where the server did.
    package var startedBy: MemberID?
    /// When it started.
    package var startedAt: Timestamp
    /// The event that started it.
    package var startedSeq: Int
    /// Whether it is paused.
    package var isPaused: Bool
    /// Where in the song it was at `at`, in milliseconds.
    package var positionMs: Int64
    /// The instant that `positionMs` speaks of.
    package var at: Timestamp
    /// For how long it had been heard at `at`, pauses and jumps left out, in milliseconds.
    package var heardMs: Int64
    /// Members who want it skipped.
    package var skipVoters: Set<MemberID> = []
    /// Whose turn it is; nil where it is nobody's.
    package var turnOf: MemberID?
    /// The turns of that member before this one; nil where there were none.
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

/// Why an entry left the air.
package enum FinishReason: String, Sendable, Hashable, CaseIterable {
    /// The song was over.
    case ended
    /// Somebody did not want it.
    case skipped
    /// Another entry was started over it.
    case replaced
}

/// Something that was on air.
package struct HistoryEntry: Sendable, Hashable {
    /// Its entry's number.
    package var entry: EntryID
    /// What was played.
    package var track: TrackID
    /// The track's title then.
    package var title: String
    /// The track's artist then.
    package var artist: String?
    /// When it started.
    package var startedAt: Timestamp
    /// When it left the air.
    package var endedAt: Timestamp
    /// Why it left the air.
    package var reason: FinishReason
    /// For how long it was heard, in milliseconds.
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
