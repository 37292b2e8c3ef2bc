import FoundationEssentials
import RoomClient
import RoomDomain
import RoomWire
import Synchronization

/// A server in memory with one room, which decides and folds as a real one does; the test is the network.
final class PocketServer: ClientTransport {
    struct State: Sendable {
        var room: RoomState
        var log: [RecordedEvent] = []
        var keyed = 0
        /// What was answered under each key.
        var answers: [String: (seq: Int, keyed: Int, result: CommandResult?)] = [:]
        var sockets: [PocketSocket] = []
        var isReachable = true
        var connects = 0
        private let start = ContinuousClock.now
        /// The time in milliseconds.
        var now: Int64 { 1_000_000_000 + Int64(start.duration(to: .now) / .milliseconds(1)) }
        /// By how many milliseconds the time that it tells is behind: as on a slow line, nobody knows it better.
        var lag: Int64 = 0
        var isMute = false
        var epoch = "e1"
        /// The targets of all handshakes.
        var targets: [String] = []

        /// What a command causes while all members are online.
        func decide(_ command: RoomCommand, by actor: Actor) throws(RoomRefusal) -> [RoomEvent] {
            try room.decide(
                command, by: actor, at: Timestamp(milliseconds: now), online: Set(room.members.keys))
        }
    }

    let id = RoomDomain.RoomID(UUID())
    let ana = SessionID(UUID())
    let state: Mutex<State>

    init() {
        state = Mutex(State(room: RoomState(id: id)))
        apply([
            .roomCreated(
                RoomCreated(
                    id: id, code: .zero, name: "Kitchen", location: nil, visibility: .public,
                    settings: RoomDomain.RoomSettings())),
            .memberJoined(member: RoomDomain.MemberID(rawValue: 1), name: "Ana", role: .owner, session: ana),
        ])
    }

    var reference: RoomClient::RoomReference {
        guard let reference = RoomClient::RoomReference(id.description) else { fatalError("an id names a room") }
        return reference
    }
    var owner: Actor { .session(ana, name: "Ana") }
    var seq: Int { state.withLock { $0.room.seq } }
    var openSockets: Int { state.withLock { state in state.sockets.count { $0.isOpen } } }
    var connects: Int { state.withLock { $0.connects } }

    // MARK: The room

    func apply(_ events: [RoomEvent]) {
        state.withLock { record(events, &$0) }
    }

    /// Somebody gives a command; its refusal is ignored.
    @discardableResult func perform(_ command: RoomCommand, by actor: Actor? = nil) -> CommandResult? {
        state.withLock { state -> CommandResult? in
            let actor = actor ?? owner
            guard let events = try? state.decide(command, by: actor) else { return nil }
            record(events, &state)
            return state.room.result(of: command, by: actor, causing: events)
        }
    }

    private func record(_ events: [RoomEvent], _ state: inout State) {
        guard !events.isEmpty else { return }
        var recorded: [RecordedEvent] = []
        for event in events {
            let next = RecordedEvent(seq: state.room.seq + 1, at: Timestamp(milliseconds: state.now), event: event)
            state.room.evolve(next)
            recorded.append(next)
        }
        state.log += recorded
        for socket in state.sockets where socket.isFollowing && !state.isMute {
            socket.push(ServerMessage.delta(room: id, events: recorded))
        }
    }

    // MARK: The network

    func setReachable(_ isReachable: Bool) {
        let lost = state.withLock { state in
            state.isReachable = isReachable
            defer { if !isReachable { state.sockets = [] } }
            return isReachable ? [] : state.sockets
        }
        for socket in lost { socket.end(nil) }
    }

    /// Loses every connection; new ones can be made.
    func drop(_ code: UInt16? = nil) {
        let lost = state.withLock { state in
            defer { state.sockets = [] }
            return state.sockets
        }
        for socket in lost { socket.end(code) }
    }

    func broadcast(_ message: [UInt8]) {
        for socket in state.withLock({ $0.sockets }) where socket.isOpen { socket.push(message) }
    }

    func send(_ request: ClientRequest) async throws(TransportFault) -> ClientResponse {
        guard state.withLock({ $0.isReachable }) else { throw TransportFault("there is no network") }
        if request.target == "/v1/sessions" {
            let session = HTTPBody.SessionAnswer(
                id: ana, name: "Ana", createdAt: Timestamp(milliseconds: 1), expiresAt: Timestamp(milliseconds: 2),
                token: "bls_ana")
            return ClientResponse(status: 201, body: session.encoded())
        }
        return ClientResponse(status: 404, body: HTTPBody.problem(code: .notFound, detail: "there is no such path"))
    }

