import EventStorage
import FoundationEssentials
import GeoSearch
import NIOCore
import RandomTestSupport
import RoomDomain
import RoomService
import RoomWire
import Synchronization
import Testing

@testable import RoomService

/// Searches for rooms near a point, and subscriptions to them.
@Suite struct NearbyTests {
    private static let here = NearbyQuery(origin: place(52.52, 13.405))

    @Test func `rooms that open, change, move and close are shown`() async throws {
        try await withNearby { node in
            let watcher = Watcher(of: Self.here, on: node)
            let (room, owner) = try await node.makeRoom(at: place(52.52, 13.405))
            try await watcher.until("the room that opened") { $0.map(\.id) == [room] }
            let (far, other) = try await node.makeRoom(at: place(0, 0))
            try await node.update(room, by: owner) { $0.name = "Cellar" }
            try await watcher.until("the new name") { $0.map(\.name) == ["Cellar"] }
            try await node.update(far, by: other) { $0.location = place(52.53, 13.405) }
            try await watcher.until("the room that came") { $0.map(\.id) == [room, far] }
            try await node.update(room, by: owner) { $0.location = place(52.54, 13.405) }
            try await watcher.until("the room that moved") { $0.map(\.id) == [far, room] }
            try await node.update(far, by: other) { $0.visibility = .unlisted }
            try await watcher.until("the room that hides") { $0.map(\.id) == [room] }
            try await node.update(far, by: other) { $0.visibility = .public }
            try await watcher.until("the room that shows itself") { $0.map(\.id) == [far, room] }
            _ = try await node.tell(.closeRoom, in: room, by: owner)
            try await watcher.until("the room that closed") { $0.map(\.id) == [far] }
            try await node.update(far, by: other) { $0.clearLocation = true }
            try await watcher.until("the room that is nowhere") { $0.isEmpty }
            watcher.end()
        }
    }

    @Test func `a full list gets the next room, and is told nothing of rooms beyond its last`() async throws {
        try await withNearby { node in
            var rooms: [(room: RoomID, owner: Person)] = []
            for step in 0..<5 { rooms.append(try await node.makeRoom(at: place(52.52 + Double(step) / 1_000, 13.405))) }
            var query = Self.here
            query.limit = 2
            #expect(await node.host.nearby.refresh())
            let (watcher, all) = (Watcher(of: query, on: node), Watcher(of: Self.here, on: node))
            #expect(watcher.rooms.map(\.id) == rooms[..<2].map(\.room))
            #expect(all.rooms.count == 5)
            _ = try await node.tell(.closeRoom, in: rooms[4].room, by: rooms[4].owner)
            for name in ["Beyond", "Beyond as well"] {
                try await node.update(rooms[3].room, by: rooms[3].owner) { $0.name = name }
                // The list that is not full gets the change; once it has the second change, the first has reached every
                // list.
                try await all.until("the change beyond") { $0.count == 4 && $0.last?.name == name }
            }
            #expect(watcher.messages == 0)
            _ = try await node.tell(.closeRoom, in: rooms[0].room, by: rooms[0].owner)
            try await watcher.until("the next room") { $0.map(\.id) == rooms[1...2].map(\.room) }
            #expect(watcher.messages == 1)
            try await node.update(rooms[3].room, by: rooms[3].owner) { $0.location = place(52.52, 13.405) }
            try await watcher.until("the nearest") { $0.map(\.id) == [rooms[3].room, rooms[1].room] }
            for watcher in [watcher, all] { watcher.end() }
        }
    }

