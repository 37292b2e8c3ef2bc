import EventStorage
import FoundationEssentials
import GeoSearch
import InMemoryLogging
import RoomDomain
import RoomWire
import Testing

@testable import RoomService

/// Rooms near a point that were written or removed without a mark: the comparison with the log finds them, page by
/// page.
@Suite struct NearbyComparisonTests {
    /// More than two of the pages in which the log is read.
    private static let count = 2_500

    @Test func `a change that the store does not report is found, on whichever page of the log it is`() async throws {
        let store = FaultyEventStore()
        for n in 0..<Self.count { try await store.make(n) }
        try await withNearby(on: store) { node in
            #expect(try await node.all().count == Self.count)
            store.hidesChanges(true)
            // One of each on every page: a thousand ids from the largest down, and the rest.
            let pages = [2_000, 1_000, 0]
            for page in pages {
                try await store.write(page + 100) { $0.name = "renamed" }
                try await store.write(page + 200) { $0 = $0.withStored(latitude: 85, longitude: 0) }
                try await store.write(page + 300) { $0.closedAt = 1 }
                try await store.write(page + 400) { $0.closedAt = 1 }
                try await store.write(page + 450) { $0.isPublic = false }
            }
            #expect(try await store.removeStreams(closedBefore: 2, limit: 2).count == 2)
            for page in pages { try await store.make(page + 350, isBetween: true) }

            var expected: [RoomID: String] = [:]
            for n in 0..<Self.count { expected[numbered(n)] = "Room \(n)" }
            for page in pages {
                expected[numbered(page + 100)] = "renamed"
                for gone in [300, 400, 450] { expected[numbered(page + gone)] = nil }
                expected[numbered(page + 350, isBetween: true)] = "Room \(page + 350)"
            }
            try await eventually("every room as the log has it") { try await node.all() == expected }
            let north = NearbyQuery(origin: try place(85), radiusMeters: 1, limit: 200)
            let moved = try await node.host.nearby.search(north).map(\.id)
            #expect(Set(moved) == Set(pages.map { numbered($0 + 200) }))
        }
    }

    @Test func `what is listed is taken and not listed again, even if a room cannot be read`() async throws {
        let store = FaultyEventStore()
        for n in 0...1_000 { try await store.make(n) }
        var reader = DirectoryReader(store: store, logger: InMemoryLogHandler().logger)
        _ = await reader.catchUp()
        func compare() async -> [[UUID]] {
            var taken: [[UUID]] = []
            for _ in 0..<10 {
                await reader.compareNowAndThen({ [numbered(5).uuid] }) { news in
                    if case .changed(let rooms) = news { taken.append(rooms.map(\.id)) }
                }
            }
            return taken
        }
        store.next(.directory, .works, .fails(FaultyEventStore.unreachable))
        let page = (1...1_000).reversed().map { numbered($0).uuid }
        #expect(await compare() == [page])
        // The listing goes on at its last room, and the room that could not be read is read.
        #expect(await compare() == [[numbered(0).uuid], [numbered(5).uuid]])
    }
}

/// The `n`th of a series of ascending ids, or one between it and the next.
private func numbered(_ n: Int, isBetween: Bool = false) -> RoomID {
    let (high, low) = (UInt8(n >> 8), UInt8(n & 0xff))
    return RoomID(UUID(uuid: (1, 0, 0, 0, high, low, 0x70, 0, 0x80, isBetween ? 1 : 0, 0, 0, 0, 0, 0, 0)))
}

private func place(_ latitude: Double) throws -> Coordinate {
    try #require(Coordinate(latitude: latitude, longitude: 0))
}

extension Node {
    /// The names of all rooms, at any location.
    fileprivate func all() async throws -> [RoomID: String] {
        let query = NearbyQuery(origin: try place(0), radiusMeters: 20_037_508, limit: 10_000)
        let found = try await host.nearby.search(query)
        return Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0.name) })
    }
}

extension FaultyEventStore {
    /// Makes the `n`th room, or one between it and the next.
    fileprivate func make(_ n: Int, isBetween: Bool = false) async throws {
        let id = numbered(n, isBetween: isBetween).uuid
        let entry = DirectoryEntry(
            code: "\(id)", name: "Room \(n)", isPublic: true, createdAt: 1
        ).withStored(latitude: Double(n) / 100, longitude: 0)
        let creation = StreamCreation(
            first: StreamAppend(stream: id, expected: .start, events: [], directory: entry), epoch: "epoch",
            creator: id, key: nil, fingerprint: 1, at: 1, keysSince: 0, ownerLimit: 1)
        #expect(try await create(creation) == .created)
    }

    /// Writes the entry of the `n`th room.
    fileprivate func write(_ n: Int, _ change: (inout DirectoryEntry) -> Void) async throws {
        let id = numbered(n).uuid
        var entry = try #require(try await directory(of: [id]).first).entry
        change(&entry)
        let part = StreamAppend(stream: id, expected: .start, events: [], directory: entry)
        #expect(try await append([part]) == [.appended])
    }
}
