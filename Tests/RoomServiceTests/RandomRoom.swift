import EventStorage
import RandomTestSupport
import RoomDomain
import RoomService
import RoomTestSupport
import RoomWire
import SimulatedTime
import Testing

/// A room in which people act at random, by a seed, while its clients lose their connections and come back.
struct RandomRoom {
    let seed: UInt64
    let nodes: [Node]
    let dice: Dice
    let room: RoomID
    let owner: Person
    let clients: [Client]
    private var commands: RandomCommands
    /// The log's state as far as it is known.
    private var state: RoomState

    private var store: FaultyEventStore { nodes[0].store }

    init(seed: UInt64, on nodes: [Node]) async throws {
        let dice = Dice(seed: seed)
        self.seed = seed
        self.nodes = nodes
        self.dice = dice
        (room, owner) = try await nodes[0].makeRoom()
        state = RoomState(id: room)
        let guests = (1...4).map { Person.guest($0) }
        commands = RandomCommands(
            random: SeededRandom(seed: seed), sessions: [owner.session] + guests.map(\.session))
        clients = [owner, guests[0], guests[1], .guest(50)].map { Client($0) }
        for client in clients { client.dropAtDelta { dice.once(in: 6) } }
    }

    /// The number of times that clients resumed.
    var resumptions: Int {
        clients.reduce(0) { $0 + $1.notes.count { if case .resumed = $0 { true } else { false } } }
    }

    /// A random node, for a client or a command.
    var someNode: Node { nodes[dice.number(in: 0..<nodes.count)] }

    /// The next random command, with its sender.
    mutating func nextCommand() throws -> (command: RoomCommand, actor: Actor) {
        while let event = store.event(state.seq + 1, of: room) { state.evolve(try FaultyEventStore.recorded(event)) }
        return (commands.command(for: state), commands.actor(in: state))
    }

    /// Lets some of the clients without a connection come back.
    func reconnect(onceIn times: Int) {
        for client in clients where !client.isConnected && dice.once(in: times) {
            client.connect(to: someNode, following: room)
        }
    }

    /// Drops every connection, and returns when the room is in no node's memory.
    func leaveMemory() async throws {
        for client in clients { client.drop() }
        let code = try store.room(room, at: 1).code
        try await eventually("the room's leaving, seed \(seed)") {
            nodes.allSatisfy { $0.host.registry.liveRoom(code: code) == nil }
        }
    }

    /// Expects that everybody has the fold of the log.
    ///
    /// It compares replays from the first event and from every snapshot, reads, and the clients after they came back.
    func expectAgreement() async throws {
        // The past is shown without what is to be forgotten, which is in the log until then.
        try await eventually("nothing left to take out of the log, seed \(seed)") {
            let forgotten = try await store.streamsToForget(limit: 1).isEmpty
            let cleared = try await store.streamsToClear(after: nil, limit: 1).isEmpty
            return forgotten && cleared
        }
        let folded = try store.room(room)
        let expected = try JSONValue(parsing: StateJSON.encode(folded))
        let events = try store.events(of: room)
        #expect(events.map(\.seq) == Array(1...events.count), "seed \(seed)")
        for snapshot in store.snapshots(of: room) {
            var state = try StoredStateJSON.decode(snapshot.state)
            for event in events.dropFirst(state.seq) { state.evolve(event) }
            #expect(state == folded, "seed \(seed), from the snapshot of \(snapshot.seq)")
        }
        // A person whom nobody has banned.
        let stranger = Person.guest(99).session
        for node in nodes {
            let live = try await node.host.registry.view(room, for: stranger)
            #expect(live.seq == folded.seq, "seed \(seed)")
            #expect(try JSONValue(parsing: live.state.json) == expected, "seed \(seed)")
            let seq = dice.number(in: 1..<folded.seq + 1)
            let past = try await node.host.history.view(room, at: seq, for: Asker(stranger, from: nil))
            #expect(try past.state.json == StateJSON.encode(store.room(room, at: seq)), "seed \(seed) at \(seq)")
        }
        for client in clients {
            client.dropAtDelta { false }
            let isBanned = folded.refusal(of: client.person.session, at: folded.lastEventAt) != nil
            try await eventually("\(client.person.name) has \(folded.seq), seed \(seed)") {
                // A lost connection is noticed: each is lost before the delta that it would have delivered.
                if !client.isConnected, !isBanned { client.connect(to: someNode, following: room) }
                return isBanned ? !client.isConnected : client.isFollowing && client.seq == folded.seq
            }
            if !isBanned { #expect(client.fold.stateValue == expected, "seed \(seed), \(client.person.name)") }
        }
        try await leaveMemory()
    }
}
