import ArgumentParser
import EventStorage
import FoundationEssentials
import RoomDomain
import RoomLog
import RoomStatistics

/// What questions about statistics cost: songs of a day across rooms, in some rooms, and the counts of a room's day.
struct Answers: AsyncParsableCommand {
    @OptionGroup var place: CountingPlace

    @Option(help: "Rooms, each of an owner of its own.")
    var rooms = 2_000

    @Option(help: "Songs that each room has played in the last day.")
    var plays = 100

    @Option(help: "Songs that there are.")
    var songs = 10_000

    @Option(help: "Rooms near a point.")
    var nearby = 200

    @Option(help: "How often each is asked.")
    var runs = 21

    func run() async throws {
        let store = try await place.open()
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        let streams = try await fill(store, at: now)
        EventLogLoad.announce("filled")
        let day = now - 86_400_000
        let near = stride(from: 0, to: streams.count, by: max(1, streams.count / nearby)).prefix(nearby).map {
            streams[$0]
        }
        var figures: [(name: String, value: Double)] = []
        for (name, streams, byArtist) in [
            ("tracks", [UUID]?.none, false), ("artists", nil, true), ("nearby_tracks", near, false),
            ("nearby_artists", near, true),
        ] {
            let question = TopQuestion(
                from: day, to: now, streams: streams, byArtist: byArtist, leastOwners: 5, limit: 200)
            figures += try await measured(name) {
                let top = try await store.top(question)
                guard top.count == 200 else { throw Defect("\(top.count) \(name) were played most") }
            }
        }
        let minute = Int(now / 60_000)
        figures += try await measured("day") {
            guard let counts = try await store.counts(of: streams[0], from: minute - 1_440, to: minute + 1),
                counts.counts.count == 1_440
            else { throw Defect("a room has no counts of its day") }
        }
        try await place.close(store)
        report(figures)
    }

    private func measured(
        _ name: String, _ body: () async throws -> Void
    ) async throws -> [(name: String, value: Double)] {
        var times: [Duration] = []
        for _ in 0..<runs {
            let start = ContinuousClock.now
            try await body()
            times.append(.now - start)
        }
        return times.percentiles(name)
    }

    /// Makes rooms that have played songs, of which some are played much more than others; the first one has counts of
    /// every minute of the day.
    private func fill(_ store: any CountingStore, at now: Int64) async throws -> [UUID] {
        let catalogue = (0..<songs).map { number in
            let info = TrackInfo(
                source: "catalogue", sourceID: "\(number)", title: "Title \(number)", artist: "Artist \(number % 1_000)"
            )
            return CountedTrack(
                track: TrackIdentity.track(info), artistKey: TrackIdentity.artist(info), title: info.title,
                artist: info.artist)
        }
        var streams: [UUID] = []
        for first in stride(from: 0, to: rooms, by: 250) {
            var part: [UUID] = []
            for _ in first..<min(rooms, first + 250) {
                var evening = Evening(at: now, votesPerSong: 1)
                try await evening.write(to: store, events: 1, counted: 0)
                part.append(evening.state.id.uuid)
            }
            try await store.beginCounting(part, version: RoomTally.definitions)
            let flushes = part.enumerated().map { flush($1, number: first + $0, of: catalogue, at: now) }
            guard try await store.count(flushes, at: now).allSatisfy({ $0 == .counted }) else {
                throw Defect("rooms were not counted")
            }
            streams += part
        }
        return streams
    }

    private func flush(_ stream: UUID, number: Int, of catalogue: [CountedTrack], at now: Int64) -> StatisticsFlush {
        var (counts, played, named): ([CountBucket: EventCounts], [CountedPlay], [UUID: CountedTrack]) = ([:], [], [:])
        for entry in 1...plays {
            // The cube of a uniform number: the first hundredth of the songs has a fifth of the plays.
            let place = Double.random(in: 0..<1)
            let track = catalogue[Int(place * place * place * Double(catalogue.count))]
            let ended = now - Int64(entry) * 86_400_000 / Int64(plays + 1)
            played.append(
                CountedPlay(
                    entry: entry, track: track.track, number: entry, addedBy: 1, startedAt: ended - 180_000,
                    endedAt: ended, playedMs: 180_000, reason: .ended, isPlay: true, isPublic: true))
            named[track.track] = track
            counts[CountBucket(.minute, at: Int(ended / 60_000)), default: EventCounts()].plays += 1
        }
        if number == 0 {
            for minute in 0..<1_440 {
                counts[CountBucket(.minute, at: Int(now / 60_000) - minute), default: EventCounts()].votes += 7
            }
        }
        return StatisticsFlush(
            stream: stream, epoch: Evening.epoch, version: RoomTally.definitions, since: 0, through: 1, counts: counts,
            plays: played, tracks: Array(named.values))
    }
}
