import EventStorage
import EventStoreConformance
import Testing

struct MemoryNodeBusTests {
    @Test(arguments: NodeBusConformance.checks)
    func `the bus in memory keeps the contract`(check: NodeBusCheck) async throws {
        let bus = MemoryNodeBus()
        try await check.run { bus }
    }
}
