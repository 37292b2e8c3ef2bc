import RandomTestSupport
import RoomDomain
import RoomTestSupport
import RoomWire
import Testing

/// Random rooms whose clients come and go: whatever is lost, a client's fold equals the server's state.
@Suite struct ResumeTests {
    /// A room, its log as bytes, and its clients.
    private struct World {
        struct StoredEvent {
            var type: String
            var at: Int64
            var payload: [UInt8]
        }

        /// A client; without a session it only watches.
        struct Client {
            var session: SessionID
            var fold = ClientFold()
            var isConnected = false
        }

        let seed: UInt64
        var commands: RandomCommands
        var room = RoomState(id: Sample.room)
        var log: [StoredEvent] = []
        /// Events that no client has been sent yet.
        var pending: [RecordedEvent] = []
        /// Receives every event by itself, from the first; nil if no such client is needed.
        var observer: ClientFold?
        var clients: [Client]
        var resumptions = 0

        init(seed: UInt64, isObserved: Bool = false) throws {
            self.seed = seed
            self.observer = isObserved ? ClientFold() : nil
            self.commands = RandomCommands(
                random: SeededRandom(seed: seed), sessions: (1...8).map(Sample.session))
            self.clients = [1, 2, 3, 200].map { Client(session: Sample.session($0)) }
            let founding = RoomFounding(
                id: Sample.room, code: Sample.code, name: "Kitchen", location: Sample.point, visibility: .public,
                settings: SettingsUpdate(), founder: Sample.session(1), founderName: "Ana")
            try self.append(RoomState.found(founding), at: Sample.time(0))
        }

        mutating func append(_ events: [RoomEvent], at now: Timestamp) throws {
            for recorded in self.room.recorded(events, at: now) {
                self.room.evolve(recorded)
                self.log.append(
                    StoredEvent(
                        type: recorded.event.kind.rawValue, at: recorded.at.milliseconds,
                        payload: EventJSON.encodeLog(recorded.event)))
                self.pending.append(recorded)
                try self.observer?.receive(ServerMessage.delta(room: Sample.room, events: CollectionOfOne(recorded)))
                if let observer { try self.expectEqual(observer, "after \(recorded.event)") }
            }
        }

        /// Sends pending events to connected clients; one in four loses the connection before they arrive.
        mutating func flush() throws {
            guard !self.pending.isEmpty else { return }
            let delta = ServerMessage.delta(room: Sample.room, events: self.pending)
            self.pending = []
            for index in self.clients.indices where self.clients[index].isConnected {
                if self.commands.random.once(in: 4) {
                    self.clients[index].isConnected = false
                } else {
                    try self.clients[index].fold.receive(delta)
                    try self.expectEqual(self.clients[index].fold, "client \(index)")
                }
            }
        }

        /// Subscribes a client with its position, as soon as nothing is pending.
        mutating func connect(_ index: Int) throws {
            try self.flush()
            guard !self.clients[index].isConnected else { return }
            var client = self.clients[index]
            let position = #","position":{"epoch":"\#(client.fold.epoch)","seq":\#(client.fold.seq)}"#
            let text = #"{"type":"subscribe","id":1,"room":"\#(Sample.room)"\#(position)}"#
            guard case .subscribe(let id, _, let position?) = try ClientMessage.parse(Array(text.utf8)) else {
                throw MessageViolation(message: "not a subscription with a position: \(text)")
            }
            let you = YouJSON.encode(self.room, client.session)
            let presence = Presence(online: 1, members: nil)
            if position.epoch == "e1", !self.commands.random.once(in: 6) {
                try client.fold.receive(
                    ServerMessage.resumed(
                        re: id, room: Sample.room, epoch: "e1", seq: self.room.seq, keyed: 0, you: you,
                        presence: presence))
                var missed = try self.read(after: position.seq)[...]
                while !missed.isEmpty {
                    let part = missed.prefix(Int.random(in: 1...5, using: &self.commands.random))
                    try client.fold.receive(ServerMessage.delta(room: Sample.room, events: part))
                    missed = missed.dropFirst(part.count)
                }
                self.resumptions += 1
            } else {
                try client.fold.receive(
                    ServerMessage.snapshot(
                        re: id, room: Sample.room, epoch: "e1", seq: self.room.seq, keyed: 0,
                        time: self.room.lastEventAt,
                        state: StateJSON.encode(self.room), you: you, presence: presence))
            }
            client.isConnected = true
            try self.expectEqual(client.fold, "client \(index) come back")
            self.clients[index] = client
        }