    func connect(_ request: ClientRequest) async throws(TransportFault) -> any ClientSocket {
        let socket = PocketSocket(self)
        let isOpen = state.withLock { state in
            guard state.isReachable else { return false }
            state.connects += 1
            state.sockets.append(socket)
            state.targets.append(request.target)
            let welcome = ServerMessage.welcome(
                sessionID: ana, name: "Ana", version: "1", node: "n", beatMs: 25_000,
                time: Timestamp(milliseconds: state.now - state.lag))
            socket.push(welcome)
            guard request.target.contains("/rooms/") else { return true }
            let query = request.target.split(separator: "?").dropFirst().first ?? ""
            let fields = Dictionary(
                query.split(separator: "&").map { part in
                    let pair = part.split(separator: "=")
                    return (String(pair[0]), String(pair[1]))
                }, uniquingKeysWith: { first, _ in first })
            let position = fields["epoch"].map { RoomWire::Position(epoch: $0, seq: Int(fields["seq"] ?? "") ?? 0) }
            subscribe(socket, re: nil, position, &state)
            return true
        }
        guard isOpen else { throw TransportFault("there is no network") }
        return socket
    }

    private func subscribe(_ socket: PocketSocket, re: Int64?, _ position: RoomWire::Position?, _ state: inout State) {
        socket.isFollowing = true
        let you = YouJSON.encode(state.room, ana)
        let presence = Presence(online: 1, members: [RoomDomain.MemberID(rawValue: 1)])
        if let position, position.epoch == state.epoch, position.seq <= state.room.seq {
            socket.push(
                ServerMessage.resumed(
                    re: re, room: id, epoch: state.epoch, seq: state.room.seq, keyed: state.keyed, you: you,
                    presence: presence))
            let missed = state.log.filter { $0.seq > position.seq }
            if !missed.isEmpty { socket.push(ServerMessage.delta(room: id, events: missed)) }
        } else {
            socket.push(
                ServerMessage.snapshot(
                    re: re, room: id, epoch: state.epoch, seq: state.room.seq, keyed: state.keyed,
                    time: Timestamp(milliseconds: state.now), state: StateJSON.encode(state.room), you: you,
                    presence: presence))
        }
    }

    func received(_ text: [UInt8], from socket: PocketSocket) {
        guard let message = try? ClientMessage.parse(text) else { return }
        state.withLock { state in
            guard !state.isMute else { return }
            switch message {
            case .subscribe(let id, _, let position): subscribe(socket, re: id, position, &state)
            case .unsubscribe: socket.isFollowing = false
            case .time(let id, let t1):
                let time = Double(state.now - state.lag)
                socket.push(ServerMessage.time(re: id, t1: t1, t2: time, t3: time))
            case .command(let id, _, let key, let command, _): carryOut(command, key, id, socket, &state)
            case .react, .signal, .deck, .nearby, .nearbyStop, .statistics, .statisticsStop, .trending, .trendingStop:
                break
            }
        }
    }

    private func carryOut(
        _ command: RoomCommand, _ key: String?, _ id: Int64?, _ socket: PocketSocket, _ state: inout State
    ) {
        if let key, let known = state.answers[key] {
            return socket.push(ServerMessage.ack(re: id, seq: known.seq, keyed: known.keyed, result: known.result))
        }
        do throws(RoomRefusal) {
            let events = try state.decide(command, by: owner)
            record(events, &state)
            state.keyed += 1
            let result = state.room.result(of: command, by: owner, causing: events)
            if let key { state.answers[key] = (state.room.seq, state.keyed, result) }
            socket.push(ServerMessage.ack(re: id, seq: state.room.seq, keyed: state.keyed, result: result))
        } catch {
            socket.push(ServerMessage.error(re: id, code: ErrorCode(error), message: error.detail))
        }
    }
}

/// The client's end of a connection to a ``PocketServer``.
final class PocketSocket: ClientSocket {
    private struct State {
        var waiting: [[UInt8]] = []
        var isOpen = true
        var code: UInt16?
        var isFollowing = false
        var reader: CheckedContinuation<[UInt8]?, Never>?
    }

    private let state = Mutex(State())
    private let server: PocketServer

    init(_ server: PocketServer) { self.server = server }

    var isOpen: Bool { state.withLock { $0.isOpen } }
    /// The number of messages that the client has not read.
    var waiting: Int { state.withLock { $0.waiting.count } }
    var isFollowing: Bool {
        get { state.withLock { $0.isFollowing && $0.isOpen } }
        set { state.withLock { $0.isFollowing = newValue } }
    }
    var closing: UInt16? { state.withLock { $0.code } }

    func push(_ message: [UInt8]) {
        let reader = state.withLock { state -> CheckedContinuation<[UInt8]?, Never>? in
            guard state.isOpen else { return nil }
            if let reader = state.reader.take() { return reader }
            state.waiting.append(message)
            return nil
        }
        reader?.resume(returning: message)
    }

    func end(_ code: UInt16?) {
        let reader = state.withLock { state in
            state.isOpen = false
            state.code = code
            return state.reader.take()
        }
        reader?.resume(returning: nil)
    }

    func receive() async throws(TransportFault) -> [UInt8]? {
        await withCheckedContinuation { continuation in
            let next = state.withLock { state -> [UInt8]?? in
                if !state.waiting.isEmpty { return state.waiting.removeFirst() }
                if !state.isOpen { return .some(nil) }
                state.reader = continuation
                return nil
            }
            if let next { continuation.resume(returning: next) }
        }
    }

    func send(_ text: [UInt8]) async throws(TransportFault) {
        guard isOpen else { throw TransportFault("the socket is closed") }
        server.received(text, from: self)
    }

    func close(_ code: UInt16) async { end(nil) }
}
