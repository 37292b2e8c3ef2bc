import EventStorage
import FoundationEssentials
import RoomDomain
import RoomWire
import Testing
import WebSocketCodec

@testable import PushServer
@testable import RoomService

/// The opening of a connection, as inputs and steps.
@Suite struct SocketGateTests {
    /// A state of the gate, as a test reaches it.
    private enum Stage: CaseIterable {
        case reading, counting, authenticating, authenticatingWithoutRoom, authenticatingForNoRoom, finding, asking
        case reserving, reservingWithoutRoom, refused, servedAsHTTP, opened, closed, ended
    }

    /// An input of the gate.
    private enum Input: CaseIterable {
        case handshake, handshakeByHEAD, handshakeOverLimit, request, requestOverLimit, violation
        case counted, uncounted, tooManyConnections
        case session, noSession, room, noRoom, entered, banned, reserved, notReserved
        case fewBytes, manyBytes, deadline, drain
    }

    private static let rules = SocketGate.Rules(origins: OriginRule(allowed: [], isSecure: true), earlyBytes: 100)
    private static let session = Session(
        SessionRecord(id: UUID(), tokenHash: [], name: "Ana", createdAt: 0, expiresAt: 1))
    private static let room = RoomID(UUID())
    private static let reference = RoomReference.id(room)
    private static let path = "/v1/rooms/\(room)/socket?epoch=e&seq=7"

    private static func violates(_ violation: HandshakeViolation, isHead: Bool = false) -> SocketGate.Step {
        .refuse(.violation(violation), isHead: isHead)
    }

    private static func fails(_ code: ErrorCode) -> SocketGate.Step {
        .refuse(.failure(CommandFailure(code)), isHead: false)
    }

    /// A gate in a state.
    private static func gate(_ stage: Stage) throws -> SocketGate {
        var gate = SocketGate(rules)
        func take(_ inputs: Input...) throws {
            for input in inputs { _ = try Self.take(input, &gate) }
        }
        switch stage {
        case .reading: break
        case .counting: try take(.handshake)
        case .authenticating: try take(.handshake, .counted)
        case .authenticatingWithoutRoom:
            _ = gate.headCame(try .handshake("/v1/socket"), isOverLimit: false)
            try take(.counted)
        case .authenticatingForNoRoom:
            _ = gate.headCame(try .handshake("/v1/rooms/nothing/socket"), isOverLimit: false)
            try take(.counted)
        case .finding: try take(.handshake, .counted, .session)
        case .asking: try take(.handshake, .counted, .session, .room)
        case .reserving: try take(.handshake, .counted, .session, .room, .entered)
        case .reservingWithoutRoom:
            gate = try Self.gate(.authenticatingWithoutRoom)
            try take(.session)
        case .refused: try take(.violation)
        case .servedAsHTTP: try take(.request)
        case .opened: try take(.handshake, .counted, .session, .room, .entered, .reserved)
        case .closed: try take(.deadline)
        case .ended: gate.ended()
        }
        return gate
    }

    private static func take(_ input: Input, _ gate: inout SocketGate) throws -> SocketGate.Step {
        switch input {
        case .handshake: gate.headCame(try .handshake(path), isOverLimit: false)
        case .handshakeByHEAD: gate.headCame(try .handshake(path, method: "HEAD"), isOverLimit: false)
        case .handshakeOverLimit: gate.headCame(try .handshake(path), isOverLimit: true)
        case .request: gate.headCame(try .parsed("GET /healthz HTTP/1.1\r\n\r\n"), isOverLimit: false)
        case .requestOverLimit: gate.headCame(try .parsed("GET /healthz HTTP/1.1\r\n\r\n"), isOverLimit: true)
        case .violation: gate.violated(.malformedField)
        case .counted: gate.counted(nil)
        case .uncounted: gate.counted(.failure(CommandFailure(.rateLimited)))
        case .tooManyConnections: gate.counted(.tooManyConnections)
        case .session: gate.authenticated(.success(session))
        case .noSession: gate.authenticated(.failure(CommandFailure(.unauthorized)))
        case .room: gate.found(.success(room))
        case .noRoom: gate.found(.failure(CommandFailure(.notFound)))
        case .entered: gate.asked(.success(()))
        case .banned: gate.asked(.failure(CommandFailure(.banned)))
        case .reserved: gate.reserved(.success(()))
        case .notReserved: gate.reserved(.failure(CommandFailure(.rateLimited)))
        case .fewBytes: gate.bytesCame(waiting: 100)
        case .manyBytes: gate.bytesCame(waiting: 101)
        case .deadline: gate.deadlineReached()
        case .drain: gate.drain()
        }
    }

