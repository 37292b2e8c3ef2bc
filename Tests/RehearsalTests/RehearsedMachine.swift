import GeoSearch
import Rehearsal
import RoomDomain
import RoomReplica
import RoomWire

/// A program under test whose client is ``ClientMachine``, joined to a player in memory, on a clock of its own.
struct RehearsedMachine {
    /// Which of the two ways of following a room the machine takes.
    enum Way: CaseIterable, Sendable {
        /// It connects first, and subscribes to the room.
        case subscribes
        /// It opens the room's own socket.
        case opensTheRoom
    }

    static let can = [
        "again", "cancel", "claim", "commands", "deck", "expiry", "keyed", "nearby", "overlay", "presence",
        "react", "resume", "several", "clock-sync", "shown", "signal", "wake",
    ]

    private var player: Player
    private var machine = ClientMachine(at: ClientMoment(0))
    /// Whether the machine is sent the beginnings of each message, too, as messages.
    private let sendsBeginnings: Bool
    private var messages = 0
    private let way: Way
    private var hasStarted = false
    private var now: Int64 = 0
    private var random: UInt64 = 1
    private var attempt = 0
    /// The connection that is open or being made; none of the player's was closed before.
    private var open: Int?
    private var muted = false
    private var events: [(at: Int64, order: Int, event: Event)] = []
    private var order = 0
    private var playerWake: Int64?
    private var machineWake: Int64?
    private var program = ProgramState()

    private enum Event {
        case connect(attempt: Int, SocketPath)
        case toPlayer(attempt: Int, [UInt8])
        case closedByClient(attempt: Int, UInt16)
        case answer([UInt8])
    }

    init(_ conversation: Conversation, way: Way, sendsBeginnings: Bool = false) {
        player = Player(conversation, address: "http://127.0.0.1:0", token: "bls_token")
        self.sendsBeginnings = sendsBeginnings
        self.way = way
    }

    /// Plays the conversation to its end.
    mutating func run() throws -> (result: PlayerResult, transcript: [String]) {
        try take(player.started(at: now))
        // Far more than any conversation needs.
        for _ in 0..<100_000 {
            if let result = player.result { return (result, player.transcript) }
            let due = [events.map(\.at).min(), playerWake, machineWake].compactMap { $0 }.min()
            guard let due else { return (.failed("nothing happens any more"), player.transcript) }
            now = max(now, due)
            if let first = events.filter({ $0.at <= now }).min(by: { ($0.at, $0.order) < ($1.at, $1.order) }) {
                events.removeAll { $0.order == first.order }
                try happen(first.event)
            } else if let wake = machineWake, wake <= now {
                machineWake = nil
                try perform(machine.woken(at: moment))
            } else if let wake = playerWake, wake <= now {
                playerWake = nil
                try take(player.woken(at: now))
            }
        }
        return (.failed("it never ends"), player.transcript)
    }

    private var moment: ClientMoment { ClientMoment(now, random: random) }

    private mutating func later(_ event: Event, after ms: Int64 = 1) {
        order += 1
        events.append((now + ms, order, event))
    }

    private mutating func happen(_ event: Event) throws {
        switch event {
        case .connect(let attempt, let path):
            guard attempt == self.attempt else { return }
            try take(player.opening(attempt, path: path.text, token: "bls_token", at: now))
        case .toPlayer(let attempt, let bytes): try take(player.received(bytes, on: attempt, at: now))
        case .closedByClient(let attempt, let code): try take(player.closed(attempt, code: code, at: now))
        case .answer(let line): try take(player.answered(line, at: now))
        }
    }

    // MARK: The machine's steps

    private mutating func perform(_ steps: [ClientStep]) throws {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        for step in steps {
            switch step {
            case .connect(let attempt, let wait, let path):
                if open == nil, self.attempt > 0 { later(.closedByClient(attempt: self.attempt, 1_006), after: 0) }
                self.attempt = attempt
                later(.connect(attempt: attempt, path), after: max(1, wait))
            case .close(let attempt, let code):
                if open == attempt { open = nil }
                later(.closedByClient(attempt: attempt, code))
            case .send(let bytes): if let open { later(.toPlayer(attempt: open, bytes)) }
            case .wake(let at): machineWake = at.map { ($0.nanoseconds + 999_999) / 1_000_000 }
            case .answered, .reaction, .signal, .told, .nearby, .nearbyEnded, .ended: program.take(step)
            case .changed, .phase, .keep, .deckEnded, .deckAnswered: break
            }
        }
    }

    // MARK: The player's steps

    private mutating func take(_ steps: [PlayerStep]) throws {
        for step in steps {
            switch step {
            case .accept(let connection):
                guard connection == attempt else { continue }
                open = connection
                muted = false
                try perform(machine.opened(connection, at: moment))
            case .refuse(let connection, _, let body):
                let problem = try JSONValue(parsing: body).object
                try perform(
                    machine.failed(
                        connection,
                        Refusal(
                            ErrorName(problem?["code"]?.string.flatMap { ErrorCode(rawValue: $0) } ?? .internal),
                            retryAfterMs: problem?["retryAfterMs"]?.integer.map { Int($0) }), at: moment))
            case .send(let connection, let bytes):
                guard connection == open, !muted else { continue }
                if sendsBeginnings {
                    // All of a short message, and a hundred of a long one: others each time.
                    let step = max(1, bytes.count / 100)
                    messages += 1
                    for end in stride(from: messages % step, to: bytes.count, by: step) {
                        try perform(machine.received(Array(bytes[..<end]), on: connection, at: moment))
                    }
                }
                try perform(machine.received(bytes, on: connection, at: moment))
            case .close(let connection, let code): try lose(connection, code)
            case .drop(let connection): try lose(connection, nil)
            case .mute: muted = true
            case .respond: break
            case .tell(let line): try answer(line)
            case .wake(let at): playerWake = at
            case .finished: break
            }
        }
    }

