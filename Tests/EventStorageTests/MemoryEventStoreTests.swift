import EventStorage
import EventStoreConformance
import Testing

@Suite struct MemoryEventStoreTests {
    @Test(arguments: ConformanceSuite.checks)
    func `the memory store keeps the contract`(check: EventStoreCheck) async throws {
        try await check.run(on: MemoryEventStore())
    }
}
