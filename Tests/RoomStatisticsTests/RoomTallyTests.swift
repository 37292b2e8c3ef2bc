import EventStorage
import RandomTestSupport
import RoomDomain
import RoomLog
import RoomStatistics
import RoomTestSupport
import RoomWire
import Testing

/// What is counted of random histories, however they are cut.
@Suite struct RoomTallyTests {
    private static let events = 700
    private static let epoch = "epoch"
    /// A time at which all events are counted by the minute.
    private static let early = Timestamp(milliseconds: 0)

    @Test(arguments: TestSeed.several(3))
    func `the tally of a history is what a plain count of its events says`(seed: UInt64) throws {
        let log = try RandomRoom.history(events: Self.events, seed: seed)
        let tally = try tally(log, from: 0)
        let plain = PlainCount(log)
        let flush = tally.flush(at: Self.early)
        #expect(flush.since == 0 && flush.through == log.count, "seed \(seed)")
        #expect(flush.counts.allSatisfy { $0.key.step == .minute }, "seed \(seed)")
        #expect(tally.minutes == plain.minutes, "seed \(seed)")
        #expect(flush.plays == plain.plays, "seed \(seed)")
        #expect(flush.withdraws == plain.withdraws, "seed \(seed)")
        #expect(Set(flush.tracks.map(\.track)) == Set(plain.plays.map(\.track)), "seed \(seed)")
        #expect(flush.tracks.count == Set(flush.tracks.map(\.track)).count, "seed \(seed)")
    }

    @Test func `random histories have all that is counted`() throws {
        var sum = EventCounts()
        var plays: [CountedPlay] = []
        var withdrawals = 0
        for seed in TestSeed.fixed(0..<40) {
            let tally = try tally(RandomRoom.history(events: 300, seed: seed), from: 0)
            for counts in tally.minutes.values { sum += counts }
            plays += tally.flush(at: Self.early).plays
            withdrawals += tally.flush(at: Self.early).withdraws ? 1 : 0
        }
        for field in EventCounts.numbers { #expect(sum[keyPath: field] > 0, "\(sum)") }
        #expect(sum.playedMs > 0 && withdrawals > 0)
        #expect(Set(plays.map(\.reason)) == Set(CountedPlay.Reason.allCases))
        #expect(Set(plays.map(\.isPlay)).count == 2 && Set(plays.map(\.isPublic)).count == 2)
    }

    @Test(arguments: TestSeed.several(3))
    func `a history that is cut anywhere counts the same`(seed: UInt64) throws {
        let log = try RandomRoom.history(events: Self.events, seed: seed)
        let whole = try tally(log, from: 0)
        var random = SeededRandom(seed: seed)
        var sum = RoomTally(of: try room(of: log), in: Self.epoch, after: 0)
        var stored = Rows()
        while sum.through < log.count {
            // A part may be empty, but for the first: it has the room's beginning.
            let end = min(log.count, sum.through + Int.random(in: (sum.through == 0 ? 1 : 0)...30, using: &random))
            let part = try tally(Array(log[..<end]), from: sum.through)
            let isAdded = sum.add(part)
            #expect(isAdded, "seed \(seed)")
            stored.add(part.flush(at: Self.early))
            // What does not follow is not added.
            let isAddedTwice = !part.isEmpty && sum.add(part)
            #expect(!isAddedTwice, "seed \(seed)")
        }
        #expect(sum.flush(at: Self.early) == whole.flush(at: Self.early), "seed \(seed)")
        var once = Rows()
        once.add(whole.flush(at: Self.early))
        #expect(stored == once, "seed \(seed)")
    }

    @Test(arguments: TestSeed.several(2))
    func `stored events count as typed ones do`(seed: UInt64) throws {
        let log = try RandomRoom.history(events: Self.events, seed: seed)
        let id = try room(of: log)
        let read = try log.map { try EventJSON.recorded(EventJSON.stored($0, in: id)) }
        #expect(
            try tally(read, from: 0).flush(at: Self.early) == tally(log, from: 0).flush(at: Self.early), "seed \(seed)")
    }

