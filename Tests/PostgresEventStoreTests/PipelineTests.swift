import EventStorage
import FoundationEssentials
import Testing

@testable import PostgresEventStore

/// Several requests under way on one connection.
@Suite
struct PipelineTests {
    /// A store with one connection, which is blocked until told: its first append waits for a lock.
    private struct Line {
        let database: TestDatabase
        let store: PostgresStore
        let streams: [UUID]
        private let other: PostgresPool

        init(streams count: Int = 2, _ change: (inout PostgresConfiguration) -> Void = { _ in }) async throws {
            database = try await TestDatabase.migrated()
            store = try database.store {
                $0.connections = 1
                change(&$0)
            }
            var streams: [UUID] = []
            for n in 0..<count { streams.append(try await store.makeStream(code: "\(n)")) }
            self.streams = streams
            // A pipelined statement must already be prepared.
            for stream in streams { #expect(try await store.append([append(to: stream, after: 1)]) == [.appended]) }
            _ = try await store.seq(of: streams[0])
            _ = try await store.session(tokenHash: [1])
            other = try database.session()
        }

        /// Locks the first stream.
        func block() async throws {
            try await other.script("BEGIN; SELECT FROM heads WHERE room_id = '\(streams[0])' FOR UPDATE")
        }

        func unblock() async throws {
            try await other.script("COMMIT")
        }

        /// Starts a request, and returns when it is the n-th of the line.
        func send<Value: Sendable>(
            _ place: Int, _ body: @escaping @Sendable () async throws(StorageFault) -> Value
        ) async -> Task<Result<Value, StorageFault>, Never> {
            let task = Task { () -> Result<Value, StorageFault> in
                do throws(StorageFault) { return .success(try await body()) } catch { return .failure(error) }
            }
            while await store.pool.requestsUnderWay != place { try? await Task.sleep(for: .milliseconds(1)) }
            return task
        }

        func end() async {
            await store.close()
            await other.close()
        }
    }

