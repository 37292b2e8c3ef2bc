package import EventStorage
import FoundationEssentials
package import RoomDomain

/// What is counted of a room's events between two positions, by the definitions of `Documentation/Statistics.md`.
///
/// It is always safe to drop a tally: the log has everything that was counted.
package struct RoomTally: Sendable {
    /// The version of the definitions: counts of an earlier version are made anew.
    package static let definitions = 2

    /// The room.
    package let room: RoomID
    /// The epoch of the log that is counted.
    package let epoch: String
    /// The number of the event before the first.
    package private(set) var since: Int
    /// The number of the last event that is counted.
    package private(set) var through: Int
    /// When the first event was recorded; nil if there is none.
    package private(set) var beganAt: Timestamp?

    /// The minute that is being counted; its counts are in `current`.
    private var minute = 0
    private var current = EventCounts()
    /// The counts of other minutes, in minutes since the Unix epoch.
    private var earlier: [Int: EventCounts] = [:]
    /// The entries that ended; the identities of their songs are hashes, which are made with the rows.
    private var plays: [EndedEntry] = []
    /// Whether the room has left the numbers across rooms.
    private var withdraws = false
    /// The session that made the room, if its joining is counted.
    private var founder: UUID?

    /// A tally that begins after the event `seq`.
    package init(of room: RoomID, in epoch: String, after seq: Int) {
        self.room = room
        self.epoch = epoch
        since = seq
        through = seq
    }

    /// A tally of the first events of a room.
    package init(of room: RoomID, in epoch: String, countingFirst events: [RecordedEvent]) {
        self.init(of: room, in: epoch, after: 0)
        var state = RoomState(id: room)
        for event in events {
            state.evolve(event)
            add(event, in: state)
        }
    }

    /// Whether no event is counted.
    package var isEmpty: Bool { since == through }

    /// About how many rows of the store it changes.
    package var rows: Int { earlier.count + 1 + 2 * plays.count }

    /// Counts the next event; `room` is the room after it.
    ///
    /// An event that is not the next one is not counted.
    package mutating func add(_ recorded: RecordedEvent, in room: RoomState) {
        guard recorded.seq == through + 1 else { return }
        through = recorded.seq
        if beganAt == nil { beganAt = recorded.at }
        switch recorded.event {
        case .playbackStarted: count(at: recorded.at) { $0.starts += 1 }
        case .voteCast(_, _, _, let requestedSeq):
            count(at: recorded.at) {
                $0.votes += 1
                if requestedSeq == recorded.seq { $0.requests += 1 }
            }
        case .voteWithdrawn: count(at: recorded.at) { $0.unvotes += 1 }
        case .memberJoined(_, _, _, let session):
            if recorded.seq == Self.founding { founder = session.uuid }
            count(at: recorded.at) { $0.joins += 1 }
        case .memberLeft: count(at: recorded.at) { $0.leaves += 1 }
        case .tracksAdded(let tracks, _): count(at: recorded.at) { $0.tracksAdded += tracks.count }
        case .entryFinished(let entry, let track, let reason, let startedAt, let playedMs, _, let endedAt, _):
            guard let track = room.tracks[track] else { return }
            let playedMs = min(max(playedMs, 0), Self.longest)
            let play = EndedEntry(
                entry: entry, track: track, startedAt: startedAt, endedAt: endedAt ?? recorded.at, playedMs: playedMs,
                reason: reason, isPlay: playedMs >= PlayRule.required(durationMs: track.info.durationMs),
                isPublic: room.countsAcrossRooms)
            plays.append(play)
            count(at: play.endedAt) {
                if play.isPlay { $0.plays += 1 }
                if reason == .skipped { $0.skips += 1 }
                $0.playedMs += playedMs
            }
        case .roomUpdated(let changes):
            if changes.settings?.countedAcrossRooms == false { withdraw() }
        case .roomCreated, .memberRenamed, .roomClosed, .roleChanged, .memberBanned, .memberUnbanned,
            .tracksRemoved, .waveformSet, .durationSet, .missingSet, .votesCleared, .entryEnqueued, .entryRemoved,
            .entryMoved, .playbackPaused, .playbackResumed, .playbackSeeked, .playbackStopped, .skipVoteCast,
            .skipVoteWithdrawn:
            break
        }
    }

    /// The number of the event by which the founder joins: the one after the room's creation.
    package static let founding = 2

    /// The longest time for which one entry is counted as heard, in milliseconds: 34 years, so that sums stay exact.
    private static let longest: Int64 = 1 << 40

    /// Takes the room's earlier plays out of the numbers across rooms.
    private mutating func withdraw() {
        withdraws = true
        for place in plays.indices { plays[place].isPublic = false }
    }

    private mutating func count(at instant: Timestamp, _ change: (inout EventCounts) -> Void) {
        let minute = Self.minute(of: instant)
        if minute != self.minute {
            store()
            self.minute = minute
            current = earlier.removeValue(forKey: minute) ?? EventCounts()
        }
        change(&current)
    }

    private mutating func store() {
        if !current.isZero { earlier[minute] = current }
    }

    /// The minute of an instant, in minutes since the Unix epoch; instants that no clock shows count as the nearest
    /// that a store can hold.
    package static func minute(of instant: Timestamp) -> Int {
        Int(min(max(instant.milliseconds, 0) / 60_000, Int64(Int32.max) - 15))
    }

    /// Counts what `later` has counted; false, without effect, if that does not begin where this ends.
    package mutating func add(_ later: RoomTally) -> Bool {
        guard later.room == room, later.epoch == epoch, later.since == through else { return false }
        through = later.through
        beganAt = beganAt ?? later.beganAt
        store()
        current = EventCounts()
        for (minute, counts) in later.minutes { earlier[minute, default: EventCounts()] += counts }
        current = earlier.removeValue(forKey: minute) ?? EventCounts()
        if later.withdraws { withdraw() }
        founder = founder ?? later.founder
        plays += later.plays
        return true
    }

    /// The counts by minute, in minutes since the Unix epoch.
    package var minutes: [Int: EventCounts] {
        var minutes = earlier
        if !current.isZero { minutes[minute] = current }
        return minutes
    }

    /// The minutes for which counts are kept by the minute; older ones are kept by the quarter of an hour.
    package static let minutesKept = 48 * 60

    /// The first minute whose counts are kept by the minute at `now`.
    package static func firstMinuteKept(at now: Timestamp) -> Int {
        CountBucket(.minute, at: minute(of: now) - minutesKept).quarter.minute
    }

    /// The flush that adds this to what is stored at `now`.
    package func flush(at now: Timestamp) -> StatisticsFlush {
        let first = Self.firstMinuteKept(at: now)
        var counts: [CountBucket: EventCounts] = [:]
        for (minute, added) in minutes {
            let bucket = CountBucket(.minute, at: minute)
            counts[minute < first ? bucket.quarter : bucket, default: EventCounts()] += added
        }
        var (identities, named, tracks): ([TrackID: UUID], Set<UUID>, [CountedTrack]) = ([:], [], [])
        let rows = plays.map { play in
            let info = play.track.info
            let identity = identities[play.track.id] ?? TrackIdentity.track(info)
            identities[play.track.id] = identity
            if named.insert(identity).inserted {
                tracks.append(
                    CountedTrack(
                        track: identity, artistKey: TrackIdentity.artist(info), title: info.title, artist: info.artist))
            }
            return CountedPlay(play, of: identity)
        }
        return StatisticsFlush(
            stream: room.uuid, epoch: epoch, version: Self.definitions, since: since, through: through, counts: counts,
            plays: rows, tracks: tracks, withdraws: withdraws, founder: founder)
    }
}

/// An entry that has ended, with its song.
private struct EndedEntry {
    let entry: EntryID
    let track: Track
    let startedAt: Timestamp
    let endedAt: Timestamp
    let playedMs: Int64
    let reason: FinishReason
    let isPlay: Bool
    var isPublic: Bool
}

extension CountedPlay {
    fileprivate init(_ ended: EndedEntry, of track: UUID) {
        self.init(
            entry: ended.entry.rawValue, track: track, number: ended.track.id.rawValue,
            addedBy: ended.track.addedBy.rawValue, startedAt: ended.startedAt.milliseconds,
            endedAt: ended.endedAt.milliseconds, playedMs: ended.playedMs, reason: Reason(ended.reason),
            isPlay: ended.isPlay, isPublic: ended.isPublic)
    }
}

extension CountedPlay.Reason {
    fileprivate init(_ reason: FinishReason) {
        switch reason {
        case .ended: self = .ended
        case .skipped: self = .skipped
        case .replaced: self = .replaced
        }
    }
}

extension RoomState {
    /// Whether the room's plays count in numbers across rooms.
    var countsAcrossRooms: Bool { visibility == .public && settings.countedAcrossRooms }
}
