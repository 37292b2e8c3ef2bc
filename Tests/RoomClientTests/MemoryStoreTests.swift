import ClientStoreConformance
import RoomClient
import Testing

@Suite struct MemoryStoreTests {
    @Test(arguments: ClientStoreConformance.checks)
    func `the store in memory keeps the contract`(check: ClientStoreCheck) async throws {
        try await check.run(on: MemoryStore()) { $0 }
    }
}
