package import EventStorage

/// The bus between servers over PostgreSQL's LISTEN and NOTIFY, on one connection and one thread of its own.
///
/// A NOTIFY takes a lock that all committing NOTIFYs of a cluster share: it never stands in a transaction that writes
/// anything else, and what comes together goes in one transaction. `PgBouncer` and its like must not stand between:
/// listening is the session's.
package actor PostgresNodeBus: NodeBus, NotificationListener {
    private nonisolated let pool: PostgresPool
    private var receive: (@Sendable (NodeBusEvent) -> Void)?
    private var isListening = false
    private var joiner = NotificationJoiner()
    /// Not zero at the start, so that two senders with one number, one after the other, are told apart.
    private var lastNumber = UInt32.random(in: .min ... .max)
    private var waitingBytes = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The bus holds the pool, which holds its executor.
        unsafe pool.executor.asUnownedSerialExecutor()
    }

    /// How many bytes of messages may wait to be sent; more are refused.
    private static let waitingLimit = 16 * 1_024 * 1_024
    /// How often the connection is tried, so that one that is cut off is found out.
    private static let probeInterval = Duration.seconds(2)

    /// Makes a bus that connects when it is run or sent to.
    ///
    /// Throws ``StorageFault/exhausted(_:)`` where the process can have no more descriptors or threads.
    package init(_ configuration: PostgresConfiguration) throws(StorageFault) {
        var configuration = configuration
        configuration.connections = 1
        pool = try PostgresPool(configuration)
    }

    // MARK: Sending

    package func send(_ messages: [NodeMessage]) async throws(StorageFault) {
        var channels: [String] = []
        var payloads: [String] = []
        var bytes = 0
        for message in messages {
            let channel = message.recipient.map { NotificationChannel.server($0) } ?? .everybody
            guard let channel, message.payload.count <= NodeMessage.largestPayload else {
                throw .rejected(.init(message: "a message to a server that cannot be, or one that is too long"))
            }
            lastNumber &+= 1
            let parts = NotificationText.payloads(of: message.payload, number: lastNumber)
            payloads += parts
            channels += parts.map { _ in channel.name }
            bytes += message.payload.count
        }
        guard !payloads.isEmpty else { return }
        guard waitingBytes + bytes <= Self.waitingLimit else {
            throw .exhausted(.init(message: "too many messages wait for the bus between servers"))
        }
        waitingBytes += bytes
        defer { waitingBytes -= bytes }
        _ = try await pool.run(.calls([Call(.notify, channels, payloads)]), isWrite: false)
    }

    // MARK: Receiving

    /// Receives what is sent to everybody and to `node`, until the task is cancelled.
    ///
    /// - Precondition: `node` has 1 to 48 characters of `a`…`z`, `0`…`9`, `-` and `_`, and nobody else receives on this
    ///   bus.
    package func run(as node: String, _ receive: @escaping @Sendable (NodeBusEvent) -> Void) async {
        guard let own = NotificationChannel.server(node) else {
            preconditionFailure("a server cannot be called '\(node)'")
        }
        precondition(self.receive == nil, "a bus has one receiver")
        self.receive = receive
        await pool.listen(to: [.everybody, own], self)
        while !Task.isCancelled {
            // What comes of it the pool tells by itself.
            _ = try? await pool.run(.calls([Call(.probe)]), isWrite: false)
            try? await Task.sleep(for: Self.probeInterval)
        }
        await pool.listen(to: [], nil)
        listeningEnded()
        self.receive = nil
    }

    nonisolated func listeningBegan() {
        assumeIsolated { bus in
            bus.isListening = true
            bus.receive?(.connected)
        }
    }

    nonisolated func listeningEnded() {
        assumeIsolated { bus in
            bus.joiner.reset()
            guard bus.isListening else { return }
            bus.isListening = false
            bus.receive?(.disconnected)
        }
    }

    nonisolated func notified(_ payload: [UInt8], from sender: Int32) {
        assumeIsolated { bus in
            guard let message = bus.joiner.add(payload, from: sender) else { return }
            bus.receive?(.message(message))
        }
    }
}

extension Statement {
    /// Fits a session to a bus: what it sends need not outlive the server, so nobody waits for a disk.
    ///
    /// Its name lets operators tell it from the connections of the log.
    static let prepareBus = Statement(
        "prepare_bus",
        """
        SELECT set_config('synchronous_commit', 'off', false), set_config('application_name', 'backline bus', false)
        """)

    /// Sends notifications, in the order given.
    fileprivate static let notify = Statement(
        "notify", "SELECT count(pg_notify(channel, payload)) FROM unnest($1, $2) AS message (channel, payload)")

    /// Changes nothing and reads nothing.
    fileprivate static let probe = Statement("probe", "SELECT")
}
