import EventStorage
import FoundationEssentials
import RoomDomain
import RoomLog
import RoomStatistics
import RoomWire

/// What ought to be stored of a room's statistics, from its log alone.
///
/// It is made in another way than servers count: events are grouped by the database, and songs are folded without the
/// rest of the room.
struct ExpectedStatistics {
    private(set) var counts: [CountBucket: EventCounts]
    private(set) var plays: [CountedPlay] = []
    private(set) var tracks: [UUID: CountedTrack] = [:]
    private(set) var founder: UUID?

    private var songs: [TrackID: (info: TrackInfo, addedBy: MemberID)] = [:]
    private var isPublic = false
    private var isCounted = true

    /// - Throws: ``LogFault`` if the log holds what this program cannot read.
    init(_ proof: StatisticsProof, firstMinute: Int) throws(StoredEventFault) {
        counts = proof.logged
        for stored in proof.events { take(try EventJSON.recorded(stored), firstMinute: firstMinute) }
        plays.sort { $0.place < $1.place }
    }

    private mutating func take(_ recorded: RecordedEvent, firstMinute: Int) {
        switch recorded.event {
        case .roomCreated(let room):
            (isPublic, isCounted) = (room.visibility == .public, room.settings.countedAcrossRooms)
        case .memberJoined(_, _, _, let session): if recorded.seq == RoomTally.founding { founder = session.uuid }
        case .roomUpdated(let changes):
            if let visibility = changes.visibility { isPublic = visibility == .public }
            guard let settings = changes.settings else { break }
            isCounted = settings.countedAcrossRooms
            if !isCounted { for place in plays.indices { plays[place].isPublic = false } }
        case .tracksAdded(let added, let by):
            for track in added { songs[track.id] = (track.info, by) }
        case .durationSet(let track, let durationMs, _): songs[track]?.info.durationMs = durationMs
        case .entryFinished(let entry, let track, let reason, let startedAt, let playedMs, _, let endedAt, _):
            guard let (info, addedBy) = songs[track] else { break }
            let endedAt = endedAt ?? recorded.at
            let playedMs = min(max(playedMs, 0), 1 << 40)
            let play = CountedPlay(
                entry: entry.rawValue, track: TrackIdentity.track(info), number: track.rawValue,
                addedBy: addedBy.rawValue, startedAt: startedAt.milliseconds, endedAt: endedAt.milliseconds,
                playedMs: playedMs, reason: reason == .ended ? .ended : reason == .skipped ? .skipped : .replaced,
                isPlay: playedMs >= PlayRule.required(durationMs: info.durationMs), isPublic: isPublic && isCounted)
            plays.append(play)
            tracks[play.track] =
                tracks[play.track]
                ?? CountedTrack(
                    track: play.track, artistKey: TrackIdentity.artist(info), title: info.title, artist: info.artist)
            count(play, firstMinute: firstMinute)
        // These tell nothing about songs, and a store need not give them.
        case .memberLeft, .memberRenamed, .roomClosed, .roleChanged, .memberBanned, .memberUnbanned, .tracksRemoved,
            .waveformSet, .missingSet, .voteCast, .voteWithdrawn, .votesCleared, .entryEnqueued, .entryRemoved,
            .entryMoved, .playbackStarted, .playbackPaused, .playbackResumed, .playbackSeeked, .playbackStopped,
            .skipVoteCast, .skipVoteWithdrawn:
            break
        }
    }

    private mutating func count(_ play: CountedPlay, firstMinute: Int) {
        let minute = CountBucket(
            .minute, at: RoomTally.minute(of: Timestamp(milliseconds: play.endedAt)))
        var added = EventCounts()
        added.plays = play.isPlay ? 1 : 0
        added.skips = play.reason == .skipped ? 1 : 0
        added.playedMs = play.playedMs
        guard !added.isZero else { return }
        counts[minute.minute < firstMinute ? minute.quarter : minute, default: EventCounts()] += added
    }
}
