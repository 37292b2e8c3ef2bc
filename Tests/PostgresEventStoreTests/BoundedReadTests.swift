import EventStorage
import FoundationEssentials
import Testing

@testable import PostgresEventStore

@Suite
struct BoundedReadTests {
    /// A statement reads the payloads of all events that it is asked for, however few it returns.
    @Test(arguments: [(size: 100_000, events: 60), (size: 10, events: 3_000)], [false, true])
    func `a log is read page by page, and hardly an event in vain`(
        log: (size: Int, events: Int), isExport: Bool
    ) async throws {
        let database = try await TestDatabase.migrated()
        let writer = try database.store()
        let stream = try await writer.makeStream()
        let mark = String(repeating: "x", count: log.size)
        let part = StreamAppend(
            stream: stream, expected: StreamVersion(seq: 1, keyed: 0),
            events: (2...log.events).map { event($0, mark: mark) })
        #expect(try await writer.append([part]) == [.appended])
        await writer.close()
        let before = try await fetchedEvents(in: database)
        let reader = try database.store()
        var (last, pages) = (0, 0)
        while last < log.events {
            let page =
                isExport
                ? try await reader.events(
                    of: stream, after: last, through: log.events, page: PageLimit(rows: 1_000, bytes: 1 << 20))
                : try await reader.read(stream, after: last, limit: 1_000, bytes: 1 << 20)
            #expect(page.map(\.seq) == Array(last + 1..<last + 1 + page.count))
            last = try #require(page.last?.seq)
            pages += 1
        }
        await reader.close()
        let inVain = try await fetchedEvents(in: database) - before - log.events
        #expect((0...3 * pages).contains(inVain))
    }

    /// The number of events that statements have read, once all sessions have ended.
    private func fetchedEvents(in database: TestDatabase) async throws -> Int {
        while try database.query("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()") != "1" {
            try await Task.sleep(for: .milliseconds(1))
        }
        return try #require(
            Int(
                try database.query("SELECT sum(idx_tup_fetch) FROM pg_stat_user_tables WHERE relname LIKE 'events\\_%'")
            ))
    }
}
