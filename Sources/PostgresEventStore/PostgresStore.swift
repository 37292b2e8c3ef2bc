package import EventStorage

/// The event store on PostgreSQL.
///
/// Each method is one round trip over one of a few libpq connections. Its writes are single transactions that are
/// durable when it returns. ``migrate()`` must have created the database's schema before.
///
/// Deadlocks and serialisation failures are retried a few times, since nothing was done. Task cancellation is ignored:
/// every call ends within the configuration's time limits. A pooler between store and server must pool sessions and not
/// transactions: statements are prepared and settings made once per connection.
package final class PostgresStore: EventStore {
    let configuration: PostgresConfiguration
    let pool: PostgresPool
    /// The connections for all that is read and computed of statistics, so that no append and no read of the log waits
    /// behind a question that takes long.
    let statisticsPool: PostgresPool

    /// Makes a store that connects with its first request.
    ///
    /// Throws ``StorageFault/exhausted(_:)`` if the process can have no more descriptors or threads. Use
    /// ``checkHealth()`` to find out whether the server can be reached.
    package init(_ configuration: PostgresConfiguration) throws(StorageFault) {
        self.configuration = configuration
        pool = try PostgresPool(configuration)
        statisticsPool = try PostgresPool(configuration.forStatistics)
    }

    package var executor: (any TaskExecutor)? { pool.executor }

    /// Refuses further requests, waits for those under way, and closes the connections.
    package func close() async {
        await statisticsPool.close()
        await pool.close()
    }

    private static let takesNoWrites =
        "the server takes no writes: it is a standby, or default_transaction_read_only is on"

    /// Whether there are other servers to try where one cannot be used.
    package var hasOtherServers: Bool { configuration.hosts.count > 1 }

    package func checkHealth() async throws(StorageFault) {
        // A refusal of the server's own is what makes the pool try another one.
        try await checkHealth(triesWriting: hasOtherServers)
    }

    private func checkHealth(triesWriting: Bool) async throws(StorageFault) {
        let answer = try await query(Call(.health))
        guard let row = answer.rows.first else { throw .corrupt(.init(message: "no answer to a health check")) }
        guard try !answer.bool(row, 0) else {
            if triesWriting { try await tryWriting() }
            throw .unreachable(.init(code: StorageFault.readOnly, message: Self.takesNoWrites))
        }
        guard try answer.bool(row, 1) else {
            throw .rejected(.init(code: "42501", message: "permission denied to append to the event log"))
        }
        guard try !answer.bool(row, 2) else {
            throw .unreachable(.init(code: "SyncRep", message: "commits wait for a synchronous standby"))
        }
    }

    package func probeWriting() async throws(StorageFault) {
        // A write would wait for what this finds.
        try await checkHealth(triesWriting: true)
        try await tryWriting()
    }

    /// Writes like an append, and takes it back.
    private func tryWriting() async throws(StorageFault) {
        _ = try await write([Call(.begin), Call(.probeInsertion), Call(.probeDeletion), Call(.commit)])
    }

    // MARK: Running statements

    /// The number of attempts at a transaction that the server rolls back because of another one.
    private static let attempts = 5

    /// Runs one statement that only reads.
    func query(_ call: Call) async throws(StorageFault) -> PostgresResult {
        try await Self.last(pool.run(.calls([call]), isWrite: false))
    }

    /// Runs one statement that only reads statistics.
    func ask(_ call: Call) async throws(StorageFault) -> PostgresResult {
        try await Self.last(statisticsPool.run(.calls([call]), isWrite: false))
    }

    /// Runs one statement that may write.
    func execute(_ call: Call) async throws(StorageFault) -> PostgresResult {
        try await Self.last(write([call]))
    }

    /// Runs statements that may write, sent together; they are one transaction, with or without `BEGIN` and `COMMIT`.
    ///
    /// Without them, PostgreSQL commits at the end of the request (libpq's pipeline mode: at its Sync).
    func write(_ calls: [Call]) async throws(StorageFault) -> [PostgresResult] {
        try await Self.write(calls, over: pool)
    }

    /// Runs statements that write statistics and may take long, as ``write(_:)`` does.
    func compute(_ calls: [Call]) async throws(StorageFault) -> [PostgresResult] {
        try await Self.write(calls, over: statisticsPool)
    }

    private static func write(
        _ calls: [Call], over pool: PostgresPool
    ) async throws(StorageFault) -> [PostgresResult] {
        for _ in 1..<attempts {
            do throws(StorageFault) {
                return try await pool.run(.calls(calls), isWrite: true)
            } catch .transient(let cause) where isCollision(cause) {
                continue
            }
        }
        return try await pool.run(.calls(calls), isWrite: true)
    }

    /// Whether the cause is a serialisation failure or a deadlock.
    private static func isCollision(_ cause: StorageFault.Cause) -> Bool {
        ["40001", "40P01"].contains(cause.code)
    }

    private static func last(_ answers: [PostgresResult]) throws(StorageFault) -> PostgresResult {
        guard let answer = answers.last else { throw .corrupt(.init(message: "a statement has no answer")) }
        return answer
    }
}