    @Test func `what is older than two days is counted by the quarter of an hour`() throws {
        let log = try RandomRoom.history(events: Self.events, seed: TestSeed.fixed(5))
        let tally = try tally(log, from: 0)
        let minutes = tally.minutes.keys.sorted()
        let middle = minutes[minutes.count / 2]
        let now = Timestamp(milliseconds: Int64(middle + RoomTally.minutesKept) * 60_000)
        let first = RoomTally.firstMinuteKept(at: now)
        #expect(first % 15 == 0 && (middle - 14...middle).contains(first))
        var quarters: [CountBucket: EventCounts] = [:]
        let flush = tally.flush(at: now)
        for (minute, counts) in tally.minutes where minute < first {
            quarters[CountBucket(.quarter, at: minute - minute % 15), default: EventCounts()] += counts
        }
        #expect(flush.counts.filter { $0.key.step == .quarter } == quarters)
        #expect(
            Dictionary(
                uniqueKeysWithValues: flush.counts.filter { $0.key.step == .minute }.map { ($0.key.minute, $0.value) })
                == tally.minutes.filter { $0.key >= first })
    }

    @Test func `an event that does not follow is not counted`() throws {
        let log = try RandomRoom.history(events: 60, seed: TestSeed.fixed(3))
        var tally = try tally(log, from: 0)
        let before = tally.flush(at: Self.early)
        let state = log.reduce(into: RoomState(id: try room(of: log))) { $0.evolve($1) }
        tally.add(log[10], in: state)
        var later = log[10]
        later.seq = log.count + 2
        tally.add(later, in: state)
        #expect(tally.flush(at: Self.early) == before)
    }

    @Test(arguments: [
        (Int64.min, 0), (-1, 0), (0, 0), (59_999, 0), (60_000, 1), (1_782_000_000_000, 29_700_000),
        (.max, Int(Int32.max) - 15),
    ])
    func `every instant has a minute that a store can hold`(milliseconds: Int64, minute: Int) {
        #expect(RoomTally.minute(of: Timestamp(milliseconds: milliseconds)) == minute)
        #expect(CountBucket(.minute, at: minute).quarter.minute % 15 == 0)
    }

    private func room(of log: [RecordedEvent]) throws -> RoomID {
        guard case .roomCreated(let room) = try #require(log.first).event else { throw NoRoom() }
        return room.id
    }

    /// The tally of the events after `seq`.
    private func tally(_ log: [RecordedEvent], from seq: Int) throws -> RoomTally {
        var tally = RoomTally(of: try room(of: log), in: Self.epoch, after: seq)
        var state = RoomState(id: try room(of: log))
        for event in log {
            state.evolve(event)
            if event.seq > seq { tally.add(event, in: state) }
        }
        return tally
    }
}

private struct NoRoom: Error {}

/// The rows of one room.
private struct Rows: Equatable {
    private var counts: [CountBucket: EventCounts] = [:]
    private var plays: [CountedPlay] = []

    mutating func add(_ flush: StatisticsFlush) {
        for (bucket, counts) in flush.counts { self.counts[bucket, default: EventCounts()] += counts }
        if flush.withdraws { for place in plays.indices { plays[place].isPublic = false } }
        plays += flush.plays
    }
}

/// The definitions once more, from the events alone.
private struct PlainCount {
    var minutes: [Int: EventCounts] = [:]
    var plays: [CountedPlay] = []
    var withdraws = false
    private var tracks: [TrackID: (info: TrackInfo, by: MemberID)] = [:]
    private var isPublic = false
    private var isCounted = true

    init(_ log: [RecordedEvent]) {
        for recorded in log {
            let minute = Int(recorded.at.milliseconds / 60_000)
            switch recorded.event {
            case .roomCreated(let room):
                (isPublic, isCounted) = (room.visibility == .public, room.settings.countedAcrossRooms)
            case .roomUpdated(let changes):
                isPublic = changes.visibility.map { $0 == .public } ?? isPublic
                isCounted = changes.settings?.countedAcrossRooms ?? isCounted
                if changes.settings?.countedAcrossRooms == false {
                    withdraws = true
                    for place in plays.indices { plays[place].isPublic = false }
                }
            case .tracksAdded(let added, let by):
                for track in added { tracks[track.id] = (track.info, by) }
                add(\.tracksAdded, added.count, minute)
            case .durationSet(let track, let durationMs, _): tracks[track]?.info.durationMs = durationMs
            case .voteCast(_, _, _, let requested):
                add(\.votes, 1, minute)
                if requested == recorded.seq { add(\.requests, 1, minute) }
            case .voteWithdrawn: add(\.unvotes, 1, minute)
            case .memberJoined: add(\.joins, 1, minute)
            case .memberLeft: add(\.leaves, 1, minute)
            case .playbackStarted: add(\.starts, 1, minute)
            case .entryFinished(let entry, let id, let reason, let startedAt, let playedMs, _, let endedAt, _):
                guard let track = tracks[id] else { break }
                let ended = endedAt ?? recorded.at
                let half = Double(track.info.durationMs ?? 60_000) / 2
                var isPlay = Double(playedMs) >= min(max(half, 30_000), 240_000)
                if let length = track.info.durationMs, length >= 10_000, length < 30_000 { isPlay = playedMs >= length }
                let minute = Int(ended.milliseconds / 60_000)
                if isPlay { add(\.plays, 1, minute) }
                if reason == .skipped { add(\.skips, 1, minute) }
                minutes[minute, default: EventCounts()].playedMs += playedMs
                if minutes[minute]?.isZero == true { minutes[minute] = nil }
                plays.append(
                    CountedPlay(
                        entry: entry.rawValue, track: TrackIdentity.track(track.info), number: id.rawValue,
                        addedBy: track.by.rawValue, startedAt: startedAt.milliseconds, endedAt: ended.milliseconds,
                        playedMs: playedMs,
                        reason: reason == .ended ? .ended : reason == .skipped ? .skipped : .replaced,
                        isPlay: isPlay, isPublic: isPublic && isCounted))
            case .memberRenamed, .roomClosed, .roleChanged, .memberBanned, .memberUnbanned, .tracksRemoved,
                .waveformSet,
                .missingSet, .votesCleared, .entryEnqueued, .entryRemoved, .entryMoved, .playbackPaused,
                .playbackResumed, .playbackSeeked, .playbackStopped, .skipVoteCast, .skipVoteWithdrawn:
                break
            }
        }
    }

    private mutating func add(_ field: WritableKeyPath<EventCounts, Int>, _ count: Int, _ minute: Int) {
        minutes[minute, default: EventCounts()][keyPath: field] += count
    }
}