    private mutating func lose(_ connection: Int, _ code: UInt16?) throws {
        guard connection == open else { return }
        open = nil
        try perform(machine.closed(connection, code: code, at: moment))
    }

    // MARK: The program

    private mutating func answer(_ line: [UInt8]) throws {
        let request = try JSONValue(parsing: line, maximumDepth: 64).object
        if request?["start"] != nil {
            if way == .subscribes { try start() }
            let can = JSONValue.array(Self.can.map { .string($0) })
            reply(JSONObject([.init(name: "can", value: can)]))
        } else if let room = request?["state"]?.string {
            let state = RoomReference(room).flatMap { machine.room(followed($0)) }
            let told = try program.state(
                of: state, time: machine.timeErrorMs.flatMap { _ in machine.time(at: moment.instant) })
            reply(JSONObject([.init(name: "state", value: told)]))
        } else if let action = request?["do"]?.object {
            try act(action)
        }
    }

    private mutating func reply(_ object: JSONObject) {
        var writer = JSONWriter()
        writer.value(.object(object))
        later(.answer(writer.bytes))
    }

    private var serverTime: Timestamp { machine.time(at: moment.instant) ?? Timestamp(milliseconds: 0) }

    private mutating func start() throws {
        guard !hasStarted else { return }
        hasStarted = true
        try perform(machine.start(at: moment))
    }

    /// The room, as it is followed: by its id or its code.
    private func followed(_ room: RoomReference) -> RoomReference {
        guard case .id(let id) = room else { return room }
        return program.references.first { machine.room($0)?.id == id } ?? room
    }

    private mutating func act(_ action: JSONObject) throws {
        let name = action["as"]?.string ?? ""
        let room = followed(action["room"]?.string.flatMap { RoomReference($0) } ?? .code(.zero))
        let number = action["to"]?.integer ?? 0
        var done = JSONObject([.init(name: "done", value: .bool(true))])
        switch action["type"]?.string {
        case "follow":
            program.references.append(room)
            try perform(machine.follow(room, at: moment))
        case "unfollow": try perform(machine.unfollow(room, at: moment))
        case "wake": try perform(machine.wake(at: moment))
        case "command":
            let command = try CommandJSON.parse(action["command"] ?? .null)
            let posted = machine.post(
                command, to: room, key: "key-\(program.newKey())", isKept: false, at: moment)
            program.commands[posted.number] = name
            try perform(posted.steps)
        case "takeDeck": program.deck = machine.room(room)?.replica.map { MachineDeck($0, at: serverTime) }
        case "deck":
            let (command, now) = (try CommandJSON.parse(action["command"] ?? .null), serverTime)
            program.deck?.act(command, at: now)
            guard let deck = program.deck?.command else { throw UnknownAction(type: "no deck") }
            try perform(machine.lead(.syncDeck(deck), in: room, key: "key-\(program.newKey())", at: moment))
        case "react": try perform(machine.react(action["emoji"]?.string ?? "", in: room, at: moment))
        case "signal":
            var writer = JSONWriter()
            writer.value(action["data"] ?? .null)
            guard let data = RelayedJSON(writer.bytes) else { throw UnknownAction(type: "no data") }
            let told = machine.signal(data, to: MemberID(rawValue: Int(number)), in: room, at: moment)
            program.tellings[told.number] = name
            try perform(told.steps)
        case "claim":
            let told = machine.claimDeck(action["on"]?.bool ?? false, in: room, at: moment)
            program.tellings[told.number] = name
            try perform(told.steps)
        case "nearby":
            guard let lat = action["lat"]?.number, let lon = action["lon"]?.number,
                let origin = Coordinate(latitude: lat, longitude: lon)
            else { throw UnknownAction(type: "no point") }
            let query = NearbyQuery(origin: origin, radiusMeters: action["radiusMeters"]?.number ?? 5_000)
            try perform(machine.watch(program.circle(name), query, at: moment))
        case let type:
            done = JSONObject([.init(name: "cannot", value: .string(type ?? "nothing"))])
        }
        try start()
        reply(done)
    }
}

struct UnknownAction: Error {
    let type: String
}

extension ClientMoment {
    init(_ milliseconds: Int64, random: UInt64 = 0) {
        self.init(
            instant: ClientInstant(nanoseconds: milliseconds * 1_000_000),
            wall: Timestamp(milliseconds: milliseconds + 3_600_000), random: random)
    }
}

extension SocketPath {
    var text: String {
        switch self {
        case .any: "/v1/socket"
        case .room(let room, nil): "/v1/rooms/\(room.text)/socket"
        case .room(let room, let position?): "/v1/rooms/\(room.text)/socket?epoch=\(position.epoch)&seq=\(position.seq)"
        }
    }
}
