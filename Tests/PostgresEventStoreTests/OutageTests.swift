import EventStorage
import FoundationEssentials
import PostgresTestSupport
import Synchronization
import Testing

@testable import PostgresEventStore

@Suite
struct OutageTests {
    @Test func `a server that crashes under appends is told, and used again when it is back`() async throws {
        let database = try await TestDatabase.migratedAlone()
        defer { withExtendedLifetime(database.cluster) {} }
        let store = try database.store()
        let writers = 8
        var streams: [UUID] = []
        for writer in 0..<writers { streams.append(try await store.makeStream(code: "\(writer)")) }
        let tally = Tally()
        let logs = try await withThrowingTaskGroup(of: (Int, WriterLog).self) { group in
            for writer in 0..<writers {
                group.addTask { [stream = streams[writer]] in
                    (writer, await write(to: stream, of: store, tally: tally))
                }
            }
            for _ in 1...3 {
                await tally.waitForProgress(writers: writers)
                try database.cluster.crash()
                // All writers have noticed that the server is down.
                let faults = tally.counts.faults
                await tally.wait { $0.faults >= faults + 2 * writers }
                try database.cluster.start()
            }
            await tally.waitForProgress(writers: writers)
            tally.stop()
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        for (writer, log) in logs {
            let events = try await store.read(streams[writer], after: 1, limit: .max)
            #expect(events.map(\.seq) == Array(2..<events.count + 2))
            let marks = events.map { String(decoding: $0.payload, as: UTF8.self) }
            #expect(Set(marks).count == marks.count, "nothing is applied twice")
            #expect(log.acknowledged.isSubset(of: marks), "nothing acknowledged is lost")
            #expect(Set(marks).subtracting(log.acknowledged).isSubset(of: log.unknown))
            #expect(log.unexpected == [])
        }
        await store.close()
    }

    @Test func `a server that is not there is told at once, every time`() async throws {
        let cluster = try PostgresCluster()
        defer { withExtendedLifetime(cluster) {} }
        let database = TestDatabase(cluster: cluster, url: try cluster.makeDatabase())
        try cluster.crash()
        let store = try database.store()
        for _ in 0..<3 {
            let fault = await fault { () throws(StorageFault) in try await store.checkHealth() }
            #expect(fault?.isUnreachable == true)
        }
        try cluster.start()
        while await store.healthFault()?.isUnreachable == true { try await Task.sleep(for: .milliseconds(1)) }
        #expect(await store.healthFault()?.cause?.code == "42P01")
    }

    @Test func `an append whose session is ended has an unknown outcome, and the next one works`() async throws {
        let database = try await TestDatabase.migrated()
        let store = try database.store()
        let stream = try await store.makeStream()
        let other = try database.session()
        try await other.script("BEGIN; SELECT FROM heads FOR UPDATE")
        async let outcome = fault { () throws(StorageFault) in try await store.append([append(to: stream, after: 1)]) }
        let process = try await database.waitForLockedSession()
        try database.query("SELECT pg_terminate_backend(\(process))")
        let fault = await outcome
        #expect(fault?.outcomeIsUnknown == true)
        #expect(fault?.cause?.code == "57P01")
        await other.close()
        #expect(try await store.append([append(to: stream, after: 1)]) == [.appended])
    }

    @Test func `sessions that are ended while idle are replaced`() async throws {
        let database = try await TestDatabase.migrated()
        let store = try database.store()
        let stream = try await store.makeStream()
        let others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        func sessions() throws -> Set<Substring> {
            Set(try database.query("SELECT pid \(others)").split(separator: "\n"))
        }
        for seq in 1...5 {
            while try sessions().count < 4 { try await Task.sleep(for: .milliseconds(1)) }
            let old = try sessions()
            try database.query("SELECT pg_terminate_backend(pid) \(others)")
            // Four new sessions: the store has noticed the loss of each.
            while try sessions().subtracting(old).count < 4 { try await Task.sleep(for: .milliseconds(1)) }
            #expect(try await store.append([append(to: stream, after: seq)]) == [.appended])
        }
    }

    @Test func `a frozen server is found out in time, and used again when it goes on`() async throws {
        let database = try await TestDatabase.migratedAlone()
        defer { withExtendedLifetime(database.cluster) {} }
        let store = try database.store {
            $0.connections = 2
            $0.connectTimeout = .milliseconds(300)
            $0.answerTimeout = .milliseconds(500)
            $0.connectionWait = .milliseconds(300)
        }
        let stream = try await makeStreamPatiently(on: store)
        var first: StorageFault?
        while first?.outcomeIsUnknown != true {
            // On a slow machine the connections may have been given up before, so that nothing was sent.
            if first != nil {
                #expect(first?.isUnreachable == true)
                try database.cluster.thaw()
                while await store.healthFault() != nil { try await Task.sleep(for: .milliseconds(1)) }
            }
            try database.cluster.freeze()
            first = await fault { () throws(StorageFault) in
                try await store.append([append(to: stream, after: 1, mark: "first")])
            }
            try #require(first != nil)
        }
        #expect(first?.cause?.code == "ETIMEDOUT")
        // The other connection may still be considered alive; then there is none left.
        var fault = first
        while fault?.isUnreachable != true { fault = await store.healthFault() }
        #expect(fault?.cause?.code == "ETIMEDOUT")
        try database.cluster.thaw()
        while await store.healthFault() != nil { try await Task.sleep(for: .milliseconds(1)) }
        // Requests sent to the frozen server are carried out when it continues, or never.
        let marks = try await readPatiently(stream, of: store).dropFirst().map(\.payload)
        #expect(marks == [] || marks == [event(2, mark: "first").payload])
        await store.close()
    }

    @Test func `commits that wait for a standby keep their places, and all answers are true`() async throws {
        let database = try await TestDatabase.migratedAlone()
        defer { withExtendedLifetime(database.cluster) {} }
        let store = try database.store()
        var streams: [UUID] = []
        for number in 0..<4 { streams.append(try await store.makeStream(code: "\(number)")) }
        func standby(_ name: String) throws {
            try database.query("ALTER SYSTEM SET synchronous_standby_names = '\(name)'")
            try database.query("SELECT pg_reload_conf()")
        }
        func commitsThatWait() throws -> Int? {
            Int(try database.query("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"))
        }
        /// The processes that serve the store.
        func sessions() throws -> Int? {
            Int(
                try database.query(
                    """
                    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                        AND pid <> pg_backend_pid() AND backend_type = 'client backend'
                    """))
        }
        // The setting is seen some time later: commits of another store show when.
        let other = try database.store { $0.connections = 1 }
        let spare = try await other.makeStream(code: "spare")
        try standby("nobody")
        let trying = Task {
            var seq = 1
            while !Task.isCancelled, (try? await other.append([append(to: spare, after: seq)])) == [.appended] {
                seq += 1
            }
        }
        while try commitsThatWait() == 0 { try await Task.sleep(for: .milliseconds(1)) }
        // All that there is for writes, one after the other, so that reads go on meanwhile.
        for stream in streams.prefix(3) {
            let waiting = try commitsThatWait()
            async let appended = fault { () throws(StorageFault) in
                try await store.append([append(to: stream, after: 1)])
            }
            while try commitsThatWait() == waiting { try await Task.sleep(for: .milliseconds(1)) }
            // After half of its time the server is asked whether it lives.
            let asked = store.pool.executor.now + .seconds(150)
            store.pool.executor.advance(by: .seconds(150))
            while await !store.pool.wasAnswered(since: asked) { try await Task.sleep(for: .milliseconds(1)) }
            store.pool.executor.advance(by: .seconds(150))
            #expect(await appended?.outcomeIsUnknown == true)
            #expect(try await store.seq(of: stream) == 1, "nobody sees what may yet be lost")
            let count = try sessions()
            #expect(count.map { $0 <= 4 + 1 } == true, "\(String(describing: count)) sessions, one of the other store")
        }
        let refused = await fault { () throws(StorageFault) in
            try await store.append([append(to: streams[3], after: 1)])
        }
        if case .exhausted = refused {} else { Issue.record("the fourth append: \(String(describing: refused))") }
        // Every server of the log says so, also one that writes nothing.
        for one in [store, try database.store()] {
            while await one.healthFault() == nil { try await Task.sleep(for: .milliseconds(1)) }
            #expect(await one.healthFault()?.cause?.code == "SyncRep")
        }
        let probe = await fault { () throws(StorageFault) in try await store.probeWriting() }
        #expect(probe?.cause?.code == "SyncRep")

        trying.cancel()
        try standby("")
        await trying.value
        while await store.healthFault() != nil { try await Task.sleep(for: .milliseconds(1)) }
        for stream in streams.prefix(3) { #expect(try await store.seq(of: stream) == 2) }
        #expect(try await store.seq(of: streams[3]) == 1)
        while (try? await store.probeWriting()) == nil { try await Task.sleep(for: .milliseconds(1)) }
        for (index, stream) in streams.enumerated() {
            #expect(try await store.append([append(to: stream, after: index < 3 ? 2 : 1)]) == [.appended])
        }
        await store.close()
    }

    @Test func `a statement that takes too long is given up by the server`() async throws {
        let database = try await TestDatabase.migrated()
        let stream = try await database.store().makeStream()
        let store = try database.store { $0.statementTimeout = .milliseconds(100) }
        let other = try database.session()
        try await other.script("BEGIN; SELECT FROM heads FOR UPDATE")
        let fault = await fault { () throws(StorageFault) in try await store.append([append(to: stream, after: 1)]) }
        guard case .transient(let cause) = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
        #expect(cause.code == "57014")
        await other.close()
    }

    @Test func `a server that takes no writes is unreachable`() async throws {
        let database = try await TestDatabase.migrated()
        let stream = try await database.store().makeStream()
        try database.query("ALTER DATABASE \(database.name) SET default_transaction_read_only = on")
        let store = try database.store()
        let refused = await fault { () throws(StorageFault) in try await store.append([append(to: stream, after: 1)]) }
        #expect(refused?.isUnreachable == true)
        #expect(refused?.cause?.code == "25006")
        #expect(await store.healthFault()?.cause?.code == "25006")
        #expect(try await store.seq(of: stream) == 1)
    }

    @Test(arguments: [("nobody", "test", "28000"), ("backline", "no_such_database", "3D000")])
    func `a server that refuses the connection says why`(user: String, database: String, code: String) async throws {
        let url = try PostgresCluster.shared.connectionString(of: database)
            .replacing("backline@", with: user + "@")
        var configuration = try PostgresConfiguration(url: url, environment: [:])
        configuration.connectTimeout = .seconds(300)
        configuration.connectionWait = .seconds(300)
        let store = try PostgresStore(configuration)
        let fault = await store.healthFault()
        #expect(fault?.isUnreachable == true)
        #expect(fault?.cause?.code == code)
    }

    // MARK: Writing through outages

    /// The answers to a writer about its events, by their payloads.
    private struct WriterLog {
        var acknowledged: Set<String> = []
        var unknown: Set<String> = []
        var unexpected: [StorageFault] = []
    }

    /// Appends events with different payloads until told to stop; after an unknown outcome, reads the log.
    private func write(to stream: UUID, of store: PostgresStore, tally: Tally) async -> WriterLog {
        var log = WriterLog()
        var seq = 1
        var attempt = 0
        while !tally.isStopped {
            attempt += 1
            let part = append(to: stream, after: seq, mark: "\(attempt)")
            let mark = String(decoding: part.events[0].payload, as: UTF8.self)
            do throws(StorageFault) {
                switch try await store.append([part]) {
                case [.appended]:
                    log.acknowledged.insert(mark)
                    seq += 1
                    tally.note { $0.acknowledged += 1 }
                default: seq = try await store.heads(of: [stream])[stream]?.version.seq ?? seq
                }
            } catch {
                tally.note { $0.faults += 1 }
                switch error {
                case .outcomeUnknown: log.unknown.insert(mark)
                case .unreachable: break
                case .transient, .exhausted, .rejected, .corrupt, .closed: log.unexpected.append(error)
                }
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        return log
    }

    /// Makes a stream on a store whose time limits may be too short for a slow machine.
    private func makeStreamPatiently(on store: PostgresStore) async throws -> UUID {
        let creation = creation()
        while true {
            do throws(StorageFault) {
                _ = try await store.create(creation)
                return creation.first.stream
            } catch {
                if try await readPatiently(creation.first.stream, of: store).count == 1 { return creation.first.stream }
            }
        }
    }

    private func readPatiently(_ stream: UUID, of store: PostgresStore) async throws -> [StoredEvent] {
        while true {
            do throws(StorageFault) {
                return try await store.read(stream, after: 0, limit: 100)
            } catch {
                try await Task.sleep(for: .milliseconds(1))
            }
        }
    }
}

/// The progress of the writers.
private final class Tally: Sendable {
    struct Counts {
        var acknowledged = 0
        var faults = 0
    }

    private let state = Mutex(Counts())
    private let stopped = Atomic<Bool>(false)

    var counts: Counts { state.withLock { $0 } }
    var isStopped: Bool { stopped.load(ordering: .relaxed) }

    func note(_ change: (inout Counts) -> Void) { state.withLock { change(&$0) } }
    func stop() { stopped.store(true, ordering: .relaxed) }

    /// Waits until the store serves the writers.
    func waitForProgress(writers: Int) async {
        let acknowledged = counts.acknowledged
        await wait { $0.acknowledged >= acknowledged + 20 * writers }
    }

    func wait(for condition: (Counts) -> Bool) async {
        while !condition(counts) { try? await Task.sleep(for: .milliseconds(1)) }
    }
}

extension PostgresPool {
    /// Whether a connection has had an answer since a time.
    fileprivate func wasAnswered(since time: ContinuousClock.Instant) -> Bool {
        connections.contains { $0.lastAnswer.map { $0 >= time } ?? false }
    }
}
