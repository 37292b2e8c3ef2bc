import ArgumentParser
import EventStorage
import FoundationEssentials
import PostgresEventStore
import RoomStatistics

/// Raw flushes of counts: a counted position and a row of the minute for each room, and songs that ended in some.
struct Flushes: AsyncParsableCommand {
    @OptionGroup var log: LogOptions

    @Option(help: "Rooms, which are counted one batch after the other.")
    var rooms = 1_000

    @Option(help: "Rooms in one flush.")
    var batch = 250

    @Option(help: "Events of each room in a flush.")
    var events = 6

    @Option(help: "A song has ended in one of so many rooms of a flush.")
    var songs = 20

    func run() async throws {
        let store = try await log.open(connections: 2)
        let streams = try await Appends.makeStreams(rooms, on: store).sorted { $0.uuidString < $1.uuidString }
        try await store.beginCounting(streams, version: RoomTally.definitions)
        // Songs of a catalogue: few are new to the table.
        let catalogue = (0..<1_000).map { number in
            CountedTrack(track: UUID(), artistKey: nil, title: "Title \(number)", artist: "Artist \(number % 100)")
        }
        var (counted, next, number, times) = (Array(repeating: 0, count: rooms), 0, 0, [Duration]())
        let start = 1_700_000_000_000
        log.announce("begin")
        let ends = ContinuousClock.now + .seconds(log.seconds)
        while ContinuousClock.now < ends {
            // A minute of a room is written 120 times, twice a second.
            let minute = start / 60_000 + number / (rooms / batch) / 120
            let flushes = (next..<min(next + batch, rooms)).map { index in
                defer { counted[index] += events }
                return flush(streams[index], after: counted[index], minute: minute, room: index, of: catalogue)
            }
            let began = ContinuousClock.now
            guard try await store.count(flushes, at: Int64(minute) * 60_000).allSatisfy({ $0 == .counted }) else {
                throw Defect("nobody else counts, and there was a conflict")
            }
            times.append(.now - began)
            number += 1
            next = next + batch < rooms ? next + batch : 0
        }
        log.announce("end")
        await store.close()
        report([("rooms", Double(times.count * min(batch, rooms)))] + times.percentiles("flush"))
    }

    private func flush(
        _ stream: UUID, after seq: Int, minute: Int, room: Int, of catalogue: [CountedTrack]
    ) -> StatisticsFlush {
        var counts = EventCounts()
        counts.votes = events
        var (plays, tracks): ([CountedPlay], [CountedTrack]) = ([], [])
        if (room + seq / events) % songs == 0 {
            let track = catalogue[(room + seq) % catalogue.count]
            let ended = Int64(minute) * 60_000
            (counts.votes, counts.starts, counts.plays, counts.playedMs) = (events - 1, 1, 1, 180_000)
            plays = [
                CountedPlay(
                    entry: seq + 1, track: track.track, number: 1, addedBy: 1, startedAt: ended - 180_000,
                    endedAt: ended, playedMs: 180_000, reason: .ended, isPlay: true, isPublic: true)
            ]
            tracks = [track]
        }
        return StatisticsFlush(
            stream: stream, epoch: "epoch", version: RoomTally.definitions, since: seq, through: seq + events,
            counts: [CountBucket(.minute, at: minute): counts], plays: plays, tracks: tracks)
    }
}
