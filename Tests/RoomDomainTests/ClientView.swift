import GeoSearch
import RoomDomain
import RoomTestSupport

/// A client's knowledge of a room, folded as a client folds: from the fields of events only, without any rule.
struct ClientView: Equatable {
    struct Person: Equatable {
        var name: String
        var role: Role
        var joinedAt: Timestamp
    }

    struct Song: Equatable {
        var info: TrackInfo
        var addedBy: MemberID
        var votes = 0
        var requestedSeq: Int?
        var waveform: WaveformName?
        var isMissing = false
    }

    struct Deck: Equatable {
        var entry: EntryID
        var track: TrackID
        var startedBy: MemberID?
        var startedAt: Timestamp
        var startedSeq: Int
        var isPaused = false
        var positionMs: Int64
        var at: Timestamp
        var skipVotes = 0
        var skipVoters: Set<MemberID> = []
    }

    struct Waiting: Equatable {
        var entry: EntryID
        var track: TrackID
        var addedBy: MemberID?
    }

    var seq = 0
    var name = ""
    var location: RoundedLocation?
    var visibility = Visibility.public
    var settings = RoomSettings()
    var closedAt: Timestamp?
    var members: [MemberID: Person] = [:]
    var pool: [TrackID: Song] = [:]
    var queue: [Waiting] = []
    var deck: Deck?
    var history: [HistoryEntry] = []

    init() {}

    /// The view that a snapshot would give.
    init(of room: RoomState) {
        seq = room.seq
        name = room.name
        location = room.location
        visibility = room.visibility
        settings = room.settings
        closedAt = room.closedAt
        members = room.members.mapValues { Person(name: $0.name, role: $0.role, joinedAt: $0.joinedAt) }
        pool = Dictionary(
            uniqueKeysWithValues: room.tracks.values.map {
                (
                    $0.id,
                    Song(
                        info: $0.info, addedBy: $0.addedBy, votes: $0.votes, requestedSeq: $0.requestedSeq,
                        waveform: $0.waveform, isMissing: $0.isMissing)
                )
            })
        queue = room.queue.map { Waiting(entry: $0.id, track: $0.track, addedBy: $0.addedBy) }
        deck = room.onAir.map {
            Deck(
                entry: $0.entry, track: $0.track, startedBy: $0.startedBy, startedAt: $0.startedAt,
                startedSeq: $0.startedSeq, isPaused: $0.isPaused, positionMs: $0.positionMs, at: $0.at,
                skipVotes: $0.skipVoters.count, skipVoters: $0.skipVoters)
        }
        history = room.history
    }

    mutating func fold(_ recorded: RecordedEvent) {
        seq = recorded.seq
        switch recorded.event {
        case .roomCreated(let room):
            name = room.name
            location = room.location
            visibility = room.visibility
            settings = room.settings
        case .memberJoined(let member, let name, let role, _):
            members[member] = Person(name: name, role: role, joinedAt: recorded.at)
        case .memberLeft(let left):
            members[left.member] = nil
            for vote in left.votes { setVotes(of: vote.track, vote.votes, vote.requestedSeq) }
            if let skipVotes = left.skipVotes { deck?.skipVotes = skipVotes }
            deck?.skipVoters.remove(left.member)
        case .memberRenamed(let member, let name): members[member]?.name = name
        case .roomUpdated(let changes):
            name = changes.name ?? name
            location = changes.locationCleared ? nil : changes.location ?? location
            visibility = changes.visibility ?? visibility
            settings = changes.settings ?? settings
        case .roomClosed(let forget, _, _):
            closedAt = closedAt ?? recorded.at
            guard forget else { return }
            location = nil
            members = members.mapValues { Person(name: "-", role: $0.role, joinedAt: $0.joinedAt) }
        case .roleChanged(let member, let role, _, _): members[member]?.role = role
        case .memberBanned, .memberUnbanned: break
        case .tracksAdded(let tracks, let by):
            for track in tracks { pool[track.id] = Song(info: track.info, addedBy: by) }
        case .tracksRemoved(let tracks, _):
            for track in tracks { pool[track] = nil }
            queue.removeAll { tracks.contains($0.track) }
        case .waveformSet(let track, let waveform, _): pool[track]?.waveform = waveform
        case .durationSet(let track, let durationMs, _): pool[track]?.info.durationMs = durationMs
        case .missingSet(let tracks, _):
            for track in pool.keys { pool[track]?.isMissing = tracks.contains(track) }
        case .voteCast(let track, _, let votes, let requestedSeq): setVotes(of: track, votes, requestedSeq)
        case .voteWithdrawn(let track, _, let votes, let requestedSeq): setVotes(of: track, votes, requestedSeq)
        case .votesCleared(let track): setVotes(of: track, 0, nil)
        case .entryEnqueued(let entry, let track, let index, let by, _):
            queue.insert(Waiting(entry: entry, track: track, addedBy: by), at: index)
        case .entryRemoved(let entry, _, _): queue.removeAll { $0.entry == entry }
        case .entryMoved(let entry, let index, _):
            let moved = queue.filter { $0.entry == entry }
            queue.removeAll { $0.entry == entry }
            queue.insert(contentsOf: moved, at: index)
        case .playbackStarted(let entry, let track, let positionMs, let at, let by, let startedAt, _):
            queue.removeAll { $0.entry == entry }
            deck = Deck(
                entry: entry, track: track, startedBy: by, startedAt: startedAt ?? recorded.at,
                startedSeq: recorded.seq, positionMs: positionMs, at: at)
        case .playbackPaused(let positionMs, let at, _, _): jump(to: positionMs, at, isPaused: true)
        case .playbackResumed(let positionMs, let at, _, _): jump(to: positionMs, at, isPaused: false)
        case .playbackSeeked(let positionMs, let at, _, _): jump(to: positionMs, at, isPaused: deck?.isPaused ?? false)
        case .playbackStopped: deck = nil
        case .skipVoteCast(_, let by, let skipVotes):
            deck?.skipVotes = skipVotes
            deck?.skipVoters.insert(by)
        case .skipVoteWithdrawn(_, let by, let skipVotes):
            deck?.skipVotes = skipVotes
            deck?.skipVoters.remove(by)
        case .entryFinished(let entry, let track, let reason, let startedAt, let playedMs, _, let endedAt, _):
            deck = nil
            history.insert(
                HistoryEntry(
                    entry: entry, track: track, title: pool[track]?.info.title ?? "", artist: pool[track]?.info.artist,
                    startedAt: startedAt, endedAt: endedAt ?? recorded.at, reason: reason, playedMs: playedMs), at: 0)
            history = Array(history.prefix(50))
        }
    }

    private mutating func setVotes(of track: TrackID, _ votes: Int, _ requestedSeq: Int?) {
        pool[track]?.votes = votes
        pool[track]?.requestedSeq = requestedSeq
    }

    private mutating func jump(to positionMs: Int64, _ at: Timestamp, isPaused: Bool) {
        deck?.positionMs = positionMs
        deck?.at = at
        deck?.isPaused = isPaused
    }
}