    /// A watch that a change does not concern is not even examined.
    @Test func `a full list reaches as far as its last room, any other as far as its radius`() throws {
        let records = (0..<3).map { step in
            let entry = DirectoryEntry(code: "", name: "", isPublic: true, createdAt: 0)
                .withStored(latitude: 52.52 + Double(step) / 1_000, longitude: 13.405)
            return DirectoryRecord(stream: UUID(), entry: entry)
        }
        let rooms = try records.map { try #require(PlacedRoom($0)) }
        let found = rooms.map {
            FoundRoom(room: $0, distance: greatCircleDistance(from: Self.here.origin, to: $0.place))
        }
        for (limit, isBeyond) in [(2, false), (3, true), (4, true)] {
            var query = Self.here
            query.limit = limit
            var watch = NearbyWatch(query, sub: 1, of: .address(1), WatchClient.Delivery(to: WatchClient())) { _ in }
            var last = NearbyList()
            _ = watch.show(Array(found.prefix(limit)), last: &last)
            #expect(watch.reach.contains(rooms[0].place) && watch.reach.contains(rooms[1].place))
            #expect(watch.reach.contains(rooms[2].place) == isBeyond, "limit \(limit)")
            _ = watch.show([found[0]], last: &last)
            #expect(watch.reach.contains(rooms[2].place), "a list that is full no more")
        }
    }

    @Test func `changes during a client's stall arrive as one change`() async throws {
        try await withNearby { node in
            let watcher = Watcher(of: Self.here, on: node, takesAll: false)
            let (room, owner) = try await node.makeRoom(at: place(52.52, 13.405))
            try await watcher.until("the room") { $0.map(\.id) == [room] }
            let (gone, other) = try await node.makeRoom(at: place(52.52, 13.405))
            for turn in 0..<5 { try await node.update(room, by: owner) { $0.name = "Name \(turn)" } }
            _ = try await node.tell(.closeRoom, in: gone, by: other)
            // A client that takes messages is told of the change: enough time has passed.
            let quick = Watcher(of: Self.here, on: node)
            try await quick.until("the last name") { $0.map(\.name) == ["Name 4"] }
            #expect(watcher.messages == 1)
            watcher.take()
            try await watcher.until("the last name") { $0.map(\.name) == ["Name 4"] }
            #expect(watcher.messages == 2)
            for watcher in [watcher, quick] { watcher.end() }
        }
    }

    @Test func `a change makes searches for the watches that it may concern and for no others`() async throws {
        try await withNearby { node in
            let watcher = Watcher(of: Self.here, on: node)
            let others = (0..<300).map { number in
                let query = NearbyQuery(origin: place(Double(number) / 4 - 40, Double(number) - 170))
                return Watcher(of: query, on: node)
            }
            func searches() -> Int { node.host.nearby.standing.searchesForWatches }
            _ = try await node.makeRoom(at: place(52.53, 13.405))
            try await watcher.until("the room") { $0.count == 1 }
            #expect(searches() == 1)
            // First a change that is near nobody, and then one that is near: it is told later.
            _ = try await node.makeRoom(at: place(85, 0))
            _ = try await node.makeRoom(at: place(52.52, 13.405))
            try await watcher.until("the next room") { $0.count == 2 }
            #expect(searches() == 2)
            for watcher in others + [watcher] { watcher.end() }
        }
    }

    @Test func `lists of a client that takes little take turns`() async throws {
        try await withNearby { node in
            let client = WatchClient(limit: 1)
            let watchers = (0..<5).map { _ in Watcher(of: Self.here, on: node, by: client) }
            let other = Watcher(of: Self.here, on: node)
            let (room, owner) = try await node.makeRoom(at: place(52.52, 13.405))
            var turns = 0
            while watchers.contains(where: { $0.messages < 3 }) {
                turns += 1
                try #require(turns < 200, "\(watchers.map(\.messages))")
                let name = "Name \(turns)"
                try await node.update(room, by: owner) { $0.name = name }
                try await other.until("the name") { $0.map(\.name) == [name] }
            }
            for watcher in watchers + [other] { watcher.end() }
            #expect(client.bytesUnderWay == 0)
        }
    }

    @Test func `a client with much unsent data is told no more of any of its watches`() async throws {
        try await withNearby { node in
            let client = WatchClient(limit: 1)
            let watchers = (0..<3).map { _ in Watcher(of: Self.here, on: node, by: client, takesAll: false) }
            let other = Watcher(of: Self.here, on: node)
            let (room, owner) = try await node.makeRoom(at: place(52.52, 13.405))
            for turn in 1...3 {
                try await eventually("one more is told") { watchers.count { $0.messages == 1 } == turn }
                // A watch of another client is told again and again: the others could have been told as often.
                for change in 0..<3 {
                    let name = "Name \(turn) \(change)"
                    try await node.update(room, by: owner) { $0.name = name }
                    try await other.until("the name") { $0.map(\.name) == [name] }
                }
                #expect(watchers.count { $0.messages == 1 } == turn && watchers.allSatisfy { $0.messages <= 1 })
                // A watch that has ended has no message under way.
                let told = try #require(watchers.first { $0.messages == 1 && !$0.hasEnded })
                told.end()
            }
            other.end()
            #expect(client.bytesUnderWay == 0)
        }
    }

    @Test func `a watch that has ended is told nothing`() async throws {
        try await withNearby { node in
            let (ended, watcher) = (Watcher(of: Self.here, on: node), Watcher(of: Self.here, on: node))
            ended.end()
            _ = try await node.makeRoom(at: place(52.52, 13.405))
            try await watcher.until("the room") { $0.count == 1 }
            #expect(ended.messages == 0)
            #expect(node.host.nearby.standing.rooms == 1 && node.host.nearby.standing.watches == 1)
            watcher.end()
        }
    }

    @Test func `while the log is out of reach known rooms are found, and nothing is missed after it`() async throws {
        let (store, clock) = (FaultyEventStore(), ManualClock())
        try await withNearby(on: store, clock: clock) { node in
            let (room, owner) = try await node.makeRoom(at: place(52.52, 13.405))
            #expect(try await node.host.nearby.search(Self.here).map(\.id) == [room])
            let watcher = Watcher(of: Self.here, on: node)
            store.isDown(true)
            #expect(try await node.host.nearby.search(Self.here).map(\.id) == [room])
            clock.advance(milliseconds: 5_000)
            #expect(node.host.nearby.standing.secondsSinceReading == 5)
            store.isDown(false)
            try await eventually("another reading") { node.host.nearby.standing.secondsSinceReading == 0 }
            try await node.update(room, by: owner) { $0.name = "Cellar" }
            let (second, _) = try await node.makeRoom(at: place(52.52, 13.405))
            try await watcher.until("both rooms, as they are") { rooms in
                Set(rooms.map(\.id)) == [room, second] && rooms.contains { $0.name == "Cellar" }
            }
            watcher.end()
        }
    }

    @Test func `a log that does not answer holds up no search`() async throws {
        let store = FaultyEventStore()
        let impatient = { (settings: inout RoomHostSettings) in settings.nearby.patience = .milliseconds(50) }
        try await withNearby(on: store, settings: impatient) { node in
            let (room, _) = try await node.makeRoom(at: place(52.52, 13.405))
            try await eventually("the room") { try await node.host.nearby.search(Self.here).map(\.id) == [room] }
            let gate = Gate()
            defer { gate.open() }
            store.next(.directory, .waits(gate))
            // One that is asked of the log, and one that waits behind it.
            for _ in 0..<2 { #expect(try await node.host.nearby.search(Self.here).map(\.id) == [room]) }
            try await eventually("the question") { gate.arrived == 1 }
            #expect(try await node.host.nearby.search(Self.here).map(\.id) == [room])
            gate.open()
            let (second, _) = try await node.makeRoom(at: place(52.52, 13.405))
            try await eventually("both rooms") {
                try await Set(node.host.nearby.search(Self.here).map(\.id)) == [room, second]
            }
        }
    }

    @Test func `before the rooms were read nobody is told that there are no rooms`() async throws {
        let store = FaultyEventStore()
        store.isDown(true)
        try await withNearby(on: store) { node in
            await #expect(throws: RoomFailure.unavailable) { try await node.host.nearby.search(Self.here) }
            store.isDown(false)
            let found = try await node.host.nearby.search(Self.here)
            #expect(found.isEmpty)
        }
        try await withNode { node in
            await #expect(throws: RoomFailure.unavailable) { try await node.host.nearby.search(Self.here) }
        }
    }

    @Test func `a room that was removed before its end was read is detected`() async throws {
        let store = FaultyEventStore()
        try await withNearby(on: store) { node in
            let (room, owner) = try await node.makeRoom(at: place(52.52, 13.405))
            let watcher = Watcher(of: Self.here, on: node)
            try await watcher.until("the room") { $0.map(\.id) == [room] }
            store.plan { $0 == .directory ? .fails(FaultyEventStore.unreachable) : .works }
            _ = try await node.tell(.closeRoom, in: room, by: owner)
            #expect(try await store.removeStreams(closedBefore: .max, limit: 9) == [room.uuid])
            store.plan(nil)
            try await watcher.until("its end") { $0.isEmpty }
            watcher.end()
        }
    }

    @Test func `listeners on either server are counted`() async throws {
        let bus = SwitchedBus()
        try await withNearby(2, bus: bus) { nodes in
            let (room, owner) = try await nodes[0].makeRoom(at: place(52.52, 13.405))
            let client = Client(owner)
            client.connect(to: nodes[0], following: room)
            for node in nodes {
                try await eventually("the listener") {
                    try await node.host.nearby.search(Self.here).map(\.listeners) == [1]
                }
            }
        }
    }

    @Test(arguments: [TestSeed.fresh("folding")] + TestSeed.fixed(1...2))
    func `folding what two servers show gives what a fresh search gives`(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        func anywhere() -> Coordinate {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: place(.random(in: 89.9...90, using: &random), .random(in: -180...180, using: &random))
            case 1: place(.random(in: -0.1...0.1, using: &random), random.once(in: 2) ? 179.95 : -179.95)
            default: place(.random(in: 52.4...52.6, using: &random), .random(in: 13.3...13.5, using: &random))
            }
        }
        let store = FaultyEventStore()
        try await withNearby(2, on: store) { nodes in
            var rooms: [(room: RoomID, owner: Person)] = []
            var watchers: [(NearbyQuery, Watcher)] = []
            for turn in 0..<200 {
                let node = nodes[turn % 2]
                if watchers.count < 20, random.once(in: 4) {
                    let query = NearbyQuery(
                        origin: anywhere(), radiusMeters: [300, 5_000, 20_037_508][turn % 3],
                        limit: [1, 4, 200][Int.random(in: 0..<3, using: &random)])
                    #expect(await node.host.nearby.refresh())
                    watchers.append((query, Watcher(of: query, on: node)))
                }
                guard let (room, owner) = rooms.randomElement(using: &random), !random.once(in: 3) else {
                    rooms.append(try await node.makeRoom(at: anywhere()))
                    continue
                }
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    _ = try await node.tell(.closeRoom, in: room, by: owner)
                    rooms.removeAll { $0.room == room }
                case 1: try await node.update(room, by: owner) { $0.name = "Room \(turn)" }
                default:
                    let there = anywhere()
                    try await node.update(room, by: owner) { $0.location = there }
                }
            }
            for (query, watcher) in watchers {
                let fresh = try ListedRoom.told(try await watcher.node.host.nearby.search(query))
                try await watcher.until("a fresh search's rooms, seed \(seed)") { $0 == fresh }
                watcher.end()
                #expect(watcher.client.bytesUnderWay == 0)
            }
        }
    }
}

