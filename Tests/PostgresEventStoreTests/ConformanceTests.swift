import EventStorage
import EventStoreConformance
import PostgresEventStore
import Testing

struct ConformanceTests {
    @Test(arguments: ConformanceSuite.checks)
    func `the store keeps the contract`(check: EventStoreCheck) async throws {
        let database = try await TestDatabase.migrated()
        let (store, second) = (try database.store(), try database.store())
        try await check.run(on: store, second: second)
        await store.close()
        await second.close()
    }
}
