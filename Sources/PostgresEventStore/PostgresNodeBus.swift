package import EventStorage

/// The bus between servers over PostgreSQL's LISTEN and NOTIFY, on one connection and one thread of its own.
///
/// A NOTIFY takes a lock that all committing NOTIFYs of a cluster share: it is never in a transaction that writes
/// anything else, and notifications that are sent together share a transaction. Poolers such as `PgBouncer` must not
/// stand between: LISTEN belongs to the session.
package actor PostgresNodeBus: NodeBus, NotificationListener {
    private nonisolated let pool: PostgresPool
    private var receive: (@Sendable (NodeBusEvent) -> Void)?
    private var isListening = false
    private var joiner = NotificationJoiner()
    /// A random start distinguishes two senders that have the same number one after the other.
    private var lastNumber = UInt32.random(in: .min ... .max)
    private var waitingBytes = 0

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The bus retains the pool, which retains its executor.
        unsafe pool.executor.asUnownedSerialExecutor()
    }

    /// The most bytes of messages that may wait to be sent; more are refused.
    private static let waitingLimit = 16 * 1_024 * 1_024
    /// The interval of probes, which detect a connection that is cut off.
    private static let probeInterval = Duration.seconds(2)

    /// Makes a bus that connects when it is run or asked to send.
    ///
    /// Throws ``StorageFault/exhausted(_:)`` if the process can have no more descriptors or threads.
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

    /// Receives messages to all servers and to `node`, until the task is cancelled.
    ///
    /// - Precondition: `node` has 1 to 48 characters of `a`…`z`, `0`…`9`, `-` and `_`, and this bus has no other
    ///   receiver.
    package func run(as node: String, _ receive: @escaping @Sendable (NodeBusEvent) -> Void) async {
        guard let own = NotificationChannel.server(node) else {
            preconditionFailure("a server cannot be called '\(node)'")
        }
        precondition(self.receive == nil, "a bus has one receiver")
        self.receive = receive
        await pool.listen(to: [.everybody, own], self)
        while !Task.isCancelled {
            // The pool itself reports the outcome.
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
    /// Applies the session's settings for a bus: messages need not survive a crash, so commits do not wait for the
    /// disk.
    ///
    /// The application name distinguishes the bus from the connections of the log.
    static let prepareBus = Statement(
        "prepare_bus",
        """
        SELECT set_config('synchronous_commit', 'off', false), set_config('application_name', 'backline bus', false)
        """)

    /// Sends notifications, in the order given.
    fileprivate static let notify = Statement(
        "notify", "SELECT count(pg_notify(channel, payload)) FROM unnest($1, $2) AS message (channel, payload)")

    /// Changes nothing and reads nothing.
    static let probe = Statement("probe", "SELECT")
}
