import ClientStoreConformance
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
}