/// A valid point.
func place(_ latitude: Double, _ longitude: Double) -> Coordinate {
    guard let place = Coordinate(latitude: latitude, longitude: longitude) else {
        preconditionFailure("\(latitude), \(longitude)")
    }
    return place
}

/// Runs processes that keep the rooms nearby up to date, with short intervals.
func withNearby(
    _ count: Int, on store: FaultyEventStore = FaultyEventStore(), clock: ManualClock = ManualClock(),
    bus: (any NodeBus)? = nil, settings change: (inout RoomHostSettings) -> Void = { _ in },
    _ body: ([Node]) async throws -> Void
) async throws {
    let quick = { (settings: inout RoomHostSettings) in
        settings.nearby.isKept = true
        settings.nearby.interval = .milliseconds(10)
        // Searches that do not wait for the log are tested elsewhere.
        settings.nearby.patience = .hours(1)
        settings.nearby.patienceWithNothing = .hours(1)
        change(&settings)
    }
    try await withNodes(count, on: store, clock: clock, bus: bus, settings: quick, body)
}

/// Runs one process; see ``withNearby(_:on:clock:bus:settings:_:)``.
func withNearby(
    on store: FaultyEventStore = FaultyEventStore(), clock: ManualClock = ManualClock(),
    settings change: (inout RoomHostSettings) -> Void = { _ in }, _ body: (Node) async throws -> Void
) async throws {
    try await withNearby(1, on: store, clock: clock, settings: change) { try await body($0[0]) }
}

