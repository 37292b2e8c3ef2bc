import EventStorage
import FoundationEssentials
import Testing

@testable import PostgresEventStore

@Suite
struct PoolTests {
    @Test func `closing finishes requests under way and refuses later ones`() async throws {
        let database = try await TestDatabase.migrated()
        let store = try database.store()
        let stream = try await store.makeStream()
        let other = try database.session()
        try await other.script("BEGIN; SELECT FROM heads FOR UPDATE")
        async let outcome = store.append([append(to: stream, after: 1)])
        _ = try await database.waitForLockedSession()
        async let closed: Void = store.close()
        while await store.healthFault() != .closed { try await Task.sleep(for: .milliseconds(1)) }
        try await other.script("COMMIT")
        #expect(try await outcome == [.appended])
        await closed
        await store.close()
        await other.close()
        let sessions = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        while try database.query(sessions) != "1" { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test func `closing a store that was never used ends at once`() async throws {
        let store = try await TestDatabase.migrated().store()
        await store.close()
        #expect(await store.healthFault() == .closed)
    }

    @Test func `more requests than may wait are refused, the others are served in turn`() async throws {
        let database = try await TestDatabase.migrated()
        let store = try database.store {
            $0.connections = 1
            $0.requestsPerConnection = 1
            $0.waitingLimit = 2
        }
        let stream = try await store.makeStream()
        let other = try database.session()
        try await other.script("BEGIN; SELECT FROM heads FOR UPDATE")
        async let first = store.append([append(to: stream, after: 1, mark: "first")])
        _ = try await database.waitForLockedSession()
        let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    do throws(StorageFault) {
                        return "\(try await store.read(stream, after: 0, limit: 9).count)"
                    } catch .exhausted {
                        return "refused"
                    }
                }
            }
            var outcomes: [String] = []
            for try await outcome in group {
                outcomes.append(outcome)
                if outcomes.count == 3 { try await other.script("COMMIT") }
            }
            return outcomes
        }
        #expect(outcomes == ["refused", "refused", "refused", "2", "2"])
        #expect(try await first == [.appended])
        await other.close()
    }

    @Test func `a store without references is freed completely`() async throws {
        let database = try await TestDatabase.migrated()
        weak var executor: PollingExecutor?
        weak var pool: PostgresPool?
        do {
            let store = try database.store()
            _ = try await store.makeStream()
            (pool, executor) = (store.pool, store.pool.executor)
            #expect(pool != nil && executor != nil)
        }
        while pool != nil || executor != nil { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test func `many requests at once are all served`() async throws {
        let store = try await TestDatabase.migrated().store()
        let stream = try await store.makeStream()
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<500 {
                group.addTask { try await store.read(stream, after: 0, limit: 9).count }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(counts == Array(repeating: 1, count: 500))
    }
}
