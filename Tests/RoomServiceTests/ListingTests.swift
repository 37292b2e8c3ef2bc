import RoomDomain
import RoomService
import RoomWire
import Testing

/// The listing of public rooms.
@Suite struct ListingTests {
    /// All pages of the listing.
    private func pages(of node: Node, limit: Int, matching: String? = nil) async throws -> [[RoomID]] {
        var pages: [[RoomID]] = []
        var cursor: ListingCursor?
        repeat {
            let page = try await node.host.listing.list(matching: matching, from: cursor, limit: limit, for: .anybody)
            pages.append(page.rooms.map(\.id))
            // The cursor as it is sent to the client and back.
            cursor = try page.next.map { try #require(ListingCursor($0.text)) }
            #expect(page.next == cursor)
        } while cursor != nil && pages.count < 100
        return pages
    }

    /// Makes rooms in this order, each with the given number of listeners.
    private func makeRooms(_ listeners: [Int], on node: Node, clock: ManualClock) async throws -> [RoomID] {
        var rooms: [RoomID] = []
        for count in listeners {
            // Ids of the same millisecond have no order.
            clock.advance(milliseconds: 1)
            let (room, _) = try await node.makeRoom("Room \(rooms.count)")
            rooms.append(room)
            for number in 0..<UInt8(count) {
                let client = Client(.guest(10 + number))
                _ = try await node.tell(.join(name: nil), in: room, by: client.person)
                client.connect(to: node, following: room)
                try await eventually("the subscription") { client.isFollowing }
            }
        }
        return rooms
    }

    @Test(arguments: 1...8) func `most listeners come first, then the newest, page by page`(limit: Int) async throws {
        let clock = ManualClock()
        try await withNode(clock: clock) { node in
            let rooms = try await makeRooms([0, 2, 0, 1, 3, 0, 0], on: node, clock: clock)
            let expected = [4, 1, 3, 6, 5, 2, 0].map { rooms[$0] }
            let pages = try await pages(of: node, limit: limit)
            #expect(pages.flatMap { $0 } == expected)
            #expect(pages.dropLast().allSatisfy { $0.count == limit })
            let listed = try await node.host.listing.list(matching: nil, from: nil, limit: 10, for: .anybody).rooms
            #expect(listed.map(\.listeners) == [3, 2, 1, 0, 0, 0, 0])
            #expect(listed.map(\.name) == [4, 1, 3, 6, 5, 2, 0].map { "Room \($0)" })
        }
    }

    @Test func `rooms with as many listeners are all listed`() async throws {
        let clock = ManualClock()
        try await withNode(clock: clock) { node in
            let rooms = try await makeRooms([1, 1, 1, 1, 1, 0], on: node, clock: clock)
            for limit in 1...7 {
                let listed = try await pages(of: node, limit: limit).flatMap { $0 }
                #expect(listed.count == 6)
                #expect(Set(listed) == Set(rooms))
                #expect(listed.last == rooms[5])
            }
        }
    }

    @Test func `a part of the name finds a room, in either case`() async throws {
        let clock = ManualClock()
        try await withNode(clock: clock) { node in
            let rooms = try await makeRooms([1, 0, 0], on: node, clock: clock)
            #expect(try await pages(of: node, limit: 2, matching: "OOM 0") == [[rooms[0]]])
            #expect(try await pages(of: node, limit: 10, matching: "room") == [[rooms[0], rooms[2], rooms[1]]])
            #expect(try await pages(of: node, limit: 10, matching: "") == [[rooms[0], rooms[2], rooms[1]]])
            #expect(try await pages(of: node, limit: 10, matching: "kitchen") == [[]])
        }
    }

    @Test func `closed and unlisted rooms are not listed, listened to or not`() async throws {
        try await withNode { node in
            let (closed, owner) = try await node.makeRoom()
            let (unlisted, other) = try await node.makeRoom()
            for (room, person) in [(closed, owner), (unlisted, other)] {
                let client = Client(person)
                client.connect(to: node, following: room)
                try await eventually("the subscription") { client.isFollowing }
            }
            #expect(
                try await node.host.listing.list(matching: nil, from: nil, limit: 10, for: .anybody).rooms.count == 2)
            _ = try await node.tell(.closeRoom, in: closed, by: owner)
            var update = RoomUpdate()
            update.visibility = .unlisted
            _ = try await node.tell(.updateRoom(update), in: unlisted, by: other)
            #expect(try await node.host.listing.list(matching: nil, from: nil, limit: 10, for: .anybody).rooms == [])
        }
    }

    @Test func `the listing says who plays what`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom(tracks: 1)
            _ = try await node.tell(.enqueue(track: TrackID(rawValue: 1), index: nil), in: room, by: owner)
            _ = try await node.tell(.play(entry: nil), in: room, by: owner)
            _ = try await node.tell(.rename(name: "DJ Ana"), in: room, by: owner)
            let listed = try #require(
                try await node.host.listing.list(matching: nil, from: nil, limit: 1, for: .anybody).rooms.first)
            #expect(listed.djName == "DJ Ana")
            #expect(listed.nowPlaying?.title == "Song 0")
            #expect(try listed.code == node.store.room(room).code)
            _ = try await node.tell(.skip, in: room, by: owner)
            #expect(
                try await node.host.listing.list(matching: nil, from: nil, limit: 1, for: .anybody).rooms.first?
                    .nowPlaying == nil)
        }
    }

    @Test func `a foreign cursor is refused`() {
        let room = Person.bob.session
        for text in ["", "q", "q.", ".\(room)", "0.\(room)", "-1.\(room)", "x.\(room)", "1.\(room).", "1.x"] {
            #expect(ListingCursor(text) == nil, "\(text)")
        }
    }
}

extension ListingTests {
    @Test func `a listing of one room costs as few look-ups as one of many, whoever is listened to`() async throws {
        let clock = ManualClock()
        try await withNode(clock: clock) { node in
            // The first ones are unlisted while somebody listens: the listing passes them all.
            let rooms = try await makeRooms(Array(repeating: 1, count: 30) + [1, 0, 0], on: node, clock: clock)
            for room in rooms[..<30] {
                var update = RoomUpdate()
                update.visibility = .unlisted
                let owner = try #require(try node.store.room(room).members.values.first { $0.role == .owner })
                _ = try await node.tell(
                    .updateRoom(update), in: room, by: Person(session: owner.session, name: owner.name))
            }
            let before = node.store.calls(.directory)
            let page = try await node.host.listing.list(matching: nil, from: nil, limit: 1, for: .anybody)
            #expect(page.rooms.map(\.id) == [rooms[30]])
            #expect(node.store.calls(.directory) - before == 1)
            #expect(try await pages(of: node, limit: 1).flatMap { $0 } == [rooms[30], rooms[32], rooms[31]])
            #expect(node.store.calls(.directory) - before == 4)
        }
    }
}
