import EventStorage
import GeoSearch
import RoomDomain
import RoomService
import RoomWire
import Testing

/// Creation: each room is made once.
@Suite struct CreationTests {
    @Test func `the same key gives the same room again, for a day`() async throws {
        let clock = ManualClock()
        try await withNodes(2, clock: clock) { nodes in
            let (ana, bob) = (try await nodes[0].session("Ana"), try await nodes[0].session("Bob"))
            let wanted = try CreateRoomRequest.named("Kitchen")
            let room = try await nodes[0].host.creation.create(wanted, by: ana, key: "k").room
            clock.advance(milliseconds: 24 * 3_600_000)
            #expect(try await nodes[1].host.creation.create(wanted, by: ana, key: "k").room == room)
            #expect(try await nodes[1].host.creation.create(wanted, by: ana, key: "l").room != room)
            #expect(try await nodes[1].host.creation.create(wanted, by: bob, key: "k").room != room)
            #expect(try await nodes[1].host.creation.create(wanted, by: ana, key: nil).room != room)
            await #expect(throws: CreationFailure.keyReused) {
                try await nodes[1].host.creation.create(.named("Cellar"), by: ana, key: "k")
            }
            clock.advance(milliseconds: 1)
            #expect(try await nodes[0].host.creation.create(wanted, by: ana, key: "k").room != room)
        }
    }

    @Test func `a creation whose answer was lost is found by its key`() async throws {
        try await withNode { node in
            let ana = try await node.session("Ana")
            let wanted = try CreateRoomRequest.named("Kitchen")
            node.store.next(.create, .losesAnswer, .fails(FaultyEventStore.unreachable))
            for failure in [RoomFailure.outcomeUnknown, .unavailable] {
                await #expect(throws: CreationFailure.failed(failure)) {
                    try await node.host.creation.create(wanted, by: ana, key: "k")
                }
            }
            let room = try await node.host.creation.create(wanted, by: ana, key: "k").room
            #expect(
                try await node.host.listing.list(matching: nil, from: nil, limit: 10, for: .anybody).rooms.map(\.id)
                    == [room])
        }
    }

    @Test func `the founder of a room owns it`() async throws {
        try await withNode { node in
            let ana = try await node.session("Ana")
            let made = try await node.host.creation.create(.named("  Kitchen "), by: ana, key: "k")
            let again = try await node.host.creation.create(.named("  Kitchen "), by: ana, key: "k")
            let (room, owner) = (made.room, Person(session: ana.id, name: ana.name))
            #expect(made.isNew)
            #expect(!again.isNew)
            #expect(made.epoch == again.epoch)
            #expect(made.seq == again.seq)
            #expect(made.state.json == again.state.json)
            #expect(made.you == again.you)
            #expect(made.presence == again.presence)
            let state = try node.store.room(room)
            #expect(state.name == "Kitchen")
            #expect(state.visibility == .public)
            #expect(state.members.values.map(\.session) == [owner.session])
            #expect(state.members.values.map(\.role) == [.owner])
            let view = try await node.host.registry.view(room, for: owner.session)
            #expect(view.seq == 2)
            #expect(view.you == Array(#"{"member":1,"role":"owner","votes":[]}"#.utf8))
        }
    }

    @Test func `a room with a bad name is not made`() async throws {
        try await withNode { node in
            let ana = try await node.session("Ana")
            await #expect(throws: CreationFailure.self) {
                try await node.host.creation.create(.named(" "), by: ana, key: nil)
            }
            #expect(node.store.calls(.create) == 0)
        }
    }

    @Test func `a session owns a hundred open rooms at most`() async throws {
        try await withNode { node in
            let ana = try await node.session("Ana")
            let owner = Person(session: ana.id, name: ana.name)
            var rooms: [RoomID] = []
            for _ in 0..<100 {
                rooms.append(try await node.host.creation.create(.named("Kitchen"), by: ana, key: nil).room)
            }
            let refusal = RoomRefusal.limitReached("a session may own at most 100 open rooms")
            await #expect(throws: CreationFailure.failed(.refused(refusal))) {
                try await node.host.creation.create(.named("Kitchen"), by: ana, key: nil)
            }
            #expect(try await node.tell(.closeRoom, in: rooms[7], by: owner).seq == 3)
            _ = try await node.host.creation.create(.named("Kitchen"), by: ana, key: nil)
        }
    }

    @Test func `a location is rounded before anything else, when a room is made and when it moves`() async throws {
        try await withNode(settings: { $0.locationPrecisionMeters = 1_000 }) { node in
            let ana = try await node.session("Ana")
            let owner = Person(session: ana.id, name: ana.name)
            let exact = try #require(Coordinate(latitude: 41.3851, longitude: 2.1734))
            let wanted = try CreateRoomRequest.named("Kitchen", more: #","location":{"lat":41.3851,"lon":2.1734}"#)
            let room = try await node.host.creation.create(wanted, by: ana, key: nil).room
            let rounded = exact.rounded(toCellsOf: 1_000)
            #expect(rounded.coordinate != exact)
            #expect(try node.store.room(room).location == rounded)
            let there = try #require(Coordinate(latitude: 48.2, longitude: 16.37))
            var update = RoomUpdate()
            update.location = there
            #expect(try await node.tell(.updateRoom(update), in: room, by: owner).seq == 3)
            #expect(try node.store.room(room).location == there.rounded(toCellsOf: 1_000))
        }
    }
}
