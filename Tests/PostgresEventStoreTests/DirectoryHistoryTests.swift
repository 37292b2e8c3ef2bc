import EventStorage
import FoundationEssentials
import Glibc
import PostgresTestSupport
import Testing

@testable import PostgresEventStore

/// Marks of the directory in another history than their own, in which transaction ids are assigned again.
@Suite
struct DirectoryHistoryTests {
    @Test func `after older files were restored all entries are read anew, once`() async throws {
        let database = try await TestDatabase.migratedAlone()
        defer { withExtendedLifetime(database.cluster) {} }
        let store = try database.store()
        let streams = [try await store.makeStream(code: "A"), try await store.makeStream(code: "B")]
        try database.cluster.stop()
        try database.cluster.keepFiles()
        try database.cluster.start()
        for turn in 0..<5 { try database.rename(streams[1], to: "lost \(turn)") }
        let snapshot = try database.query("SELECT pg_current_snapshot()")
        let mark = try await database.store().directoryChanges(since: nil).mark
        try database.cluster.stop()
        try database.cluster.putFilesBack()
        try database.cluster.start()

        try database.rename(streams[0], to: "new")
        let isShown = "SELECT pg_visible_in_snapshot(listed_in, '\(snapshot)') FROM directory WHERE name = 'new'"
        #expect(try database.query(isShown) == "t", "the id is given a second time")
        let later = try database.store()
        let anew = try await later.directoryChanges(since: mark)
        #expect(anew.records == nil)
        #expect(try await later.directoryChanges(since: anew.mark).records == [])
        try database.rename(streams[1], to: "newer")
        #expect(try await later.directoryChanges(since: anew.mark).records?.map(\.entry.name) == ["newer"])
    }

    @Test func `after a crash of a PostgreSQL process all entries are read anew, once`() async throws {
        let database = try await TestDatabase.migratedAlone()
        defer { withExtendedLifetime(database.cluster) {} }
        let started = try database.query("SELECT pg_postmaster_start_time()")
        let mark = try await database.store().directoryChanges(since: nil).mark
        let (victim, witness) = (try database.session(), try database.session())
        let process = try #require(pid_t(try await victim.script("SELECT pg_backend_pid()")))
        try await witness.script("SELECT 1")
        #expect(kill(process, SIGKILL) == 0)
        // The server then ends all other sessions.
        while (try? await witness.script("SELECT 1")) != nil { await Task.yield() }
        let store = try database.store()
        while await store.healthFault() != nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(try database.query("SELECT pg_postmaster_start_time()") == started)
        let anew = try await store.directoryChanges(since: mark)
        #expect(anew.records == nil)
        #expect(try await store.directoryChanges(since: anew.mark).records == [])
    }

    @Test func `after a dump was restored into the same tables all entries are read anew, once`() async throws {
        let database = try await TestDatabase.migrated()
        let store = try database.store()
        let stream = try await store.makeStream()
        try database.query("CREATE TABLE dump AS TABLE directory")
        try database.rename(stream, to: "lost")
        let mark = try await store.directoryChanges(since: nil).mark
        try database.query("TRUNCATE directory; INSERT INTO directory SELECT * FROM dump")
        let anew = try await store.directoryChanges(since: mark)
        #expect(anew.records == nil)
        #expect(try await store.directoryChanges(since: anew.mark).records == [])
    }

    @Test func `after a dump was restored elsewhere all entries are read anew, once, whatever ids it has`() async throws
    {
        let (low, high) = (try await TestDatabase.migratedAlone(), try await TestDatabase.migratedAlone())
        defer { withExtendedLifetime((low.cluster, high.cluster)) {} }
        try high.query("DO $$ BEGIN FOR n IN 1..5000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$")
        for (here, there) in [(low, high), (high, low)] {
            let store = try here.store()
            let (stream, other) = (try await store.makeStream(code: "A"), try await store.makeStream(code: "B"))
            let mark = try await store.directoryChanges(since: nil).mark
            try here.rename(other, to: "before")

            let restored = TestDatabase(cluster: there.cluster, url: try there.cluster.makeDatabase())
            try there.cluster.restoreDump(of: here.url, into: restored.url)
            let areFuture = try restored.query(
                "SELECT bool_and(listed_in > pg_snapshot_xmax(pg_current_snapshot())) FROM directory")
            #expect(areFuture == (here.url == high.url ? "t" : "f"))
            let later = try restored.store()
            let anew = try await later.directoryChanges(since: mark)
            #expect(anew.records == nil)
            #expect(try await later.directoryChanges(since: anew.mark).records == [])
            #expect(try await later.openPublicStreams(matching: nil, before: nil, limit: 9).count == 2)
            try restored.rename(stream, to: "after")
            let changes = try await later.directoryChanges(since: anew.mark)
            #expect(changes.records?.map(\.entry.name) == ["after"])
            #expect(try await later.directoryChanges(since: changes.mark).records == [])
            #expect(try await store.directoryChanges(since: mark).records?.map(\.entry.name) == ["before"])
        }
    }

    @Test func `an invalid mark has all entries read anew`() async throws {
        let store = try await TestDatabase.migrated().store()
        for text in ["", "1", "1:1:", "4000000000000:4000000000000: another history"] {
            #expect(try await store.directoryChanges(since: DirectoryMark(text)).records == nil)
        }
    }

    @Test func `a role that may read and write rows may take marks`() async throws {
        let database = try await TestDatabase.migrated()
        let store = try database.store()
        let stream = try await store.makeStream()
        let role = "plain_\(try database.name)"
        try database.query("CREATE ROLE \(role) LOGIN; GRANT SELECT, INSERT, UPDATE ON directory TO \(role)")
        let url = database.url.replacing("//backline@", with: "//\(role)@")
        let plain = try TestDatabase(cluster: database.cluster, url: url).store()
        let mark = try await plain.directoryChanges(since: nil).mark
        try database.rename(stream, to: "new")
        #expect(try await plain.directoryChanges(since: mark).records?.map(\.stream) == [stream])
    }
}

extension TestDatabase {
    /// Changes a room's name as an append does.
    fileprivate func rename(_ stream: UUID, to name: String) throws {
        try query(
            "UPDATE directory SET name = '\(name)', listed_in = pg_current_xact_id() WHERE room_id = '\(stream)'")
    }
}
