import EventStoreConformance
import SQLiteEventStore
import Testing

@Suite struct SQLiteConformanceTests {
    @Test(arguments: ConformanceSuite.checks)
    func `the SQLite store keeps the contract`(check: EventStoreCheck) async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            let second = try await openMigrated(directory)
            try await check.run(on: store, second: second)
            try await store.close()
            try await second.close()
        }
    }
}
