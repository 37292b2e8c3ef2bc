import EventStorage

/// How to reach PostgreSQL, and how long to wait for it.
package struct PostgresConfiguration: Sendable {
    /// What libpq is given: a `postgres://` or `postgresql://` URL, `keyword=value` pairs, or nothing.
    let connectionString: String
    /// Where the server is, "host:port/database", for the operator's log, without a password.
    package let target: String

    /// How many connections the store keeps.
    ///
    /// Few suffice where appends of many streams are gathered into one batch.
    package var connections = 4
    /// How many requests are under way on one connection, where none is idle; the server carries them out in turn.
    ///
    /// Two keep it busy while an answer and the next request travel. A request waits for those before it, so few more.
    package var requestsPerConnection = 4
    /// How long one attempt to connect may take, over all hosts of the connection string.
    ///
    /// It stands in place of libpq's own `connect_timeout`, which libpq heeds only where it blocks.
    package var connectTimeout: Duration = .seconds(5)
    /// How long a request waits for a connection while no attempt has failed.
    ///
    /// That is at the start, and after connections were lost. Once an attempt has failed, requests fail at once until
    /// one succeeds.
    package var connectionWait: Duration = .seconds(1)
    /// How long the server works on one statement before it gives up (its `statement_timeout`).
    ///
    /// The request then fails with ``StorageFault/transient(_:)``, and nothing was done. Zero: without limit.
    package var statementTimeout: Duration = .seconds(4)
    /// How long a request waits for a free connection, and how long, once sent and the first in its line, for its answer.
    ///
    /// Longer than ``statementTimeout``, it finds out servers that are frozen or cut off.
    package var answerTimeout: Duration = .seconds(5)
    /// How many requests may wait for a free connection; one more fails with ``StorageFault/exhausted(_:)``.
    package var waitingLimit = 1_024
    /// The bound of the first delay before connecting again; it doubles with each failure.
    package var firstBackoff: Duration = .milliseconds(50)
    /// The largest bound of the delay before connecting again.
    package var largestBackoff: Duration = .seconds(2)
    /// Whether lost connections are replaced; not while migrating, since the lock is the connection's.
    var reconnects = true

    /// Takes a connection string.
    ///
    /// It is `url`; where that is nil or empty, `DATABASE_URL` of `environment`. What it leaves out comes from libpq's
    /// own sources: the process's `PG…` variables, the service and password files, and defaults. A string that libpq
    /// does not understand throws.
    package init(url: String?, environment: [String: String]) throws(PostgresConfigurationError) {
        let given = [url, environment["DATABASE_URL"]].compactMap { $0 }.first { !$0.isEmpty }
        connectionString = given ?? ""
        target = try ConnectionString.target(of: connectionString)
    }
}

/// A connection string that libpq does not understand.
package struct PostgresConfigurationError: Error, Hashable, CustomStringConvertible {
    /// What is wrong, in one line that holds nothing of the connection string, in which a password may be.
    package let description: String
}
