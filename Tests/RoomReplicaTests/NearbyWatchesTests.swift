import FoundationEssentials
import GeoSearch
import RoomDomain
import RoomReplica
import RoomWire
import Testing

@Suite struct NearbyWatchesTests {
    private let query: NearbyQuery

    init() throws {
        query = NearbyQuery(origin: try #require(Coordinate(latitude: 52.5, longitude: 13.4)))
    }

    private func room(_ number: UInt8, at meters: Double, name: String = "Room") -> RoomSummary {
        RoomSummary(
            id: RoomID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number))), code: .zero, name: name,
            location: nil, listeners: 0, djName: nil, nowPlaying: nil, createdAt: Timestamp(milliseconds: 0),
            distanceMeters: meters)
    }

    private func watching(_ rooms: [RoomSummary]) -> NearbyWatches {
        var watches = NearbyWatches()
        _ = watches.add(1, query)
        watches.asked(1, id: 5)
        _ = watches.take(5, rooms: rooms)
        return watches
    }

    @Test func `a circle is asked for on every connection, under another id`() {
        var watches = NearbyWatches()
        #expect(watches.add(1, query) == [.ask(watch: 1, query)])
        watches.asked(1, id: 5)
        watches.disconnected()
        #expect(watches.take(5, rooms: []) == [])
        #expect(watches.connected() == [.ask(watch: 1, query)])
        watches.asked(1, id: 9)
        #expect(watches.take(9, rooms: [room(1, at: 4)]) == [.changed(watch: 1, [room(1, at: 4)])])
    }

    @Test func `a delta removes, replaces and adds, and the list stays sorted by distance, then id`() {
        var watches = watching([room(1, at: 10), room(2, at: 20), room(3, at: 30)])
        let steps = watches.take(
            sub: 5, entered: [room(5, at: 20), room(4, at: 20)], changed: [room(3, at: 5, name: "Moved")],
            left: [room(1, at: 0).id])
        #expect(
            steps == [
                .changed(watch: 1, [room(3, at: 5, name: "Moved"), room(2, at: 20), room(4, at: 20), room(5, at: 20)])
            ])
        #expect(watches.take(sub: 6, entered: [], changed: [], left: []) == [])
    }

    @Test func `a circle that is refused for now is asked for again, and any other refusal ends it`() {
        var watches = watching([])
        #expect(watches.refused(4, ErrorName(.rateLimited), retryAfterMs: 10, at: .at(0)) == nil)
        #expect(watches.refused(5, ErrorName(.rateLimited), retryAfterMs: 700, at: .at(0, random: 5)) == [])
        #expect(watches.due == .at(705))
        #expect(watches.tick(at: .at(704)) == [])
        #expect(watches.tick(at: .at(705)) == [.ask(watch: 1, query)])
        watches.asked(1, id: 6)
        #expect(watches.due == nil)
        let full = ErrorName(.limitReached)
        #expect(watches.refused(6, full, retryAfterMs: nil, at: .at(0)) == [.ended(watch: 1, full)])
        #expect(watches.connected() == [])
    }

    @Test func `a list has no more rooms than were asked for, whatever a server sends`() {
        var watches = watching([])
        for first in [UInt8(0), 100] {
            let entered = (first..<first + 100).map { room($0, at: Double($0)) }
            _ = watches.take(sub: 5, entered: entered + entered, changed: [], left: [])
        }
        let nearest = (UInt8(0)..<50).map { room($0, at: Double($0)) }
        #expect(watches.take(sub: 5, entered: [], changed: [], left: []) == [.changed(watch: 1, nearest)])
    }

    @Test func `the end of a watch names its subscription`() {
        var watches = watching([])
        #expect(watches.remove(1) == 5)
        #expect(watches.remove(1) == nil)
    }
}
