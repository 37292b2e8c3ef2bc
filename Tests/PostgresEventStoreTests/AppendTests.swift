import EventStorage
import FoundationEssentials
import RandomTestSupport
import Testing

@testable import PostgresEventStore

@Suite
struct AppendTests {
    @Test func `a stream that moves while an append waits for its lock is a conflict, and no other is`() async throws {
        let database = try await TestDatabase.migrated()
        let store = try database.store()
        let (moving, still) = (try await store.makeStream(code: "A"), try await store.makeStream(code: "B"))
        let other = try database.session()
        try await other.script("BEGIN; UPDATE heads SET seq = seq + 1 WHERE room_id = '\(moving)'")
        async let outcomes = store.append([append(to: moving, after: 1), append(to: still, after: 1)])
        _ = try await database.waitForLockedSession()
        try await other.script("COMMIT")
        #expect(try await outcomes == [.conflict, .appended])
        #expect(try await store.read(moving, after: 0, limit: 9).count == 1)
        #expect(try await store.read(still, after: 0, limit: 9).count == 2)
        await other.close()
    }

    @Test(arguments: ["COMMIT", "ROLLBACK"])
    func `a stream that changes without moving during the wait for its lock is appended to`(end: String) async throws {
        let database = try await TestDatabase.migrated()
        let store = try database.store()
        let stream = try await store.makeStream()
        let other = try database.session()
        try await other.script("BEGIN; UPDATE heads SET checksum = 7 WHERE room_id = '\(stream)'")
        async let outcomes = store.append([append(to: stream, after: 1)])
        _ = try await database.waitForLockedSession()
        try await other.script(end)
        #expect(try await outcomes == [.appended])
        #expect(try await store.seq(of: stream) == 2)
        #expect(try await store.read(stream, after: 0, limit: 9).map(\.seq) == [1, 2])
        #expect(try await store.archived(stream)?.checksum == (end == "COMMIT" ? 7 : nil))
        await other.close()
    }

    @Test func `twenty tasks through two stores win each position of one stream once`() async throws {
        let database = try await TestDatabase.migrated()
        let stores = [try database.store(), try database.store()]
        let stream = try await stores[0].makeStream()
        let target = 101
        let won = try await withThrowingTaskGroup(of: [Int: String].self) { group in
            for writer in 0..<20 {
                group.addTask {
                    let store = stores[writer % 2]
                    var won: [Int: String] = [:]
                    while let seq = try await store.seq(of: stream), seq < target {
                        let mark = "\(writer)-\(seq + 1)"
                        if try await store.append([append(to: stream, after: seq, mark: mark)]) == [.appended] {
                            won[seq + 1] = mark
                        }
                    }
                    return won
                }
            }
            return try await group.reduce(into: [:]) { $0.merge($1) { "\($0) and \($1)" } }
        }
        let events = try await stores[1].read(stream, after: 1, limit: 1_000)
        #expect(events.map(\.seq) == Array(2...target))
        #expect(events.map(\.payload) == (2...target).map { event($0, mark: won[$0] ?? "nobody").payload })
    }

    @Test func `batches that overlap in any order never deadlock`() async throws {
        let database = try await TestDatabase.migrated()
        let store = try database.store()
        let seed = TestSeed.fresh()
        var streams: [UUID] = []
        for n in 0..<12 { streams.append(try await store.makeStream(code: "\(n)")) }
        let appended = try await withThrowingTaskGroup(of: Int.self) { [streams] group in
            for writer in UInt64(0)..<8 {
                group.addTask {
                    var random = SeededRandom(seed: seed &+ writer)
                    var appended = 0
                    for _ in 0..<40 {
                        let heads = try await store.heads(of: streams)
                        let batch = heads.map { append(to: $0, after: $1.version.seq) }.shuffled(using: &random)
                        appended += try await store.append(batch).count { $0 == .appended }
                    }
                    return appended
                }
            }
            return try await group.reduce(0, +)
        }
        let heads = try await store.heads(of: streams)
        #expect(heads.values.map(\.version.seq).reduce(0, +) == appended + streams.count)
        await store.close()
        try await database.waitUntilSessionsHaveEnded()
        #expect(try database.query("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == "0")
    }

    @Test func `a deadlock with somebody else is tried again`() async throws {
        let database = try await TestDatabase.migrated()
        // The store's session looks for a deadlock soon after each wait has begun, the other one never: the store's
        // session is the one that is rolled back.
        try database.query("ALTER DATABASE \(database.name) SET deadlock_timeout = '10ms'")
        let store = try database.store()
        let streams = [
            try await store.makeStream(code: "A"), try await store.makeStream(code: "B"),
            try await store.makeStream(code: "C"),
        ].sorted { $0.uuidString < $1.uuidString }
        let (other, first) = (try database.session(), try database.session())
        try await other.script("SET deadlock_timeout = '10min'")
        try await other.script("BEGIN; SELECT FROM heads WHERE room_id = '\(streams[2])' FOR UPDATE")
        try await first.script("BEGIN; SELECT FROM heads WHERE room_id = '\(streams[1])' FOR UPDATE")
        async let outcomes = store.append(streams.map { append(to: $0, after: 1) })
        try await database.waitForLockedSessions(1)
        // It waits for the store, which has this room, and gets it when the store's transaction is rolled back.
        async let isGranted = other.script("SELECT FROM heads WHERE room_id = '\(streams[0])' FOR UPDATE")
        try await database.waitForLockedSessions(2)
        // The store goes on to the other's room: the deadlock exists as it begins to wait, which is when its session
        // looks for one, once.
        try await first.script("COMMIT")
        _ = try await isGranted
        try await other.script("COMMIT")
        #expect(try await outcomes == [.appended, .appended, .appended])
        for session in [other, first] { await session.close() }
    }

