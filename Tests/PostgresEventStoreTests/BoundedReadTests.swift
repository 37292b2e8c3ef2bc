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

    @Test func `a page of a log with a hole ends at the position given`() async throws {
        let database = try await TestDatabase.migrated()
        let store = try database.store()
        let stream = try await store.makeStream()
        let part = StreamAppend(
            stream: stream, expected: StreamVersion(seq: 1, keyed: 0), events: (2...20).map { event($0) })
        #expect(try await store.append([part]) == [.appended])
        try database.query("DELETE FROM events WHERE room_id = '\(stream)' AND seq IN (4, 5, 6, 19)")
        func page(after seq: Int, through last: Int) async throws -> [Int] {
            try await store.events(of: stream, after: seq, through: last, page: PageLimit(rows: 100, bytes: 1_000))
                .map(\.seq)
        }
        #expect(try await page(after: 2, through: 8) == [3, 7, 8])
        #expect(try await page(after: 3, through: 6) == [])
        #expect(try await page(after: 17, through: 20) == [18, 20])
        #expect(try await page(after: 20, through: 20) == [])
    }

    /// The number of events that statements have read, once all sessions have ended.
    private func fetchedEvents(in database: TestDatabase) async throws -> Int {
        try await database.waitUntilSessionsHaveEnded()
        return try #require(
            Int(
                try database.query("SELECT sum(idx_tup_fetch) FROM pg_stat_user_tables WHERE relname LIKE 'events\\_%'")
            ))
    }
}