    /// The steps of all inputs that have any in a state.
    private static func steps(in stage: Stage) throws -> [Input: SocketGate.Step] {
        let impatient: [Input: SocketGate.Step] = [.manyBytes: .close, .deadline: .close]
        let own: [Input: SocketGate.Step]
        switch stage {
        case .reading:
            return [
                .handshake: .count(forwardedFor: []), .handshakeByHEAD: violates(.methodNotAllowed, isHead: true),
                .handshakeOverLimit: .refuse(.tooManyConnections, isHead: false), .request: .serveHTTP,
                .requestOverLimit: .refuse(.tooManyConnections, isHead: false), .violation: violates(.malformedField),
                .deadline: .close, .drain: .close,
            ]
        case .counting:
            own = [
                .counted: .authenticate(authorization: "Bearer x", cookies: ["a=b", "c=d"]),
                .uncounted: fails(.rateLimited), .tooManyConnections: .refuse(.tooManyConnections, isHead: false),
            ]
        case .authenticating: own = [.session: .find(reference, for: session.id), .noSession: fails(.unauthorized)]
        case .authenticatingWithoutRoom:
            own = [.session: .reserve(for: session.id), .noSession: fails(.unauthorized)]
        case .authenticatingForNoRoom: own = [.session: fails(.notFound), .noSession: fails(.unauthorized)]
        case .finding: own = [.room: .ask(room, for: session.id), .noRoom: fails(.notFound)]
        case .asking: own = [.entered: .reserve(for: session.id), .banned: fails(.banned)]
        case .reserving:
            let opening = SocketGate.Opening(
                session: session, room: room, position: Position(epoch: "e", seq: 7),
                handshake: try ServerHandshake(.handshake(path), subprotocols: [SocketGate.subprotocol]))
            own = [.reserved: .open(opening), .notReserved: fails(.rateLimited)]
        case .reservingWithoutRoom:
            let opening = SocketGate.Opening(
                session: session, room: nil, position: nil,
                handshake: try ServerHandshake(.handshake("/v1/socket"), subprotocols: [SocketGate.subprotocol]))
            own = [.reserved: .open(opening), .notReserved: fails(.rateLimited)]
        case .refused: own = [:]
        case .servedAsHTTP, .opened, .closed, .ended: return [:]
        }
        return own.merging(impatient) { own, _ in own }
    }

    @Test func `every input in every state`() throws {
        for stage in Stage.allCases {
            let steps = try Self.steps(in: stage)
            for input in Input.allCases {
                var gate = try Self.gate(stage)
                let step = try Self.take(input, &gate)
                #expect(step == steps[input] ?? .nothing, "\(input) while \(stage)")
                // An input without an effect is as if it had not come; that the server stops is remembered.
                if step == .nothing, input != .drain {
                    #expect(gate == (try Self.gate(stage)), "\(input) while \(stage)")
                }
            }
        }
    }

    @Test func `every input in every state while the server stops`() throws {
        let answers: [Input] = [
            .counted, .session, .noSession, .room, .noRoom, .entered, .banned, .reserved, .notReserved,
        ]
        for stage in Stage.allCases where stage != .reading {
            let steps = try Self.steps(in: stage)
            for input in Input.allCases {
                var gate = try Self.gate(stage)
                let drained = gate.drain()
                #expect(drained == .nothing)
                let step = try Self.take(input, &gate)
                let expected = steps[input].map { answers.contains(input) ? Self.fails(.unavailable) : $0 }
                #expect(step == expected ?? .nothing, "\(input) while \(stage)")
            }
        }
    }

    @Test func `once the connection has ended, nothing has an effect`() throws {
        for stage in Stage.allCases {
            for input in Input.allCases {
                var gate = try Self.gate(stage)
                gate.ended()
                let step = try Self.take(input, &gate)
                #expect(step == .nothing, "\(input) after the end while \(stage)")
            }
        }
    }