    @Test func `pipelined requests are carried out in order`() async throws {
        let line = try await Line()
        try await line.block()
        let (store, stream) = (line.store, line.streams[0])
        var appends: [Task<Result<[AppendOutcome], StorageFault>, Never>] = []
        for place in 1...4 {
            // Any other order would be a conflict.
            appends.append(
                await line.send(place) { () throws(StorageFault) in
                    try await store.append([append(to: stream, after: 1 + place)])
                })
        }
        try await line.unblock()
        for append in appends { #expect(await append.value == .success([.appended])) }
        #expect(try await store.seq(of: stream) == 6)
        await line.end()
    }

    @Test func `a request that fails does not affect those before and after it`() async throws {
        let line = try await Line(streams: 3)
        let process = try await line.store.process()
        try await line.block()
        let (store, streams) = (line.store, line.streams)
        let first = await line.send(1) { () throws(StorageFault) in
            try await store.append([append(to: streams[0], after: 2)])
        }
        let second = await line.send(2) { () throws(StorageFault) in
            var part = append(to: streams[1], after: 2)
            part.events[0].type = "zero\0byte"
            return try await store.append([part])
        }
        let third = await line.send(3) { () throws(StorageFault) in
            try await store.append([append(to: streams[2], after: 2)])
        }
        let fourth = await line.send(4) { () throws(StorageFault) in try await store.heads(of: streams).count }
        try await line.unblock()
        #expect(await first.value == .success([.appended]))
        guard case .failure(.rejected(let cause)) = await second.value else {
            Issue.record("\(await second.value)")
            return
        }
        #expect(cause.code == "22021")
        #expect(await third.value == .success([.appended]))
        #expect(await fourth.value == .success(3))
        let heads = try await store.heads(of: streams)
        #expect(streams.map { heads[$0]?.version.seq } == [3, 2, 3])
        #expect(try await store.process() == process)
        await line.end()
    }

    @Test func `when the connection is lost each request gets the fault that fits it`() async throws {
        let line = try await Line {
            $0.requestsPerConnection = 3
            $0.reconnects = false
        }
        try await line.block()
        let (store, streams) = (line.store, line.streams)
        let write = await line.send(1) { () throws(StorageFault) in
            try await store.append([append(to: streams[0], after: 2)])
        }
        let read = await line.send(2) { () throws(StorageFault) in try await store.heads(of: streams).count }
        let behind = await line.send(3) { () throws(StorageFault) in
            try await store.append([append(to: streams[1], after: 2)])
        }
        let waiting = await line.send(3) { () throws(StorageFault) in
            try await store.append([append(to: streams[1], after: 3)])
        }
        while await store.pool.requestsWaiting != 1 { try await Task.sleep(for: .milliseconds(1)) }
        let process = try await line.database.waitForLockedSession()
        try line.database.query("SELECT pg_terminate_backend(\(process))")
        for sent in [write, behind] {
            guard case .failure(.outcomeUnknown(let cause)) = await sent.value else {
                Issue.record("\(await sent.value)")
                continue
            }
            #expect(cause.code == "57P01")
        }
        guard case .failure(.unreachable) = await read.value, case .failure(.unreachable) = await waiting.value else {
            Issue.record("\(await read.value), \(await waiting.value)")
            return
        }
        #expect(try line.database.query("SELECT string_agg(seq::text, ' ') FROM heads") == "2 2")
        await line.end()
    }

    @Test func `requests that were not sent use the next connection`() async throws {
        let line = try await Line { $0.requestsPerConnection = 1 }
        try await line.block()
        let (store, streams) = (line.store, line.streams)
        let lost = await line.send(1) { () throws(StorageFault) in
            try await store.append([append(to: streams[0], after: 2)])
        }
        let waiting = await line.send(1) { () throws(StorageFault) in
            try await store.append([append(to: streams[1], after: 2)])
        }
        while await store.pool.requestsWaiting != 1 { try await Task.sleep(for: .milliseconds(1)) }
        let process = try await line.database.waitForLockedSession()
        try line.database.query("SELECT pg_terminate_backend(\(process))")
        #expect(await waiting.value == .success([.appended]))
        guard case .failure(.outcomeUnknown) = await lost.value else {
            Issue.record("\(await lost.value)")
            return
        }
        await line.end()
    }

    @Test func `nothing is sent behind a transaction, whose failure is rolled back first`() async throws {
        let line = try await Line()
        let process = try await line.store.process()
        try await line.block()
        let (store, streams) = (line.store, line.streams)
        var part = append(to: streams[1], after: 2)
        part.events[0].type = "zero\0byte"
        let calls = [
            [Call(.begin)], PostgresStore.appendCalls(for: [append(to: streams[0], after: 2)]),
            PostgresStore.appendCalls(for: [part]), [Call(.commit)],
        ].flatMap { $0 }
        let transaction = await line.send(1) { () throws(StorageFault) in
            try await store.pool.run(.calls(calls), isWrite: true).count
        }
        let behind = await line.send(1) { () throws(StorageFault) in
            try await store.append([append(to: streams[1], after: 2)])
        }
        while await store.pool.requestsWaiting != 1 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(await store.pool.requestsUnderWay == 1)
        try await line.unblock()
        guard case .failure(.rejected) = await transaction.value else {
            Issue.record("\(await transaction.value)")
            return
        }
        #expect(await behind.value == .success([.appended]))
        let heads = try await store.heads(of: streams)
        #expect(streams.map { heads[$0]?.version.seq } == [2, 3])
        #expect(try await store.process() == process)
        await line.end()
    }

    @Test func `a statement that is not prepared waits for an empty line`() async throws {
        let line = try await Line()
        try await line.block()
        let (store, streams) = (line.store, line.streams)
        let first = await line.send(1) { () throws(StorageFault) in
            try await store.append([append(to: streams[0], after: 2)])
        }
        let read = await line.send(1) { () throws(StorageFault) in
            try await store.read(streams[0], after: 0, limit: 9).count
        }
        while await store.pool.requestsWaiting != 1 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(await store.pool.requestsUnderWay == 1)
        try await line.unblock()
        #expect(await first.value == .success([.appended]))
        #expect(await read.value == .success(3))
        await line.end()
    }

    @Test func `a connection that is to be replaced still serves the requests that were sent over it`() async throws {
        let line = try await Line()
        let process = try await line.store.process()
        try await line.block()
        let (store, streams) = (line.store, line.streams)
        let first = await line.send(1) { () throws(StorageFault) in
            try await store.append([append(to: streams[0], after: 2)])
        }
        let outdated = await line.send(2) { () throws(StorageFault) in try await store.session(tokenHash: [1]) }
        let last = await line.send(3) { () throws(StorageFault) in
            try await store.append([append(to: streams[1], after: 2)])
        }
        // The plan's result then has another type.
        try line.database.query("ALTER TABLE sessions ALTER name TYPE varchar(99)")
        try await line.unblock()
        #expect(await first.value == .success([.appended]))
        guard case .failure(.rejected(let cause)) = await outdated.value else {
            Issue.record("\(await outdated.value)")
            return
        }
        #expect(cause.code == "0A000")
        #expect(await last.value == .success([.appended]))
        #expect(try await store.session(tokenHash: [1]) == nil)
        #expect(try await store.process() != process)
        await line.end()
    }
}

extension PostgresPool {
    /// The number of requests that were sent and have not ended.
    fileprivate var requestsUnderWay: Int { connections.map(\.load).reduce(0, +) }

    /// The number of requests that wait for a connection.
    fileprivate var requestsWaiting: Int { waiting.count }
}

extension PostgresStore {
    /// The server's process behind the one connection.
    fileprivate func process() async throws -> Int {
        let answer = try await query(Call(Statement("process", "SELECT pg_backend_pid()::bigint")))
        return try answer.int(0, 0)
    }
}
