import RoomDomain
import RoomReplica
import RoomWire
import Synchronization

/// The shell around ``RoomReplica/ClientMachine``: calls go in from any thread, and steps go out in their order.
///
/// The machine is behind a lock, so that a call takes effect at once wherever it is made. What it asks of the world
/// waits in one queue for ``run()``, and what it tells the app in another one for the main actor. Messages are parsed
/// and rooms are read before they reach either of them.
final class ClientEngine: Sendable {
    /// What waits for ``run()``.
    enum Work: Sendable {
        /// A step of the machine.
        case step(ClientStep)
        /// Load a room, and follow it.
        case follow(RoomWire.RoomReference)
        /// Everything before this is done.
        case barrier(Promise<Void>)
        /// The session is over.
        case end(ClientError)
    }

    /// The room objects and followers of a room.
    struct Holders: Sendable {
        var count = 0
        var room = WeakRoom()
        var followers: [Int: WeakFollower] = [:]
        /// The commands that the room object has been told of.
        var pending: [CommandNumber] = []
    }

    struct WeakRoom: Sendable {
        weak var room: Room?
    }

    struct WeakFollower: Sendable {
        weak var follower: RoomFollower?
    }

    struct State: Sendable {
        /// Nil until the store is loaded.
        var machine: ClientMachine?
        /// Calls from before.
        var early: [@Sendable (inout State, ClientMoment) -> [ClientStep]] = []
        var work: [Work] = []
        var deliveries: [Delivery] = []
        var holders: [RoomWire.RoomReference: Holders] = [:]
        var circles: [Int: WeakCircle] = [:]
        var promises: [CommandNumber: Promise<Receipt>] = [:]
        var tellings: [TellingNumber: Promise<Void>] = [:]
        var lastNumber = 0
        var isRunning = false
        var link = ClientLink()
    }

    /// The deliveries from which on nothing more is read from the server before the main actor has taken them.
    static let mostDeliveries = 1_024

    let server: ServerAddress
    let transport: any ClientTransport
    let store: any ClientStore
    let clock: any ClientClock
    let session: ClientSession
    let state = Mutex(State())
    /// Told when work waits.
    let work = Bell()
    /// Told when the main actor is to take deliveries.
    let deliveries = Bell()

    init(
        server: ServerAddress, credentials: Credentials, transport: any ClientTransport, store: any ClientStore,
        clock: any ClientClock
    ) {
        self.server = server
        self.transport = transport
        self.store = store
        self.clock = clock
        session = ClientSession(server: server, credentials: credentials, transport: transport, store: store)
    }

    /// The two clocks, and a random number.
    var moment: ClientMoment {
        ClientMoment(
            instant: instant, wall: Timestamp(milliseconds: clock.date), random: UInt64.random(in: 0 ... .max))
    }

    var instant: ClientInstant {
        let (seconds, attoseconds) = clock.uptime.components
        return ClientInstant(nanoseconds: seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
    }

    /// Gives something to the machine, now, or as soon as the store is loaded.
    func call(_ body: @escaping @Sendable (inout State, ClientMoment) -> [ClientStep]) {
        let now = moment
        let answers = state.withLock { state -> Answers in
            guard state.machine != nil else {
                state.early.append(body)
                return Answers()
            }
            let steps = body(&state, now)
            return settle(steps, &state)
        }
        tell(answers)
    }

    /// Gives an input to the machine, if there is one.
    func input(_ body: (inout ClientMachine, ClientMoment) -> [ClientStep]) {
        let now = moment
        let answers = state.withLock { state -> Answers in
            // Taken out, so that a change copies nothing.
            guard var machine = state.machine.take() else { return Answers() }
            let steps = body(&machine, now)
            state.machine = machine
            return settle(steps, &state)
        }
        tell(answers)
    }

    /// Begins with what was stored.
    func begin(with stored: StoredClient) {
        let now = moment
        let answers = state.withLock { state -> Answers in
            let outbox = stored.outbox.compactMap { OutboxCommand($0) }
            let last = CommandNumber(rawValue: stored.lastOrdinal)
            state.machine = ClientMachine(outbox: outbox, last: last, at: now)
            var answers = Answers()
            for call in state.early { answers += settle(call(&state, now), &state) }
            state.early = []
            return answers
        }
        tell(answers)
    }
}
