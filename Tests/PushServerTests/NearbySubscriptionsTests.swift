import RoomWire
import Testing

@testable import PushServer
@testable import RoomService

@Suite struct NearbySubscriptionsTests {
    /// Subscriptions to one circle, each of its own.
    private func watches(_ count: Int) throws -> [NearbyRooms.WatchID] {
        let rooms = SocketWorld().host.nearby
        let message = try ClientMessage.parse(Array(#"{"type":"nearby","id":1,"lat":52.5,"lon":13.4}"#.utf8).span)
        guard case .nearby(_, let query) = message else { return [] }
        return (0..<count).map { _ in
            rooms.watch(query, sub: 1, of: NearbyClient(limit: 10)) { _, _ in }.watch
        }
    }

    @Test func `a subscription gets changes once its last message was taken, and none after its end`() throws {
        let watches = try watches(3)
        let (one, two, three) = (watches[0], watches[1], watches[2])
        var nearby = NearbySubscriptions()
        nearby.begin(5, one)
        nearby.begin(6, two)
        #expect(nearby.count == 2 && nearby.isBehind)
        let first = nearby.takeBehind()
        #expect(first == [one, two] && !nearby.isBehind)
        #expect(nearby.isCurrent(one, 5) && !nearby.isCurrent(one, 6) && !nearby.isCurrent(two, 5))
        nearby.sent(one)
        #expect(nearby.isBehind)
        let ended = [nearby.end(5), nearby.end(5)]
        #expect(ended == [one, nil] && !nearby.isCurrent(one, 5))
        // The same number may be used again.
        nearby.begin(5, three)
        #expect(!nearby.isCurrent(one, 5) && nearby.isCurrent(three, 5))
        #expect(Set(nearby.endAll()) == [two, three] && nearby.count == 0)
    }

    @Test func `all subscriptions of a socket share one limit`() {
        var nearby = NearbySubscriptions()
        let (first, second) = (nearby.client(limit: 10), nearby.client(limit: 20))
        #expect(first === second)
    }
}