        func read(after seq: Int) throws -> [RecordedEvent] {
            try self.log.indices.dropFirst(seq).map { index in
                let event = self.log[index]
                return try EventJSON.decodeLog(
                    type: event.type, seq: index + 1, at: event.at, payload: event.payload)
            }
        }

        /// Carries out one random command.
        mutating func step() throws {
            let actor = self.commands.actor(in: self.room)
            let command = self.commands.command(for: self.room)
            var now = self.room.lastEventAt
            now.milliseconds += Int64.random(in: -100...30_000, using: &self.commands.random)
            let online = Set(self.room.members.keys)
            guard let events = try? self.room.decide(command, by: actor, at: now, online: online) else { return }
            try self.append(events, at: now)
            guard case .member(let member) = self.room.result(of: command, by: actor, causing: events) else { return }
            guard case .session(let session, _) = actor else { return }
            try self.flush()
            for index in self.clients.indices
            where self.clients[index].session == session && self.clients[index].isConnected {
                self.clients[index].fold.joined(as: Int64(member.rawValue))
            }
        }

        func expectEqual(_ fold: ClientFold, _ comment: String) throws {
            let state = try JSONValue(parsing: StateJSON.encode(self.room))
            #expect(fold.seq == self.room.seq, "seed \(self.seed), \(comment)")
            #expect(fold.stateValue == state, "seed \(self.seed), \(comment)")
            #expect(fold.complaints.isEmpty, "seed \(self.seed), \(comment)")
        }

        func expectRoundTrip() throws {
            let bytes = StoredStateJSON.encode(self.room)
            let read = try StoredStateJSON.decode(bytes)
            #expect(read == self.room, "seed \(self.seed)")
            #expect(StoredStateJSON.encode(read) == bytes, "seed \(self.seed)")
            #expect(StateJSON.encode(read) == StateJSON.encode(self.room), "seed \(self.seed)")
        }
    }

    @Test(arguments: 0..<20) func `clients that drop at any delta and come back have the server's state`(block: UInt64)
        throws
    {
        var resumptions = 0
        for seed in TestSeed.fixed(block * 12..<block * 12 + 12) {
            print("random room with clients, seed \(seed)")
            var world = try World(seed: seed, isObserved: seed % 10 == 0)
            for _ in 0..<60 {
                try world.step()
                if world.commands.random.once(in: 2) { try world.flush() }
                if world.commands.random.once(in: 4) {
                    try world.connect(Int.random(in: 0..<world.clients.count, using: &world.commands.random))
                }
                if world.commands.random.once(in: 10) { try world.expectRoundTrip() }
            }
            for index in world.clients.indices { try world.connect(index) }
            var replayed = RoomState(id: Sample.room)
            for event in try world.read(after: 0) { replayed.evolve(event) }
            #expect(replayed == world.room, "seed \(seed)")
            resumptions += world.resumptions
        }
        #expect(resumptions > 20)
    }

    @Test func `a client's own membership follows from the events`() throws {
        for seed in TestSeed.fixed(1_000..<1_020) {
            var world = try World(seed: seed)
            for _ in 0..<100 {
                try world.step()
                try world.flush()
                for index in world.clients.indices {
                    try world.connect(index)
                    let you = try YouJSON.encode(world.room, world.clients[index].session).map {
                        try JSONValue(parsing: $0)
                    }
                    #expect(world.clients[index].fold.youValue == you, "seed \(seed), client \(index)")
                }
            }
        }
    }

    @Test func `the random rooms see every type of event`() throws {
        var types: Set<String> = []
        let all = Set(RoomEvent.Kind.allCases.map(\.rawValue))
        for seed in TestSeed.fixed(2_000..<3_000) where types.count < all.count {
            var world = try World(seed: seed)
            for _ in 0..<100 { try world.step() }
            types.formUnion(world.log.map(\.type))
        }
        #expect(types == all, "\(all.subtracting(types).sorted())")
    }
}
