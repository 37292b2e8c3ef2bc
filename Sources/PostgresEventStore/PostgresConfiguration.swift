import EventStorage

/// The settings for connecting to PostgreSQL, and the time limits.
package struct PostgresConfiguration: Sendable {
    /// The connection string for libpq: a `postgres://` or `postgresql://` URL, `keyword=value` pairs, or empty.
    let connectionString: String
    /// The server's address, "host:port/database", without a password, for the operator's log.
    package let target: String

    /// The number of connections that the store keeps.
    ///
    /// Few suffice, because appends of many streams are gathered into one batch.
    package var connections = 4
    /// The number of connections for statistics, besides those.
    package var statisticsConnections = 2
    /// The most requests under way on one connection, used if none is idle; the server carries them out in turn.
    ///
    /// Two keep the server busy while an answer and the next request travel. A request waits for those before it, so
    /// the number should be small.
    package var requestsPerConnection = 4
    /// The servers of the connection string, which are tried one after the other; none: libpq finds them.
    let hosts: [PostgresHost]

    /// The time limit of an attempt to connect to one address: the connection string's `connect_timeout`, else 5 s.
    ///
    /// libpq itself applies that only to blocking calls.
    package var connectTimeout: Duration
    /// The time for which a request waits for a connection while no attempt has failed.
    ///
    /// This applies at the start and after connections were lost. Once an attempt has failed, requests fail at once
    /// until an attempt succeeds.
    package var connectionWait: Duration = .seconds(1)
    /// The time after which the server gives up one statement (its `statement_timeout`).
    ///
    /// The request then fails with ``StorageFault/transient(_:)``, and nothing was done. Zero means no limit.
    package var statementTimeout: Duration = .seconds(4)
    /// The time limit for a request to get a free connection, and again for its answer once it is the first in its
    /// line.
    ///
    /// It must be longer than ``statementTimeout``; it detects servers that are frozen or cut off.
    package var answerTimeout: Duration = .seconds(5)
    /// The most requests that may wait for a free connection; one more fails with ``StorageFault/exhausted(_:)``.
    package var waitingLimit = 1_024
    /// The upper bound of the first delay before connecting again; it doubles with each failure.
    package var firstBackoff: Duration = .milliseconds(50)
    /// The largest upper bound of the delay before connecting again.
    package var largestBackoff: Duration = .seconds(2)
    /// Whether a server that takes no writes is passed over from the start, where there are others.
    var onlyWrites = false
    /// Whether lost connections are replaced; false while migrating, because the lock belongs to the session.
    var reconnects = true

    /// The settings of the connections for statistics.
    ///
    /// Few requests wait for one of them: whoever asks is told at once that there is no answer.
    var forStatistics: Self {
        var settings = self
        settings.connections = statisticsConnections
        settings.requestsPerConnection = 1
        settings.waitingLimit = 64
        return settings
    }

    /// The settings of the one connection that migrates a schema.
    var forMigrating: Self {
        var settings = self
        settings.connections = 1
        settings.onlyWrites = hosts.count > 1
        // The lock belongs to the session: another connection would not hold it.
        settings.reconnects = false
        settings.connectionWait = connectTimeout * (max(1, hosts.count) + 1)
        settings.statementTimeout = .zero
        settings.answerTimeout = .seconds(30 * 60)
        return settings
    }

    /// Takes a connection string.
    ///
    /// The string is `url`, or `DATABASE_URL` of `environment` if `url` is nil or empty. Values that it leaves out come
    /// from libpq's own sources: the process's `PG…` variables, the service and password files, and defaults. Throws if
    /// libpq does not understand the string.
    package init(url: String?, environment: [String: String]) throws(PostgresConfigurationError) {
        let given = [url, environment["DATABASE_URL"]].compactMap { $0 }.first { !$0.isEmpty }
        connectionString = given ?? ""
        target = try ConnectionString.target(of: connectionString)
        let servers = try ConnectionString.servers(of: connectionString)
        hosts = servers.hosts
        connectTimeout = servers.timeout ?? .seconds(5)
    }
}

/// A connection string that libpq does not understand.
package struct PostgresConfigurationError: Error, Hashable, CustomStringConvertible {
    /// The reason, in one line without any part of the connection string, which may contain a password.
    package let description: String
}
