import RoomClient
import RoomClientNIO

/// One session at one server, for as long as a command runs.
struct TerminalSession: Sendable {
    /// The time after which a command gives up.
    static let patience = Duration.seconds(20)

    let server: ServerAddress
    let client: RoomClient
    let transport: any ClientTransport
    let faults: FaultReports
    let folder: ConfigurationFolder
    /// Nil where the environment has named the session: nothing is remembered of it then.
    let remembers: Bool

    /// The key of the server among what is remembered.
    var key: String { server.description }

    /// Runs the client beside `body`; ends with the first failure to reach the server.
    func connected<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                try await client.run()
                return nil
            }
            group.addTask { try await firstFault() }
            group.addTask {
                try await Task.sleep(for: Self.patience)
                throw TerminalFailure.unavailable("\(server.authority) does not answer: try again in a moment")
            }
            group.addTask { try await body() }
            defer { group.cancelAll() }
            while let value = try await group.next() {
                if let value { return value }
            }
            throw TerminalFailure.unavailable("the connection to \(server.authority) has ended")
        }
    }

    private func firstFault<Value>() async throws -> Value? {
        for await fault in faults.stream {
            // These are told by the client: no such room, banned, the session is over.
            if let status = fault.response?.status, [401, 403, 404].contains(status) { continue }
            let cause = ClientError(.unavailable, reason(of: fault), cause: fault)
            throw TerminalFailure(cause)
        }
        return nil
    }

    private func reason(of fault: TransportFault) -> String {
        guard let status = fault.response?.status else { return fault.reason }
        return status == 429 ? "the server asks to wait a little" : "the server answered with status \(status)"
    }

    /// Looks at a room, which is followed until `body` has returned.
    func look<Value: Sendable>(
        at room: RoomReference, _ body: @escaping @Sendable (RoomSnapshot) async throws -> Value
    ) async throws -> Value {
        do {
            return try await connected { try await follow(room, body) }
        } catch let error as ClientError {
            throw TerminalFailure(error, room: room.description)
        }
    }

    private func follow<Value>(
        _ room: RoomReference, _ body: (RoomSnapshot) async throws -> Value
    ) async throws -> Value {
        for try await update in client.follow(room) {
            switch update {
            case .reset, .changed: if let snapshot = client.snapshot(of: room) { return try await body(snapshot) }
            case .offline: continue
            case .ended(let error): throw error
            }
        }
        throw CancellationError()
    }

    /// Remembers the server, and a room if one was used.
    func remember(_ room: Configuration.Room? = nil) throws(TerminalFailure) {
        guard remembers else { return }
        try folder.update { configuration in
            configuration.server = key
            if let room { configuration.use(room, at: key) }
        }
    }
}