extension Node {
    func makeRoom(at place: Coordinate) async throws -> (room: RoomID, owner: Person) {
        let session = try await session("Ana")
        let location = #","location":{"lat":\#(place.latitude),"lon":\#(place.longitude)}"#
        let wanted = try CreateRoomRequest.named("Kitchen", more: location)
        let room = try await host.creation.create(wanted, by: session, key: nil).room
        return (room, Person(session: session.id, name: session.name))
    }

    func update(_ room: RoomID, by owner: Person, _ change: (inout RoomUpdate) -> Void) async throws {
        var update = RoomUpdate()
        change(&update)
        let outcome = try await tell(.updateRoom(update), in: room, by: owner)
        #expect(outcome.seq != nil)
    }
}

/// A room in a client's list.
struct ListedRoom: Equatable {
    let id: RoomID
    let name: String
    let distance: Double
    /// All values that the client received.
    let value: JSONValue

    init?(_ value: JSONValue) {
        guard let id = value.object?["id"]?.string.flatMap(RoomID.init), let name = value.object?["name"]?.string,
            let distance = value.object?["distanceMeters"]?.number
        else { return nil }
        (self.id, self.name, self.distance, self.value) = (id, name, distance, value)
    }

    /// The client's entries for some rooms.
    static func told(_ rooms: [RoomSummary]) throws -> [ListedRoom] {
        (try JSONValue(parsing: HTTPBody.rooms(rooms)).object?["rooms"]?.array ?? []).compactMap(ListedRoom.init)
    }
}