    @Test func `plans made on empty tables scan none`() async throws {
        let session = try await TestDatabase.migrated().session()
        let id = UUID()
        let calls = [
            Call(.enter, with: PostgresStore.entryParameters(of: creation())),
            Call(.create, with: PostgresStore.creationParameters(of: creation())),
            Call(.list, with: PostgresStore.listParameters(of: [])), Call(.forgetCreations, id, 0), Call(.head, id),
            Call(.heads, [id]), Call(.events, id, 0, 1),
            Call(.eventsAfterSnapshot, id, 1), Call(.newestSnapshot, id, 1), Call(.snapshot, id, 1, 1),
            Call(.lockForSnapshot, id, ""), Call(.saveSnapshot, id, 1, 1, Binary([]), 0, "", 0), Call(.keys, id, 0),
            Call(.roomByCode, ""),
            Call(.directory, [id]), Call(.openPublicRooms, "", 1), Call(.openPublicRoomsBefore, "", 1, id),
            Call(.sessionByToken, Binary([])), Call(.renameSession, id, ""), Call(.extendSession, id, 0),
            Call(.endSession, id, 0), Call(.liveSessions, [id]), Call(.sessionsToRemove, 0, 1),
            Call(.deleteSession, id),
            Call(.memberships, id),
            Call(.removeRooms, 0, 1), Call(.unlistRooms), Call(.sweep, 1), Call(.roomsToForget, 1),
            Call(.rewrite, id, [1], [JSONText([])], [0]),
            Call(.roomsToClear, id, 1), Call(.clearEvents, id, [1], [JSONText([])], [0]), Call(.clearSnapshots, id),
            Call(.clearCommands, id, 0), Call(.clearCreation, id, 0), Call(.noteCleared, id, 1),
            Call(.lockRoom, id), Call(.forgetSnapshots, id), Call(.forgetCommands, id, 0),
            Call(.forgetCreation, id, 0), Call(.renewForgotten, id, "", 0), Call(.endForgetting, id, 0),
        ]
        let one = StreamAppend(stream: id, expected: .start, events: [])
        let appends = AppendParts.combinations.flatMap { parts in
            [[], [one]].map { batch in
                Call(
                    .append(parts, toOne: !batch.isEmpty), with: PostgresStore.appendParameters(of: batch, parts))
            }
        }
        for call in calls + appends {
            let types = call.parameters.values.map { "\($0.type)::regtype::text" }
            let names =
                types.isEmpty
                ? ""
                : try await session.script("SELECT format('(%s)', concat_ws(', ', \(types.joined(separator: ", "))))")
            // A null id would exclude every partition beforehand.
            let values = call.parameters.values.map { $0.type == UUID.type ? "'\(id)'" : "NULL" }
            let arguments = values.isEmpty ? "" : " (\(values.joined(separator: ", ")))"
            try await session.script("PREPARE sample \(names) AS \(call.statement.sql)")
            let plan = try await session.script("EXPLAIN EXECUTE sample\(arguments)")
            // A new stream has nothing to look up.
            #expect(plan.contains("Index") || call.statement.name == "create", "\(call.statement.name): \(plan)")
            #expect(!plan.contains("Seq Scan"), "\(call.statement.name): \(plan)")
            // Rows are looked up and locked in the order in which they are requested.
            #expect(!plan.contains("Hash Join") && !plan.contains("Merge Join"), "\(call.statement.name): \(plan)")
            try await session.script("DEALLOCATE sample")
        }
        await session.close()
    }

    @Test func `an append and a stream larger than any socket's buffer go through`() async throws {
        let store = try await TestDatabase.migrated().store()
        let stream = try await store.makeStream()
        let text = String(repeating: "0123456789abcdef", count: 65_536)
        let events = (2...9).map {
            StoredEvent(seq: $0, at: 1, type: "large", payload: Array(#"{"text": "\#(text)"}"#.utf8))
        }
        let part = StreamAppend(stream: stream, expected: StreamVersion(seq: 1, keyed: 0), events: events)
        #expect(try await store.append([part]) == [.appended])
        #expect(try await store.load(stream, reducerVersion: 1, after: nil)?.events.suffix(8) == events[...])
        let snapshot = StoredSnapshot(seq: 9, reducerVersion: 1, state: Array(repeating: 0, count: 9_000_000))
        try await store.save(snapshot, of: stream)
        #expect(try await store.snapshot(of: stream, atMost: 9, reducerVersion: 1) == snapshot)
    }

    @Test func `an acknowledgement is durable whatever the database's default is`() async throws {
        let database = try await TestDatabase.migrated()
        try database.query("ALTER DATABASE \(database.name) SET synchronous_commit = off")
        try database.query("ALTER DATABASE \(database.name) SET default_transaction_isolation = serializable")
        let session = try database.session()
        #expect(try await session.script("SHOW synchronous_commit") == "on")
        #expect(try await session.script("SHOW default_transaction_isolation") == "read committed")
        await session.close()
    }
}
