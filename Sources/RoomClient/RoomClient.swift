import RoomDomain
import RoomReplica
import RoomWire
import Synchronization

/// One person at one server: any number of rooms over one socket.
///
/// ``run()`` is the life of the connection. Rooms are objects for the main actor (``room(_:)``), or sequences of updates
/// for programs without one (``follow(_:)``). What a person does is shown at once, is sent under a key until it is
/// answered, and happens once.
public final class RoomClient: Sendable {
    let engine: ClientEngine

    /// A client, which does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - server: The server.
    ///   - credentials: Who the client is.
    ///   - transport: How it reaches the server.
    ///   - store: What it keeps over a restart of the program. It belongs to this session at this server alone.
    ///   - clock: The time; another one for tests.
    public init(
        _ server: ServerAddress, as credentials: Credentials, transport: any ClientTransport,
        store: any ClientStore = MemoryStore(), clock: any ClientClock = SystemClock()
    ) {
        engine = ClientEngine(
            server: server, credentials: credentials, transport: transport, store: store, clock: clock)
    }

    // MARK: The connection

    /// Connects, and stays connected until the task is cancelled; nothing connects without it.
    ///
    /// A lost connection is made again, after waits that grow from a quarter of a second to twenty seconds. Nothing that
    /// a network does ends it.
    ///
    /// - Throws: ``ClientError/Code/unauthorized`` when the session is over, ``ClientError/Code/store`` if what was kept
    ///   cannot be read, ``ClientError/Code/misuse`` if the client runs already.
    public func run() async throws(ClientError) { try await engine.run() }

    /// The app goes to the background: saves the rooms, closes the connection, and sets no timer until ``wake()``.
    public func suspend() async { await engine.suspend() }

    /// The app or the network is back: probes the socket, and connects at once where it does not answer in 3 s.
    public func wake() { engine.input { $0.wake(at: $1) } }

    /// The server's clock, and by how much this may be wrong: half of the best exchange's delay.
    ///
    /// Nil before the first exchanges. These are repeated every ten seconds while something plays in a room that somebody
    /// holds. Else the clocks may drift apart by about two seconds more before they are compared again.
    public var time: (now: ServerTime, error: Duration)? {
        engine.state.withLock { state in
            guard let machine = state.machine, let now = machine.time(at: engine.instant),
                let error = machine.timeErrorMs
            else { return nil }
            return (ServerTime(now), .seconds(error / 1_000))
        }
    }

    /// Why there is no connection: the newest failure; nil while there is one, and before the first attempt has ended.
    public var fault: ClientError? { engine.state.withLock { $0.link.fault } }

    /// The newest failure of the store; nil if there was none.
    ///
    /// What could not be kept lives as long as the program.
    public var storeFault: ClientError? { engine.state.withLock { $0.link.storeFault } }

    // MARK: Rooms

    /// Follows a room for as long as somebody holds the object.
    ///
    /// The same object is returned for the same reference while somebody holds it. It begins with what was kept on the
    /// device.
    @MainActor public func room(_ reference: RoomReference) -> Room { engine.room(reference.wire) }

    /// Follows a room without a main actor, for programs: what has changed, in order.
    public func follow(_ reference: RoomReference) -> RoomUpdates {
        RoomUpdates(follower: engine.follow(reference.wire))
    }

    /// A followed room as a value, as it is shown now; nil before it is known.
    ///
    /// O(members + tracks + queue).
    public func snapshot(of reference: RoomReference) -> RoomSnapshot? {
        // Held as briefly as possible: while it is, a change of the room copies what it touches.
        engine.state.withLock { $0.machine?.room(reference.wire).flatMap { RoomSnapshot($0) } }
    }

    /// Gives a room a command, as ``Room/send(_:key:)`` does.
    ///
    /// The room need not be followed.
    @discardableResult public func send(
        _ command: Command, to reference: RoomReference, key: CommandKey = .random()
    ) async throws(ClientError) -> Receipt {
        try await engine.post(command, to: reference.wire, key: key, isKept: false).value()
    }

    /// Gives a room a command that is kept until it is answered, as ``Room/post(_:key:)`` does.
    @discardableResult public func post(
        _ command: Command, to reference: RoomReference, key: CommandKey = .random()
    ) -> PendingCommand {
        let promise = engine.post(command, to: reference.wire, key: key, isKept: true)
        return PendingCommand(id: key, command: command, isKept: true, promise: promise)
    }

    /// Watches the rooms in a circle for as long as somebody holds the object.
    @MainActor public func nearby(_ circle: Circle) -> NearbyRooms { engine.watch(circle) }

    /// The rooms that somebody holds, and those that commands wait for.
    package var roomsHeld: Int { engine.state.withLock { $0.holders.count + ($0.machine?.rooms.count ?? 0) } }
}
