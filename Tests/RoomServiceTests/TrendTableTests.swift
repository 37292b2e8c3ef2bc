import GeoSearch
import RoomDomain
import RoomWire
import Testing

@testable import RoomService

/// Whose turn it is among those who watch what is played.
@Suite struct TrendTableTests {
    private static let sessions = (0..<2).map { n in
        SessionID(.makeV7(at: Timestamp(milliseconds: 1_782_000_000_000), random: (UInt64(n), 0)))
    }

    private func watch(
        _ table: inout TrendTable, of session: Int, from address: UInt64? = nil, isNear: Bool = true, due: Double,
        client: WatchClient = WatchClient()
    ) throws -> Int {
        let place = isNear ? NearbyQuery(origin: try #require(Coordinate(latitude: 52, longitude: 13))) : nil
        let id = WatchID(number: table.nextWatch, delivered: WatchClient.Delivery(to: client))
        table.begin(
            TrendWatch(
                id: id, asker: Asker(Self.sessions[session], from: address), query: TrendingQuery(place: place), sub: 1,
                deliver: { _, _ in }, told: 0, due: due))
        return id.number
    }

    private func taken(_ table: inout TrendTable, areNear: Bool = true, at now: Double, _ count: Int = 9) -> [Int] {
        var all: [Int] = []
        while all.count < count, let one = table.take(areNear: areNear, at: now, until: now + 10) {
            all.append(one.id.number)
        }
        return all
    }

    @Test func `sessions take turns, and a session's watches by how long they wait`() throws {
        var table = TrendTable()
        let many = try (0..<4).map { try watch(&table, of: 0, due: Double($0)) }
        let one = try watch(&table, of: 1, due: 4)
        let first = taken(&table, at: 5)
        #expect(first == [many[0], one, many[1], many[2], many[3]])
        // Each is due again after an interval, and not before.
        let early = taken(&table, at: 14)
        #expect(early.isEmpty)
        let again = taken(&table, at: 15, 2)
        #expect(again == [one, many[0]])
    }

    @Test func `addresses take turns, however many sessions one of them has`() throws {
        var table = TrendTable()
        let many = try (0..<2).map { try watch(&table, of: $0, from: 7, due: 0) }
        let one = try watch(&table, of: 1, from: 8, due: 1)
        let first = taken(&table, at: 5)
        #expect(first == [many[0], one, many[1]])
    }

    @Test func `watches of all rooms do not wait for those near a point`() throws {
        var table = TrendTable()
        _ = try (0..<4).map { try watch(&table, of: 0, due: Double($0)) }
        let everywhere = try watch(&table, of: 1, isNear: false, due: 4)
        let first = taken(&table, areNear: false, at: 5)
        #expect(first == [everywhere])
    }

    @Test func `what has ended or has not taken its last message is not answered`() throws {
        var table = TrendTable()
        let ended = try watch(&table, of: 0, due: 1)
        let slow = try watch(&table, of: 0, due: 2)
        table.watches[slow]?.id.delivered.sent(10)
        table.end(ended)
        let first = taken(&table, at: 5)
        #expect(first.isEmpty)
        table.watches[slow]?.id.taken()
        let second = taken(&table, at: 5)
        #expect(second == [slow])
    }
}
