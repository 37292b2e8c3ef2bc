import FoundationEssentials
import RoomDomain
import RoomWire
import Testing

@testable import PushServer
@testable import RoomService

@Suite struct WatchesTests {
    /// Watches of one circle, each of its own client.
    private func nearby(_ count: Int) throws -> [WatchID] {
        let rooms = SocketWorld().host.nearby
        let message = try ClientMessage.parse(Array(#"{"type":"nearby","id":1,"lat":52.5,"lon":13.4}"#.utf8).span)
        guard case .nearby(_, let query) = message else { return [] }
        return (0..<count).map { _ in
            rooms.watch(query, sub: 1, of: WatchClient(limit: 10), for: Asker(SessionID(UUID()), from: nil)) { _, _ in }
                .watch
        }
    }

    @Test func `a watch gets changes once its last message was taken, and none after its end`() throws {
        let ids = try nearby(3)
        let (one, two, three) = (ids[0], ids[1], ids[2])
        var watches = Watches()
        watches.begin(5, one)
        watches.begin(6, two)
        #expect(watches.count == 2 && watches.isBehind)
        #expect(!one.delivered.takesMore && !two.delivered.takesMore)
        watches.taken()
        #expect(one.delivered.takesMore && two.delivered.takesMore && !watches.isBehind)
        #expect(watches.isCurrent(one, 5) && !watches.isCurrent(one, 6) && !watches.isCurrent(two, 5))
        watches.sent(one)
        #expect(watches.isBehind)
        let ended = [watches.end(5), watches.end(5)]
        #expect(ended == [one, nil] && !watches.isCurrent(one, 5))
        // The same number may be used again.
        watches.begin(5, three)
        #expect(!watches.isCurrent(one, 5) && watches.isCurrent(three, 5))
        #expect(Set(watches.endAll()) == [two, three] && watches.count == 0)
    }

    @Test func `all watches of one kind of a socket share one limit`() {
        var watches = Watches()
        let (first, second) = (watches.client(limit: 10), watches.client(limit: 20))
        #expect(first === second)
    }
}
