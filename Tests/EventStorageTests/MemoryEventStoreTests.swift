import EventStorage
import EventStoreConformance
import FoundationEssentials
import Testing

@Suite struct MemoryEventStoreTests {
    @Test(arguments: ConformanceSuite.checks)
    func `the memory store keeps the contract`(check: EventStoreCheck) async throws {
        try await check.run(on: MemoryEventStore())
    }

    @Test func `a reader that asks for changes too seldom must read all entries anew, and no other must`() async throws
    {
        let store = MemoryEventStore()
        let stream = UUID()
        let first = StreamAppend(
            stream: stream, expected: .start, events: [],
            directory: DirectoryEntry(code: "A", name: "0", isPublic: true, createdAt: 1))
        let creation = StreamCreation(
            first: first, epoch: "epoch", creator: UUID(), key: nil, fingerprint: 1, at: 1, keysSince: 0, ownerLimit: 1)
        #expect(try await store.create(creation) == .created)
        let old = try await store.directoryChanges(since: nil).mark
        var last = old
        for turn in 1...(2 * MemoryEventStore.keptListings + 1) {
            var part = first
            part.directory?.name = "\(turn)"
            #expect(try await store.append([part]) == [.appended])
            guard turn.isMultiple(of: MemoryEventStore.keptListings) else { continue }
            let changes = try await store.directoryChanges(since: last)
            #expect(changes.records?.map(\.entry.name) == ["\(turn)"])
            last = changes.mark
        }
        let anew = try await store.directoryChanges(since: old)
        #expect(anew.records == nil)
        #expect(try await store.directoryChanges(since: last).records?.count == 1)
        #expect(try await store.directoryChanges(since: anew.mark).records == [])
    }
}