/// A client of a nearby subscription, with its list.
final class Watcher: Sendable {
    private struct State {
        var rooms: [RoomID: ListedRoom] = [:]
        var messages = 0
        var watch: WatchID?
        var hasEnded = false
    }

    let node: Node
    let client: WatchClient
    private let takesAll: Bool
    private let state = Mutex(State())

    init(of query: NearbyQuery, on node: Node, by client: WatchClient = WatchClient(), takesAll: Bool = true) {
        (self.node, self.client, self.takesAll) = (node, client, takesAll)
        state.withLock { state in
            // Changes from here on wait for the lock.
            let (watch, rooms) = node.host.nearby.watch(
                query, sub: 5, of: client, for: Asker(SessionID(UUID()), from: nil)
            ) {
                self.take($1, of: $0)
            }
            state.watch = watch
            watch.taken()
            for room in (try? ListedRoom.told(rooms)) ?? [] { state.rooms[room.id] = room }
        }
    }

    /// The number of messages received.
    var messages: Int { state.withLock(\.messages) }

    /// The rooms as they are listed.
    var rooms: [ListedRoom] {
        state.withLock { Array($0.rooms.values) }.sorted { ($0.distance, $0.id.uuid) < ($1.distance, $1.id.uuid) }
    }

    func until(_ what: String, _ condition: ([ListedRoom]) -> Bool) async throws {
        try await eventually(what) { condition(rooms) }
    }

    /// Reports that the last message was taken.
    func take() {
        state.withLock(\.watch)?.taken()
    }

    /// Whether it was ended.
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    func end() {
        let watch = state.withLock { state in
            state.hasEnded = true
            return state.watch
        }
        if let watch { node.host.nearby.unwatch(watch) }
    }

    private func take(_ message: [UInt8], of watch: WatchID) {
        let message = (try? JSONValue(parsing: message))?.object
        state.withLock { state in
            state.messages += 1
            #expect(message?["type"]?.string == "nearbyDelta" && message?["sub"]?.integer == 5)
            for room in message?["left"]?.array ?? [] {
                #expect(room.string.flatMap { RoomID($0) }.flatMap { state.rooms.removeValue(forKey: $0) } != nil)
            }
            for room in (message?["changed"]?.array ?? []).compactMap(ListedRoom.init) {
                #expect(state.rooms.updateValue(room, forKey: room.id) != nil)
            }
            for room in (message?["entered"]?.array ?? []).compactMap(ListedRoom.init) {
                #expect(state.rooms.updateValue(room, forKey: room.id) == nil)
            }
        }
        if takesAll { watch.taken() }
    }
}
