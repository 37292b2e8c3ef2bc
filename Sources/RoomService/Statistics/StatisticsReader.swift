import EventStorage
import FoundationEssentials
import Logging
import NIOCore
package import RoomDomain
package import RoomStatistics
package import RoomWire

/// Answers questions about what is counted of rooms, for those who may look at them; may be used on any thread.
package struct StatisticsReader: Sendable {
    /// The songs of one answer.
    package static let mostSongs = 500

    /// What is played across rooms.
    package let acrossRooms: AcrossRooms
    /// Those who watch rooms' counts.
    package let countWatches: CountWatches
    /// Those who watch what is played across rooms.
    package let trendWatches: TrendWatches

    private let registry: RoomRegistry
    private let statistics: StatisticsQueue
    private let clock: ServerClock
    private let rankings = SharedQuestions<Ranking, StreamRanking?>()

    /// A question for what was played most in a room.
    private struct Ranking: Hashable {
        var room: RoomID
        var from: Int64
        var to: Int64
        var byArtist: Bool
        var limit: Int
    }

    init(
        registry: RoomRegistry, nearby: NearbyRooms, statistics: any StatisticsStore, settings: CountingSettings,
        loop: any EventLoop, logger: Logger
    ) {
        self.registry = registry
        self.statistics = StatisticsQueue(statistics, registry.dependencies.heavyWork, loop: loop, logger: logger)
        clock = registry.dependencies.clock
        acrossRooms = AcrossRooms(statistics: self.statistics, nearby: nearby, clock: clock, settings: settings)
        countWatches = CountWatches(registry: registry, statistics: self.statistics)
        trendWatches = TrendWatches(of: acrossRooms, clock: clock)
    }

    /// Runs a question beside the event loops; returns false if the process ends and it is not run.
    package func start(_ question: @escaping @Sendable () async -> Void) -> Bool {
        registry.dependencies.jobs.start(question)
    }

    /// Tells watchers of changes until cancellation; call once.
    func run() async {
        async let counts: Void = countWatches.run()
        await trendWatches.run()
        await counts
    }

    /// Returns the counts of a room.
    package func counts(
        of room: RoomID, _ query: StatisticsQuery, for asker: Asker
    ) async throws(RoomFailure) -> StatisticsAnswer {
        let (position, isForgotten) = try await look(at: room, for: asker)
        let (stored, seen, sealed) = try await statistics.ask(for: asker) { (store) async throws(StorageFault) in
            (
                isForgotten ? nil : try await store.counts(of: room.uuid, from: query.from, to: query.to),
                isForgotten ? [:] : try await store.audience(of: room.uuid, from: query.from, to: query.to),
                try await store.sealedThrough()
            )
        }
        return StatisticsAnswer(
            room: room, position: Position(stored?.position, of: position), time: clock.now, step: query.step.rawValue,
            from: Timestamp(minute: query.from), to: Timestamp(minute: query.to),
            buckets: query.sums(of: stored?.counts ?? [:]).map { StatisticsBucket($0.counts, at: $0.minute) },
            observed: query.sums(of: seen).map { minute, audience in
                ObservedBucket(
                    at: Timestamp(minute: minute), peakListeners: audience.peak, listenedMs: Int(audience.listenedMs))
            }, sealedThrough: sealed.map { StatisticsDay($0).description })
    }

    /// Returns a page of the songs that were on air, newest first, as JSON.
    package func plays(
        of room: RoomID, from: Int64, to: Int64, before: PlayCursor?, limit: Int, for asker: Asker
    ) async throws(RoomFailure) -> [UInt8] {
        let (position, isForgotten) = try await look(at: room, for: asker)
        if isForgotten { return HTTPBody.plays([], at: Position(nil, of: position), next: nil) }
        let limit = min(limit, Self.mostSongs)
        let stored = try await statistics.ask(for: asker) { (store) async throws(StorageFault) in
            try await store.plays(of: room.uuid, from: from, to: to, before: before?.place, limit: limit + 1)
        }
        let page = stored?.plays.prefix(limit) ?? []
        let next = (stored?.plays.count ?? 0) > limit ? page.last.map { PlayCursor($0.place).text } : nil
        let songs = try await songs(of: room, page.map { ($0.track, $0.number, $0.addedBy) }, for: asker)
        let plays = page.map { play in
            PlayedSong(
                entry: EntryID(rawValue: play.entry), song: songs[play.number] ?? CountedSong(unknown: play.number),
                startedAt: Timestamp(milliseconds: play.startedAt), endedAt: Timestamp(milliseconds: play.endedAt),
                reason: FinishReason(play.reason), playedMs: play.playedMs, isPlay: play.isPlay)
        }
        return HTTPBody.plays(plays, at: Position(stored?.position, of: position), next: next)
    }

    /// Returns the songs, or the artists, that were played most, as JSON.
    ///
    /// Equal questions at a time are answered together.
    package func ranking(
        of room: RoomID, from: Int64, to: Int64, byArtist: Bool, limit: Int, for asker: Asker
    ) async throws(RoomFailure) -> [UInt8] {
        let (position, isForgotten) = try await look(at: room, for: asker)
        if isForgotten { return HTTPBody.ranked([], areArtists: byArtist, at: Position(nil, of: position)) }
        let question = Ranking(room: room, from: from, to: to, byArtist: byArtist, limit: min(limit, Self.mostSongs))
        let stored = try await rankings.answer(question) { () async throws(RoomFailure) in
            try await statistics.ask(for: asker) { (store) async throws(StorageFault) in
                try await store.ranking(
                    of: room.uuid, from: from, to: to, byArtist: byArtist, limit: question.limit)
            }
        }
        let tracks = stored?.tracks ?? []
        let songs = try await songs(of: room, tracks.map { ($0.track.track, $0.number, $0.addedBy) }, for: asker)
        let ranked = tracks.map { track in
            RankedSong(
                song: songs[track.number] ?? CountedSong(track.track, number: track.number, addedBy: track.addedBy),
                plays: track.plays, skips: track.skips, playedMs: track.playedMs)
        }
        return HTTPBody.ranked(ranked, areArtists: byArtist, at: Position(stored?.position, of: position))
    }

    /// The room's position, and whether it is to be forgotten: of such a room nothing is shown, although the store may
    /// still have it.
    private func look(
        at room: RoomID, for asker: Asker
    ) async throws(RoomFailure) -> (position: Position, isForgotten: Bool) {
        try await registry.withRoom(room, for: asker.session) { ($0.position, $0.confirmed.isForgotten) }
    }

    /// Describes songs by their numbers: as the pool has them, and those that have left it as they are counted.
    private func songs(
        of room: RoomID, _ counted: [(track: UUID, number: Int, addedBy: Int)], for asker: Asker
    ) async throws(RoomFailure) -> [Int: CountedSong] {
        let numbers = Set(counted.map(\.number))
        var songs = try await registry.withRoom(room, for: asker.session) { live in
            var songs: [Int: CountedSong] = [:]
            for number in numbers {
                guard let track = live.confirmed.tracks[TrackID(rawValue: number)] else { continue }
                songs[number] = CountedSong(
                    track: track.id, source: track.info.source, sourceID: track.info.sourceID,
                    title: track.info.title, artist: track.info.artist, addedBy: track.addedBy)
            }
            return songs
        }
        let gone = counted.filter { songs[$0.number] == nil }
        guard !gone.isEmpty else { return songs }
        let tracks = Array(Set(gone.map(\.track)))
        let known = try await statistics.ask(for: asker) { (store) async throws(StorageFault) in
            try await store.countedTracks(tracks)
        }
        let names = Dictionary(known.map { ($0.track, $0) }) { one, _ in one }
        for song in gone {
            guard let name = names[song.track] else { continue }
            songs[song.number] = CountedSong(name, number: song.number, addedBy: song.addedBy)
        }
        return songs
    }
}