    /// Follows every order of inputs through all states that can be reached.
    @Test func `a connection is answered, opened, passed on or closed at most once`() throws {
        struct Visited: Equatable {
            var gate: SocketGate
            var isDecided: Bool
            var isDraining: Bool
        }
        var seen = [Visited(gate: SocketGate(Self.rules), isDecided: false, isDraining: false)]
        var next = 0
        while next < seen.count {
            let before = seen[next]
            next += 1
            for input in Input.allCases {
                var after = before
                let step = try Self.take(input, &after.gate)
                if input == .drain { after.isDraining = true }
                switch step {
                case .open:
                    #expect(!before.isDecided && !before.isDraining)
                    after.isDecided = true
                case .serveHTTP, .refuse:
                    #expect(!before.isDecided)
                    after.isDecided = true
                case .close: after.isDecided = true
                case .count, .authenticate, .find, .ask, .reserve: #expect(!before.isDecided)
                case .nothing: break
                }
                if !seen.contains(after) { seen.append(after) }
            }
        }
        #expect(seen.count > 12)
    }

    // MARK: Handshakes

    @Test func `a handshake is refused for the first of its faults`() throws {
        let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\n"
        let rest = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        for (head, step) in [
            ("GET /nothing HTTP/1.1\r\nHost: a/b\r\n\(upgrade)\r\n", Self.violates(.badHost)),
            ("GET /v1/socket HTTP/1.1\r\n\(upgrade)\(rest)", Self.violates(.badHost)),
            (
                "GET /v1/sockets HTTP/1.1\r\nHost: here\r\n\(upgrade)\r\n",
                .refuse(.failure(CommandFailure(.notFound, "there is no socket here")), isHead: false)
            ),
            ("POST /v1/socket HTTP/1.1\r\nHost: here\r\n\(upgrade)\(rest)", Self.violates(.methodNotAllowed)),
            ("GET /v1/socket HTTP/1.0\r\n\(upgrade)\(rest)", Self.violates(.notHTTP11)),
            ("GET /v1/socket HTTP/1.1\r\nHost: here\r\n\(upgrade)\r\n", Self.violates(.unsupportedVersion)),
            (
                "GET /v1/socket HTTP/1.1\r\nHost: here\r\n\(upgrade)Content-Length: 1\r\n\(rest)",
                Self.violates(.bodyNotAllowed)
            ),
        ] {
            var gate = SocketGate(Self.rules)
            let taken = gate.headCame(try .parsed(head), isOverLimit: false)
            #expect(taken == step, "\(head)")
        }
    }

    @Test func `a page of another origin opens no socket, whatever its position`() throws {
        for (origins, first) in [
            (["https://elsewhere"], "https://elsewhere"), (["https://here", "https://here"], "https://here"),
        ] {
            var gate = SocketGate(Self.rules)
            let head = try RequestHead.handshake(
                "/v1/rooms/\(Self.room)/socket?seq=x", adding: origins.map { ("Origin", $0) })
            let steps = [gate.headCame(head, isOverLimit: false), gate.counted(nil)]
            let refusal = HandshakeRefusal.foreignOrigin(ForeignOrigin(origin: first, host: "here"))
            #expect(steps == [.count(forwardedFor: []), .refuse(refusal, isHead: false)])
        }
    }

    @Test func `a malformed position is refused where a room is named, and ignored elsewhere`() throws {
        var gate = SocketGate(Self.rules)
        _ = gate.headCame(try .handshake("/v1/rooms/\(Self.room)/socket?seq=1"), isOverLimit: false)
        let refused = gate.counted(nil)
        let failure = CommandFailure(.badRequest, "epoch: expected beside seq, and not empty")
        #expect(refused == .refuse(.failure(failure), isHead: false))
        gate = SocketGate(Self.rules)
        _ = gate.headCame(try .handshake("/v1/socket?seq=1"), isOverLimit: false)
        let accepted = gate.counted(nil)
        #expect(accepted == .authenticate(authorization: "Bearer x", cookies: ["a=b", "c=d"]))
    }

    @Test func `a handshake through a proxy is counted by its fields`() throws {
        var gate = SocketGate(Self.rules)
        let fields = [("X-Forwarded-For", "192.0.2.1"), ("x-forwarded-for", "192.0.2.2, 192.0.2.3")]
        let step = gate.headCame(try .handshake("/v1/socket", adding: fields), isOverLimit: false)
        #expect(step == .count(forwardedFor: ["192.0.2.1", "192.0.2.2, 192.0.2.3"]))
    }
}
