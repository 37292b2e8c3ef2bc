package import GeoSearch

/// Something that happened in a room.
///
/// Fields carry absolute results, so that folding needs no rule of the domain. `by` is nil if the server acted by
/// itself; `note` is the reason that the sender of the command gave.
package enum RoomEvent: Sendable, Equatable {
    /// Stored indirectly, as ``roomUpdated(_:)`` is: every event takes as much memory as the largest case, and most
    /// events are votes.
    indirect case roomCreated(RoomCreated)
    /// The session is kept in the log and never shown to clients.
    case memberJoined(member: MemberID, name: String, role: Role, session: SessionID)
    case memberLeft(MemberLeft)
    case memberRenamed(member: MemberID, name: String)
    indirect case roomUpdated(RoomChanges)
    /// If `forget` is true, the room has dropped its location and its members' names. A room that was already closed
    /// records such an event only to be forgotten.
    case roomClosed(forget: Bool, by: MemberID? = nil, note: String? = nil)
    /// If the server acted by itself, the note is ``RoomState/ownerLeft`` or ``RoomState/ownerAway``.
    case roleChanged(member: MemberID, role: Role, by: MemberID? = nil, note: String? = nil)
    /// The session is kept in the log and never shown to clients; it may come back at `until`. The role is the member's
    /// role when it was banned.
    case memberBanned(
        member: MemberID, by: MemberID?, session: SessionID, until: Timestamp? = nil, note: String? = nil,
        role: Role = .guest)
    /// Also recorded for a ban that has ended by itself, when the session comes back.
    case memberUnbanned(member: MemberID, by: MemberID?, note: String? = nil)
    case tracksAdded(tracks: [NumberedTrack], by: MemberID)
    case tracksRemoved(tracks: [TrackID], by: MemberID)
    case waveformSet(track: TrackID, waveform: WaveformName, by: MemberID)
    case durationSet(track: TrackID, durationMs: Int64, by: MemberID)
    /// The deck lacks exactly these tracks, or cannot play them; ascending.
    case missingSet(tracks: [TrackID], by: MemberID)
    case voteCast(track: TrackID, by: MemberID, votes: Int, requestedSeq: Int)
    case voteWithdrawn(track: TrackID, by: MemberID, votes: Int, requestedSeq: Int?)
    case votesCleared(track: TrackID)
    /// `why` is set if the room itself chose the track.
    case entryEnqueued(entry: EntryID, track: TrackID, index: Int, by: MemberID?, why: ChoiceReason? = nil)
    /// `why` is set if the room itself passed the entry over.
    case entryRemoved(entry: EntryID, by: MemberID?, why: ChoiceReason? = nil)
    case entryMoved(entry: EntryID, index: Int, by: MemberID?)
    /// The entry began at `startedAt`; nil: when the event was recorded. It had been heard for `playedMs` by `at`; nil:
    /// not at all.
    case playbackStarted(
        entry: EntryID, track: TrackID, positionMs: Int64, at: Timestamp, by: MemberID?, startedAt: Timestamp? = nil,
        playedMs: Int64? = nil)
    /// The entry had been heard for `playedMs` by `at`; nil: for as long as the earlier events say.
    case playbackPaused(positionMs: Int64, at: Timestamp, by: MemberID?, playedMs: Int64? = nil)
    case playbackResumed(positionMs: Int64, at: Timestamp, by: MemberID?, playedMs: Int64? = nil)
    case playbackSeeked(positionMs: Int64, at: Timestamp, by: MemberID?, playedMs: Int64? = nil)
    case playbackStopped(by: MemberID?)
    case skipVoteCast(entry: EntryID, by: MemberID, skipVotes: Int)
    case skipVoteWithdrawn(entry: EntryID, by: MemberID, skipVotes: Int)
    /// The entry ended at `endedAt`; nil: when the event was recorded. `by` is nil if enough members voted to skip it.
    /// If `isMissing` is true, it was skipped because the deck could not play it.
    case entryFinished(
        entry: EntryID, track: TrackID, reason: FinishReason, startedAt: Timestamp, playedMs: Int64,
        by: MemberID? = nil, endedAt: Timestamp? = nil, isMissing: Bool = false)

    /// A closing by the server itself, without forgetting the room.
    package static var roomClosed: RoomEvent { .roomClosed(forget: false) }

    /// An end of playback by the server itself.
    package static var playbackStopped: RoomEvent { .playbackStopped(by: nil) }

    /// Whether the event causes the room to be forgotten.
    package var forgetsRoom: Bool {
        if case .roomClosed(let forget, _, _) = self { forget } else { false }
    }
}

extension RoomEvent {
    /// An event without its values; the raw value is its name in messages and in the log.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case roomCreated, memberJoined, memberLeft, memberRenamed, roomUpdated, roomClosed, roleChanged, memberBanned
        case memberUnbanned, tracksAdded, tracksRemoved, waveformSet, durationSet, missingSet, voteCast, voteWithdrawn
        case votesCleared
        case entryEnqueued, entryRemoved, entryMoved, playbackStarted, playbackPaused, playbackResumed, playbackSeeked
        case playbackStopped, skipVoteCast, skipVoteWithdrawn, entryFinished

