import EventStorage
import Testing

@testable import PostgresEventStore

/// The pages that PostgreSQL reads to find the directory's changes.
@Suite
struct DirectoryPlanTests {
    @Test func `a large directory is read by the index of changes, and no more of it than changed`() async throws {
        // Each transaction of other tests would be looked up in the index too.
        let database = try await TestDatabase.migratedAlone()
        defer { withExtendedLifetime(database.cluster) {} }
        let (store, session, other) = (try database.store(), try database.session(), try database.session())
        try database.query(
            """
            INSERT INTO directory (room_id, code, name, is_public, created_at, listed_in)
            SELECT gen_random_uuid(), n::text, 'Room', true, n, (n % 500)::text::xid8
            FROM generate_series(1, 20000) AS n
            """)
        try database.query("ANALYZE directory")
        #expect(try database.query("SELECT relpages > 150 FROM pg_class WHERE relname = 'directory'") == "t")

        let first = try await store.directoryChanges(since: nil).mark
        let none = try await session.lookForChanges(since: first)
        #expect(none.isByIndex && Self.fewPages.contains(none.pages), "\(none.plan)")
        let foreign = try await session.lookForChanges(since: DirectoryMark("1:1: another history"))
        #expect(foreign.pages == 0, "\(foreign.plan)")

        try await other.script("BEGIN; SELECT pg_current_xact_id()")
        try database.query("\(Self.change) WHERE created_at <= 5000")
        let second = try await store.directoryChanges(since: first)
        #expect(second.records?.count == 5_000)
        let again = try await session.lookForChanges(since: second.mark)
        #expect(again.isByIndex && Self.fewPages.contains(again.pages), "a transaction is older: \(again.plan)")

        try await other.script("\(Self.change) WHERE created_at = 1; COMMIT")
        try database.query("\(Self.change) WHERE created_at BETWEEN 2 AND 10")
        #expect(try await store.directoryChanges(since: second.mark).records?.count == 10)
        let few = try await session.lookForChanges(since: second.mark)
        #expect(few.isByIndex && few.pages <= Self.fewPages.upperBound + 10, "\(few.plan)")
        for session in [session, other] { await session.close() }
    }

    @Test func `a plan made while the directory is empty is by the index of changes`() async throws {
        let database = try await TestDatabase.migrated()
        let mark = try await database.store().directoryChanges(since: nil).mark
        let session = try database.session()
        let look = try await session.lookForChanges(since: mark)
        #expect(look.isByIndex, "\(look.plan)")
        await session.close()
    }

    /// The path down an index of three levels, for changes after a mark and for two transactions under way.
    private static let fewPages = 1...9

    private static let change = "UPDATE directory SET name = 'New', listed_in = pg_current_xact_id()"
}

/// The execution of a search for changes.
private struct ChangesLook {
    /// PostgreSQL's plan, without its reads for planning.
    let plan: String

    init(explained text: String) {
        plan = text.split(separator: "\nPlanning").first.map { String($0) } ?? ""
    }

    /// Whether rooms are found by the index of changes and in no other way.
    var isByIndex: Bool {
        let scans = plan.split(separator: "\n").filter {
            $0.contains("Scan using ") || $0.contains("Scan on directory")
        }
        return plan.contains("directory_listed_in")
            && scans.allSatisfy { $0.contains("directory_listed_in") || $0.contains("Bitmap Heap Scan") }
    }

    /// Pages that were read, in memory or not: the plan's first such line counts all lines below it.
    var pages: Int {
        let line = plan.split(separator: "\n").first { $0.contains("Buffers: shared") } ?? ""
        let counts = line.split(separator: " ").filter { $0.hasPrefix("hit=") || $0.hasPrefix("read=") }
        return counts.reduce(0) { $0 + (Int($1.split(separator: "=")[1]) ?? 0) }
    }
}

extension PostgresPool {
    /// Searches for changes as the store does, in its kind of session, and explains the prepared statement.
    fileprivate func lookForChanges(since mark: DirectoryMark) async throws -> ChangesLook {
        let parts = mark.text.split(separator: " ", maxSplits: 1).map { String($0) }
        try #require(parts.count == 2)
        let call = Call(.directoryChanges, parts[0], parts[1])
        _ = try await run(.calls([call]), isWrite: false)
        let values = "'\(parts[0])', '\(parts[1])'"
        let text = try await script(
            "EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off) EXECUTE \(call.statement.name) (\(values))")
        return ChangesLook(explained: text)
    }
}