/// Where the next page of songs begins: opaque text for clients.
package struct PlayCursor: Sendable {
    let place: PlayPlace

    init(_ place: PlayPlace) { self.place = place }

    /// Reads ``text``; nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let endedAt = Int64(parts[0]), let entry = Int(parts[1]), entry > 0 else { return nil }
        place = PlayPlace(endedAt: endedAt, entry: entry)
    }

    var text: String { "\(place.endedAt).\(place.entry)" }
}

extension Position {
    /// The position to which a room is counted; 0 if that has not begun.
    init(_ counted: CountedPosition?, of position: Position) {
        self.init(epoch: counted?.epoch ?? position.epoch, seq: counted?.seq ?? 0)
    }
}

extension Timestamp {
    /// The beginning of a minute, in minutes since the Unix epoch.
    init(minute: Int) { self.init(milliseconds: Int64(minute) * 60_000) }
}

extension StatisticsBucket {
    init(_ counts: EventCounts, at minute: Int) {
        self.init(
            at: Timestamp(minute: minute),
            counts: [
                .starts: counts.starts, .plays: counts.plays, .skips: counts.skips, .playedMs: Int(counts.playedMs),
                .votes: counts.votes, .unvotes: counts.unvotes, .requests: counts.requests, .joins: counts.joins,
                .leaves: counts.leaves, .tracksAdded: counts.tracksAdded,
            ])
    }
}

extension FinishReason {
    fileprivate init(_ reason: CountedPlay.Reason) {
        switch reason {
        case .ended: self = .ended
        case .skipped: self = .skipped
        case .replaced: self = .replaced
        }
    }
}

extension CountedSong {
    /// A song that has left the pool.
    fileprivate init(_ track: CountedTrack, number: Int, addedBy: Int) {
        self.init(
            track: TrackID(rawValue: number), source: nil, sourceID: nil, title: track.title, artist: track.artist,
            addedBy: MemberID(rawValue: addedBy))
    }

    /// A song of which nothing is known, which no store leaves behind.
    fileprivate init(unknown number: Int) {
        self.init(
            track: TrackID(rawValue: number), source: nil, sourceID: nil, title: "", artist: nil, addedBy: nil)
    }
}
