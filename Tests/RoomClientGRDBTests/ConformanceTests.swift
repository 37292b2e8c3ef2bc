import ClientStoreConformance
import RoomClient
import RoomClientGRDB
import Testing

@Suite struct ConformanceTests {
    @Test(arguments: ClientStoreConformance.checks)
    func `the database store keeps the contract`(check: ClientStoreCheck) async throws {
        try await withScratchPath { path in
            try await check.run(on: try DatabaseStore(path: path)) { store in
                await (store as? DatabaseStore)?.close()
                return try DatabaseStore(path: path)
            }
        }
    }

    @Test(arguments: ClientStoreConformance.checks)
    func `the store in memory keeps the contract`(check: ClientStoreCheck) async throws {
        try await check.run(on: MemoryStore()) { $0 }
    }
}
