import RoomClient
import RoomClientNIO
import Synchronization

/// One session at one server, for as long as a command runs.
struct TerminalSession: Sendable {
    let server: ServerAddress
    let client: RoomClient
    let transport: any ClientTransport
    let faults: FaultReports
    let folder: ConfigurationFolder
    /// Nil where the environment has named the session: nothing is remembered of it then.
    let remembers: Bool

    /// The key of the server among what is remembered.
    var key: String { server.description }

    /// Runs the client beside `body`; ends with the first failure to reach the server, and where it is silent for long.
    func connected<Value: Sendable>(
        _ body: @escaping @Sendable (Patience) async throws -> Value
    ) async throws -> Value {
        let patience = Patience()
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                try await client.run()
                return nil
            }
            group.addTask { try await firstFault() }
            group.addTask {
                try await patience.lost()
                throw TerminalFailure.unavailable("\(server.authority) does not answer: try again in a moment")
            }
            group.addTask { try await body(patience) }
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
            return try await connected { _ in try await follow(room, body) }
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

    /// The server's time; the device's before the server has told its own.
    var now: ServerTime { client.time?.now ?? TimeOfDay.now }

    /// Remembers the server, and a room if one was used.
    func remember(_ room: Configuration.Room? = nil) throws(TerminalFailure) {
        guard remembers else { return }
        try folder.update { configuration in
            configuration.server = key
            if let room { configuration.use(room, at: key) }
        }
    }
}

/// How long a command waits for a server that says nothing.
final class Patience: Sendable {
    static let time = Duration.seconds(20)

    private let began = Mutex(ContinuousClock.now)

    /// The server has answered, and the next answer is waited for.
    func beginAnew() { began.withLock { $0 = .now } }

    /// Returns when the time is over.
    func lost() async throws {
        while true {
            let end = began.withLock { $0 } + Self.time
            guard end > .now else { return }
            try await Task.sleep(until: end, clock: .continuous)
        }
    }
}
