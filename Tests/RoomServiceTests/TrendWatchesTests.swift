import EventStorage
import FoundationEssentials
import NIOCore
import RoomDomain
import RoomTestSupport
import RoomWire
import Synchronization
import Testing

@testable import RoomService

/// What is told to those who watch what is played across rooms.
@Suite struct TrendWatchesTests {
    private static let song = TrackInfo(
        source: "shelf", sourceID: "c", title: "Common", artist: "Somebody", durationMs: 10_000)

    @Test func `a song that is heard in enough rooms is told to those who watch these rooms, or all, and to no other`()
        async throws
    {
        let clock = ManualClock()
        let counted = { (settings: inout RoomHostSettings) in
            settings.counting.leastOwners = 2
            settings.nearby.isKept = true
            settings.nearby.interval = .milliseconds(10)
        }
        try await withNode(clock: clock, isCounting: true, settings: counted) { node in
            let here = place(41.15, -8.61)
            var rooms: [(room: RoomID, owner: Person)] = []
            for _ in 0..<2 {
                let (room, owner) = try await node.makeRoom(at: here)
                _ = try await node.tell(.addTracks([Self.song]), in: room, by: owner)
                _ = try await node.tell(.enqueue(track: 1, index: nil), in: room, by: owner)
                rooms.append((room, owner))
            }
            #expect(await node.host.nearby.refresh())
            let queries = [
                TrendingQuery(window: .hour, place: NearbyQuery(origin: here)), TrendingQuery(window: .hour, limit: 1),
                TrendingQuery(window: .hour, place: NearbyQuery(origin: place(52.5, 13.4))),
            ]
            for (room, owner) in rooms { _ = try await node.tell(.play(entry: nil), in: room, by: owner) }
            clock.advance(milliseconds: 5_000)
            let watcher = TrendWatcher(on: node)
            for (sub, query) in queries.enumerated() {
                #expect(try await watcher.watch(query, sub: Int64(sub)).songs.isEmpty)
            }
            // To their end, as plays are; no watch is due yet.
            clock.advance(milliseconds: 5_000)
            for (room, owner) in rooms {
                _ = try await node.tell(.skip(entry: nil), in: room, by: owner)
                let head = node.store.head(of: room)
                try await eventually("it is counted") {
                    try await node.store.log.counts(of: room.uuid, from: 0, to: .max)?.position.seq == head
                }
            }
            clock.advance(milliseconds: 10_000)
            // What all rooms play is counted beside this test's time, and kept for ten seconds.
            let everywhere = try await node.host.statistics?.trendWatches.answer(queries[1], for: watcher.asker)
            #expect(everywhere?.answer.songs.count == 1)
            try await eventually("two are told") { watcher.told.count == 2 }
            // Whoever is told something is asked again as seldom as before, and told nothing that it has.
            clock.advance(milliseconds: 10_000)
            await node.advance(by: .seconds(60))
            _ = try await node.host.statistics?.trendWatches.answer(queries[1], for: watcher.asker)
            await node.advance(by: .seconds(1))
            #expect(Set(watcher.told.map(\.sub)) == [0, 1])
            #expect(watcher.told.count == 2)
            for (_, top) in watcher.told {
                #expect(top.songs.map(\.song.title) == ["Common"])
                #expect(top.songs.map(\.rooms) == [2] && top.songs.map(\.plays) == [2])
            }
            watcher.end()
        }
    }
}

/// Somebody who watches what is played across rooms, and takes each message at once.
private final class TrendWatcher: Sendable {
    private let node: Node
    private let client = WatchClient()
    let asker = Asker(SessionID(UUID()), from: nil)
    private let state = Mutex((watches: [WatchID](), told: [(sub: Int64, top: TopAnswer)]()))

    init(on node: Node) { self.node = node }

    /// What it was told after the first answers, in order.
    var told: [(sub: Int64, top: TopAnswer)] { state.withLock(\.told) }

    /// Begins a watch, and returns its first answer.
    func watch(_ query: TrendingQuery, sub: Int64) async throws -> TopAnswer {
        let watches = try #require(node.host.statistics?.trendWatches)
        let top = try await watches.answer(query, for: asker)
        let (watch, _) = watches.watch(query, top, sub: sub, of: client, for: asker) { watch, message in
            guard case .trendingDelta(let sub, let top)? = try? ServerMessage.Received.parse(message) else { return }
            self.state.withLock { $0.told.append((sub, top)) }
            watch.taken()
        }
        watch.taken()
        state.withLock { $0.watches.append(watch) }
        return top.answer
    }

    /// Ends its watches.
    func end() {
        for watch in state.withLock(\.watches) { node.host.statistics?.trendWatches.unwatch(watch) }
    }
}
