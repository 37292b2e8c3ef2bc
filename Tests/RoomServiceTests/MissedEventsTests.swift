import EventStorage
import RoomDomain
import RoomLog
import RoomTestSupport
import RoomWire
import Testing

@testable import RoomService

/// Parts of a log that a connection lacks.
@Suite struct MissedEventsTests {
    private let parts = RoomParts()
    private let renames = (0..<1_200).map { RoomEvent.memberRenamed(member: 1, name: "Ana \($0)") }

    /// Writes the room's log.
    private func write() async throws {
        let events = parts.events(and: renames)
        let first = StreamAppend(
            stream: parts.id.uuid, expected: .start, events: events.map { EventJSON.stored($0, in: parts.id) },
            directory: DirectoryEntry(of: parts.loaded(renames).state))
        let outcome = try await parts.store.create(
            StreamCreation(
                first: first, epoch: "first", checksum: EpochRenewal(of: parts.id, random: 1).checksum,
                creator: RoomParts.ana.session.uuid, key: nil, fingerprint: 0, at: 0, keysSince: 0, ownerLimit: 1))
        #expect(outcome == .created)
    }

    private func part(after: Int, through: Int, bytes: Int = 1 << 20, isWhole: Bool = true) -> MissedEvents {
        MissedEvents(room: parts.id, epoch: "first", after: after, through: through, bytes: bytes, isWhole: isWhole)
    }

    private func read(_ part: MissedEvents) async -> ClosedRange<Int>? {
        guard let events = await part.read(from: parts.store), let first = events.first, let last = events.last else {
            return nil
        }
        #expect(events == Array(parts.events(and: renames)[(first.seq - 1)..<last.seq]))
        return first.seq...last.seq
    }

    @Test func `the first events of a part are read once all of it is known to be short enough`() async throws {
        try await write()
        #expect(await read(part(after: 4, through: 10)) == 5...10)
        #expect(await read(part(after: 4, through: 1_204)) == 5...504)
        #expect(await read(part(after: 4, through: 1_204, bytes: 10_000)) == nil)
        #expect(await read(part(after: 1_200, through: 1_210)) == nil, "events are missing")
    }

    @Test func `of a rest, as many events are read as fit, and at least one`() async throws {
        try await write()
        #expect(await read(part(after: 1_200, through: 1_204, isWhole: false)) == 1_201...1_204)
        #expect(await read(part(after: 4, through: 1_204, bytes: 1, isWhole: false)) == 5...5)
        #expect(await read(part(after: 1_204, through: 1_210, isWhole: false)) == nil)
    }
}