        /// Whether an event of this kind can contain a location.
        package var mayHaveLocation: Bool { self == .roomCreated || self == .roomUpdated }
    }

    /// The event without its values.
    package var kind: Kind {
        switch self {
        case .roomCreated: .roomCreated
        case .memberJoined: .memberJoined
        case .memberLeft: .memberLeft
        case .memberRenamed: .memberRenamed
        case .roomUpdated: .roomUpdated
        case .roomClosed: .roomClosed
        case .roleChanged: .roleChanged
        case .memberBanned: .memberBanned
        case .memberUnbanned: .memberUnbanned
        case .tracksAdded: .tracksAdded
        case .tracksRemoved: .tracksRemoved
        case .waveformSet: .waveformSet
        case .durationSet: .durationSet
        case .missingSet: .missingSet
        case .voteCast: .voteCast
        case .voteWithdrawn: .voteWithdrawn
        case .votesCleared: .votesCleared
        case .entryEnqueued: .entryEnqueued
        case .entryRemoved: .entryRemoved
        case .entryMoved: .entryMoved
        case .playbackStarted: .playbackStarted
        case .playbackPaused: .playbackPaused
        case .playbackResumed: .playbackResumed
        case .playbackSeeked: .playbackSeeked
        case .playbackStopped: .playbackStopped
        case .skipVoteCast: .skipVoteCast
        case .skipVoteWithdrawn: .skipVoteWithdrawn
        case .entryFinished: .entryFinished
        }
    }
}

/// An event with its number and time in the room's log.
package struct RecordedEvent: Sendable, Equatable {
    /// Its number, counted from 1 without gaps.
    package var seq: Int
    /// The time when it was recorded.
    package var at: Timestamp
    /// The event itself.
    package var event: RoomEvent

    package init(seq: Int, at: Timestamp, event: RoomEvent) {
        self.seq = seq
        self.at = at
        self.event = event
    }
}

/// The first event of every room.
package struct RoomCreated: Sendable, Equatable {
    package var id: RoomID
    package var code: RoomCode
    package var name: String
    package var location: RoundedLocation?
    package var visibility: Visibility
    package var settings: RoomSettings

    package init(
        id: RoomID, code: RoomCode, name: String, location: RoundedLocation?, visibility: Visibility,
        settings: RoomSettings
    ) {
        self.id = id
        self.code = code
        self.name = name
        self.location = location
        self.visibility = visibility
        self.settings = settings
    }
}

/// The reason why a membership ended.
package enum LeaveReason: String, Sendable, Hashable, CaseIterable {
    case left
    case expired
    case kicked
    case banned
    case sessionEnded = "session_ended"
}

/// The end of a membership.
package struct MemberLeft: Sendable, Equatable {
    /// The new count of one track that the leaver voted for.
    package struct Withdrawal: Sendable, Equatable {
        package var track: TrackID
        package var votes: Int
        package var requestedSeq: Int?

        package init(track: TrackID, votes: Int, requestedSeq: Int?) {
            self.track = track
            self.votes = votes
            self.requestedSeq = requestedSeq
        }
    }

    package var member: MemberID
    package var reason: LeaveReason
    /// The member who kicked or banned.
    package var by: MemberID?
    /// The reason given by the member who kicked or banned.
    package var note: String?
    /// The new counts of the tracks that the leaver voted for; ascending by track.
    package var votes: [Withdrawal]
    /// The remaining number of votes to skip the entry on air, if the leaver's was one of them.
    package var skipVotes: Int?

    package init(
        member: MemberID, reason: LeaveReason, by: MemberID? = nil, note: String? = nil, votes: [Withdrawal] = [],
        skipVotes: Int? = nil
    ) {
        self.member = member
        self.reason = reason
        self.by = by
        self.note = note
        self.votes = votes
        self.skipVotes = skipVotes
    }
}

/// The reason why the room itself chose a track or passed an entry over.
package struct ChoiceReason: Sendable, Hashable {
    /// The rule that decided.
    package enum Rule: String, Sendable, Hashable, CaseIterable {
        /// The top request; the rank is its votes and its `requestedSeq`.
        case votes
        /// Rounds among the members who request tracks; the rank is the round, the turns of the member whose turn it
        /// is, and `requestedSeq`; the least comes first.
        case fair
        /// The track was on air too recently; the rank is the number of other plays since then, and the number
        /// required.
        case repeatAfterPlays
    }

    package var rule: Rule
    /// The numbers that decided, in the order that ``Rule`` gives.
    package var rank: [Int]
    /// The member whose turn it is, if the rule has turns.
    package var turnOf: MemberID?

    package init(rule: Rule, rank: [Int], turnOf: MemberID? = nil) {
        self.rule = rule
        self.rank = rank
        self.turnOf = turnOf
    }
}

/// The changes of a room's properties; nil means that a value has not changed.
package struct RoomChanges: Sendable, Equatable {
    package var name: String?
    package var location: RoundedLocation?
    package var locationCleared = false
    package var visibility: Visibility?
    /// All settings, if one of them changed.
    package var settings: RoomSettings?
    /// The member who made the change.
    package var by: MemberID?
    /// The reason that the member gave.
    package var note: String?

    package init() {}
}

/// A track as it enters the pool.
package struct NumberedTrack: Sendable, Equatable {
    package var id: TrackID
    /// The track's metadata, shared by all copies of the room.
    let shared: SharedTrackInfo

    /// The track's metadata.
    package var info: TrackInfo { shared.info }

    package init(id: TrackID, info: TrackInfo) {
        self.id = id
        self.shared = SharedTrackInfo(info)
    }
}
