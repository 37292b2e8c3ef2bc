import EventStorage
import FoundationEssentials
import GeoSearch
import RoomWire
import Testing

@testable import RoomService

/// `NearbyTable`: what a watch is told, and when it is due.
@Suite struct NearbyTableTests {
    private let kitchen = UUID()
    private let cellar = UUID()
    private let here = NearbyQuery(origin: place(52.52, 13.405))

    private func room(_ id: UUID, _ name: String, at latitude: Double = 52.52) -> PlacedRoom? {
        let entry = DirectoryEntry(
            code: "ABC234", name: name, isPublic: true, location: RoundedLocation(stored: place(latitude, 13.405)),
            createdAt: 0)
        return PlacedRoom(DirectoryRecord(stream: id, entry: entry))
    }

    /// Begins a watch in a table; returns its number and the names that it shows.
    private func watch(
        _ table: inout NearbyTable, _ client: WatchClient = WatchClient(), from address: UInt64 = 1
    ) -> (Int, [String]) {
        let number = table.nextNumber()
        let watch = NearbyWatch(here, sub: 1, of: .address(address), WatchClient.Delivery(to: client)) { _ in }
        return (number, table.begin(watch, as: number).map(\.room.entry.name))
    }

    @Test func `a change concerns the watches whose area it is in, before or after it`() {
        var table = NearbyTable()
        let (number, shown) = watch(&table)
        #expect(shown == [])
        let concerned = [
            table.set(kitchen, to: room(kitchen, "Kitchen")), table.set(kitchen, to: room(kitchen, "Kitchen")),
            table.set(cellar, to: room(cellar, "Cellar", at: 0)), table.set(cellar, to: room(cellar, "Bar", at: 1)),
            table.set(cellar, to: room(cellar, "Bar")), table.set(kitchen, to: nil),
        ]
        #expect(concerned == [1, 0, 0, 0, 1, 1])
        #expect(table.find(here).map(\.room.entry.name) == ["Bar"] && table.ids == [cellar])
        #expect(table.takeRound() == [number])
    }

    @Test func `addresses are told in turn, and the watches of one wait for each other`() {
        var table = NearbyTable()
        let many = (0..<3).map { _ in watch(&table, from: 1).0 }
        _ = table.set(kitchen, to: room(kitchen, "Kitchen"))
        #expect(table.takeRound() == many)
        // One that comes later is not behind all that were due before.
        let one = watch(&table, from: 2).0
        _ = table.set(kitchen, to: room(kitchen, "Garden"))
        #expect(table.takeRound() == [many[0], one, many[1], many[2]])
    }

    @Test func `a watch is told once, after its client has taken the last message`() throws {
        var table = NearbyTable()
        _ = table.set(kitchen, to: room(kitchen, "Kitchen"))
        let client = WatchClient()
        let (number, shown) = watch(&table, client)
        #expect(shown == ["Kitchen"])
        _ = table.set(kitchen, to: room(kitchen, "Garden"))
        let (early, due) = (table.change(for: number), table.takeRound())
        #expect(early == nil && due.count == 1, "the first message is on its way")
        table.end(number)
        let (ended, left) = (table.change(for: number), table.takeRound())
        #expect(ended == nil && left.isEmpty && table.watchCount == 0 && client.bytesUnderWay == 0)
    }

    @Test func `watches that were told the same keep one list, for as long as there is one`() throws {
        var table = NearbyTable()
        _ = table.set(kitchen, to: room(kitchen, "Kitchen"))
        let delivered = (0..<2).map { _ in WatchClient.Delivery(to: WatchClient()) }
        let (one, other) = (table.nextNumber(), table.nextNumber())
        for (number, delivered) in zip([one, other], delivered) {
            _ = table.begin(NearbyWatch(here, sub: 1, of: .address(1), delivered) { _ in }, as: number)
            delivered.taken()
        }
        let first = try #require(table.watches[one]?.shown)
        #expect(first === table.watches[other]?.shown && first.rooms.map(\.id) == [kitchen] && table.lists.count == 1)
        // What one of them was told and the other was not is another list; told both, it is one again.
        _ = table.set(kitchen, to: room(kitchen, "Garden"))
        _ = table.change(for: one)
        #expect(first !== table.watches[one]?.shown && first === table.watches[other]?.shown)
        _ = table.change(for: other)
        #expect(table.watches[one]?.shown === table.watches[other]?.shown)
        table.end(one)
        #expect(table.lists.count == 1)
        table.end(other)
        #expect(table.lists.isEmpty)
    }

    @Test func `a change is what differs from the rooms that were shown`() throws {
        var table = NearbyTable()
        let number = table.nextNumber()
        let delivered = WatchClient.Delivery(to: WatchClient())
        _ = table.begin(NearbyWatch(here, sub: 1, of: .address(1), delivered) { _ in }, as: number)
        delivered.taken()
        _ = table.set(kitchen, to: room(kitchen, "Kitchen"))
        let taken = table.change(for: number)
        let (_, entered) = try #require(taken)
        #expect(entered.entered.map(\.room.entry.name) == ["Kitchen"])
        delivered.taken()
        _ = table.set(kitchen, to: nil)
        _ = table.set(cellar, to: room(cellar, "Cellar"))
        let next = table.change(for: number)
        let (_, left) = try #require(next)
        #expect(left.left == [kitchen] && left.entered.map(\.room.id) == [cellar] && table.searches == 2)
    }
}
