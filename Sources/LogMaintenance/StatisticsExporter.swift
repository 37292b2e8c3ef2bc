package import EventStorage
import FoundationEssentials
import RoomDomain
import RoomWire

/// Writes statistics as lines of JSON, for other tools: a flat object a line, whose `kind` is `play`, `count` or
/// `audience`.
///
/// Servers may count meanwhile: each room is exported as it is when it is read.
package struct StatisticsExporter {
    /// What was written.
    package struct Counts: Hashable, Sendable {
        package var rooms = 0
        package var lines = 0
    }

    /// The number of bytes that are gathered before they are written.
    private static let chunk = 1 << 16
    private static let playsPerPage = 1_000

    private let archive: any StatisticsArchive
    private let write: ([UInt8]) async -> Bool
    private let progress: (Counts) -> Void
    private var counts = Counts()
    private var buffer: [UInt8] = []
    private var isAlive = true

    /// Makes an exporter that passes its output to `write`, which returns false when the reader is gone, and now and then
    /// its counts to `progress`.
    package init(
        _ archive: any StatisticsArchive, write: @escaping ([UInt8]) async -> Bool,
        progress: @escaping (Counts) -> Void = { _ in }
    ) {
        self.archive = archive
        self.write = write
        self.progress = progress
    }

    /// Exports everything; nil if the reader is gone.
    package mutating func export() async throws(StorageFault) -> Counts? {
        var last: UUID?
        while isAlive {
            let page = try await archive.countedStreams(after: last, limit: 1_000)
            guard let end = page.last else { break }
            last = end.stream
            for room in page where isAlive && room.counted != nil { try await export(room.stream) }
        }
        await flush()
        return isAlive ? counts : nil
    }

    private mutating func export(_ room: UUID) async throws(StorageFault) {
        guard let stored = try await archive.counts(of: room, from: 0, to: .max) else { return }
        for (bucket, counts) in stored.counts.sorted(by: { $0.key < $1.key }) {
            await put { writer in
                writer.member("kind", "count")
                writer.member("room", room)
                writer.member("at", Int64(bucket.minute) * 60_000)
                writer.member("minutes", bucket.step.rawValue)
                writer.member("starts", counts.starts)
                writer.member("plays", counts.plays)
                writer.member("skips", counts.skips)
                writer.member("playedMs", counts.playedMs)
                writer.member("votes", counts.votes)
                writer.member("unvotes", counts.unvotes)
                writer.member("requests", counts.requests)
                writer.member("joins", counts.joins)
                writer.member("leaves", counts.leaves)
                writer.member("tracksAdded", counts.tracksAdded)
            }
        }
        for (bucket, audience) in try await archive.audience(of: room, from: 0, to: .max).sorted(by: { $0.key < $1.key }
        ) {
            await put { writer in
                writer.member("kind", "audience")
                writer.member("room", room)
                writer.member("at", Int64(bucket.minute) * 60_000)
                writer.member("minutes", bucket.step.rawValue)
                writer.member("peakListeners", audience.peak)
                writer.member("listenedMs", audience.listenedMs)
            }
        }
        var before: PlayPlace?
        while isAlive,
            let page = try await archive.plays(of: room, from: 0, to: .max, before: before, limit: Self.playsPerPage),
            let end = page.plays.last
        {
            before = end.place
            let named = try await archive.countedTracks(Array(Set(page.plays.map(\.track))))
            let names = Dictionary(named.map { ($0.track, $0) }) { one, _ in one }
            for play in page.plays { await put(play, names[play.track], in: room) }
        }
        counts.rooms += 1
        progress(counts)
    }

    private mutating func put(_ play: CountedPlay, _ track: CountedTrack?, in room: UUID) async {
        await put { writer in
            writer.member("kind", "play")
            writer.member("room", room)
            writer.member("entry", play.entry)
            writer.member("song", play.track)
            writer.member("title", track?.title)
            writer.member("artist", track?.artist)
            writer.member("track", play.number)
            writer.member("addedBy", play.addedBy)
            writer.member("startedAt", play.startedAt)
            writer.member("endedAt", play.endedAt)
            writer.member("playedMs", play.playedMs)
            writer.member("reason", "\(play.reason)")
            writer.member("isPlay", play.isPlay)
            writer.member("countsAcrossRooms", play.isPublic)
        }
    }

    // MARK: Output

    private mutating func put(_ write: (inout JSONWriter) -> Void) async {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        write(&writer)
        writer.endObject()
        buffer += writer.bytes
        buffer.append(UInt8(ascii: "\n"))
        counts.lines += 1
        if buffer.count >= Self.chunk { await flush() }
    }

    private mutating func flush() async {
        guard isAlive, !buffer.isEmpty else { return }
        isAlive = await write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}
