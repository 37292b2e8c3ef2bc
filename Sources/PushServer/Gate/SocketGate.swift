import HTTPTransport
import RoomDomain
import RoomService
import RoomWire
import WebSocketCodec

/// The opening of one connection: whether it becomes a socket, is served as HTTP, or ends.
///
/// A machine: its inputs are facts, and each returns the next step of its shell (``SocketOpening``). A handshake passes
/// these checks in this order, and the first that it does not pass is its answer:
///
/// 1. The connection is not one too many of its address.
/// 2. The request is a correct handshake for the path of a socket.
/// 3. Its address may make one more handshake: ``Step/count(forwardedFor:)``.
/// 4. The server does not stop, the page that sends it may open sockets, and the position in its query is well-formed.
/// 5. It has a session: ``Step/authenticate(authorization:cookies:)``.
/// 6. Its room exists, and the session may enter it: ``Step/find(_:for:)``, ``Step/ask(_:for:)``.
/// 7. The session may have one more socket: ``Step/reserve(for:)``.
///
/// An input that the state does not expect changes nothing: an answer may come after the connection has ended.
struct SocketGate: Equatable {
    /// The subprotocol of the sockets.
    static let subprotocol = "backline.v1.json"

    /// The rules of a server.
    struct Rules: Equatable, Sendable {
        /// The origins whose pages may open sockets.
        var origins: OriginRule
        /// The most bytes that may arrive after a head and before its answer.
        var earlyBytes: Int
    }

    /// A handshake that is accepted.
    struct Opening: Equatable {
        let session: Session
        /// The room that the socket is opened for; nil if there is none.
        let room: RoomID?
        /// The position with which the room is resumed; nil for a snapshot.
        let position: Position?
        let handshake: ServerHandshake
    }

    /// The next action of the shell.
    enum Step: Equatable {
        /// Do nothing.
        case nothing
        /// Pass the connection and all of its bytes to the HTTP server.
        case serveHTTP
        /// Count the handshake for the address that it comes from; the answer is ``SocketGate/counted(_:)``.
        case count(forwardedFor: [String])
        /// Find the session; the answer is ``SocketGate/authenticated(_:)``.
        case authenticate(authorization: String?, cookies: [String])
        /// Find the room; the answer is ``SocketGate/found(_:)``.
        case find(RoomReference, for: SessionID)
        /// Ask the room whether the session may enter; the answer is ``SocketGate/asked(_:)``.
        case ask(RoomID, for: SessionID)
        /// Count one more socket of the session; the answer is ``SocketGate/reserved(_:)``.
        case reserve(for: SessionID)
        /// Accept the handshake.
        case open(Opening)
        /// Send this answer, without a body if the request is HEAD, and end the connection.
        case refuse(HandshakeRefusal, isHead: Bool)
        /// Close the connection without an answer.
        case close
    }

    private struct Visit: Equatable {
        let place: SocketPlace
        let position: Position?
        let handshake: ServerHandshake
    }

    private enum State: Equatable {
        /// The head has not arrived.
        case reading
        case counting(RequestHead, SocketPlace, ServerHandshake)
        case authenticating(Visit)
        case finding(Visit, Session)
        case asking(Visit, Session, RoomID)
        case reserving(Opening)
        /// The connection ends with an answer.
        case refused
        /// The connection is a socket, is served as HTTP, or is closed.
        case over
    }

    private let rules: Rules
    private var state = State.reading
    /// Whether the request is HEAD, whose answer has no body (RFC 9110 §9.3.2).
    private var isHead = false
    private var isDraining = false

    /// Makes the gate of a connection from which no head has arrived.
    init(_ rules: Rules) {
        self.rules = rules
    }

    /// Whether it expects a head.
    var isReading: Bool { state == .reading }

    // MARK: The request

    /// A head has arrived; `isOverLimit` says that its connection is one too many of its address.
    mutating func headCame(_ head: RequestHead, isOverLimit: Bool) -> Step {
        guard case .reading = state else { return .nothing }
        isHead = head.method == "HEAD"
        guard !isOverLimit else { return refuse(.tooManyConnections) }
        guard head.asksForWebSocket else {
            state = .over
            return .serveHTTP
        }
        // RFC 9112 §3.2: this holds even if no socket is opened.
        guard !head.isHTTP11 || head.fields.onlyValue(of: "Host").map({ RequestRule.isHost($0) }) == true else {
            return refuse(.violation(.badHost))
        }
        guard let place = SocketPlace(path: head.path) else {
            return refuse(.failure(CommandFailure(.notFound, "there is no socket here")))
        }
        do throws(HandshakeViolation) {
            state = .counting(head, place, try ServerHandshake(head, subprotocols: [Self.subprotocol]))
        } catch {
            return refuse(.violation(error))
        }
        return .count(forwardedFor: head.fields.values(of: TrustedProxies.field))
    }

    /// The bytes that have arrived are no head.
    mutating func violated(_ violation: HandshakeViolation) -> Step {
        guard case .reading = state else { return .nothing }
        return refuse(.violation(violation))
    }

    // MARK: Answers

    /// The handshake was counted; with a refusal, its address may make no more.
    mutating func counted(_ refusal: HandshakeRefusal?) -> Step {
        guard case .counting(let head, let place, let handshake) = state else { return .nothing }
        if let refusal { return refuse(refusal) }
        guard !isDraining else { return refuse(.failure(CommandFailure(ErrorCode.unavailable))) }
        let fields = head.fields
        do throws(ForeignOrigin) {
            try rules.origins.check { fields.values(of: $0) }
        } catch {
            return refuse(.foreignOrigin(error))
        }
        do throws(CommandFailure) {
            let position: Position? = if case .room = place { try Position(query: head.query) } else { nil }
            state = .authenticating(Visit(place: place, position: position, handshake: handshake))
        } catch {
            return refuse(.failure(error))
        }
        return .authenticate(
            authorization: fields.values(of: "Authorization").first, cookies: fields.values(of: "Cookie"))
    }

    /// The session was found, or there is none.
    mutating func authenticated(_ result: Result<Session, CommandFailure>) -> Step {
        guard case .authenticating(let visit) = state else { return .nothing }
        return proceed(with: result) { gate, session in
            switch visit.place {
            case .open: return gate.reserve(for: session, nil, visit)
            case .room(nil): return gate.refuse(.failure(CommandFailure(.notFound)))
            case .room(let reference?):
                gate.state = .finding(visit, session)
                return .find(reference, for: session.id)
            }
        }
    }

    /// The room was found, or there is none.
    mutating func found(_ result: Result<RoomID, CommandFailure>) -> Step {
        guard case .finding(let visit, let session) = state else { return .nothing }
        return proceed(with: result) { gate, room in
            gate.state = .asking(visit, session, room)
            return .ask(room, for: session.id)
        }
    }

    /// The room has answered whether the session may enter.
    mutating func asked(_ result: Result<Void, CommandFailure>) -> Step {
        guard case .asking(let visit, let session, let room) = state else { return .nothing }
        return proceed(with: result) { gate, _ in gate.reserve(for: session, room, visit) }
    }

    /// The socket was counted; with a failure, the session may have no more.
    mutating func reserved(_ result: Result<Void, CommandFailure>) -> Step {
        guard case .reserving(let opening) = state else { return .nothing }
        return proceed(with: result) { gate, _ in
            gate.state = .over
            return .open(opening)
        }
    }

    /// Goes on to the next check, unless the last one has failed or the server stops.
    private mutating func proceed<Value>(
        with result: Result<Value, CommandFailure>, _ next: (inout Self, Value) -> Step
    ) -> Step {
        guard !isDraining else { return refuse(.failure(CommandFailure(ErrorCode.unavailable))) }
        switch result {
        case .success(let value): return next(&self, value)
        case .failure(let failure): return refuse(.failure(failure))
        }
    }

    private mutating func reserve(for session: Session, _ room: RoomID?, _ visit: Visit) -> Step {
        state = .reserving(
            Opening(session: session, room: room, position: visit.position, handshake: visit.handshake))
        return .reserve(for: session.id)
    }

    private mutating func refuse(_ refusal: HandshakeRefusal) -> Step {
        state = .refused
        return .refuse(refusal, isHead: isHead)
    }

    // MARK: Everything else that may happen

    /// Bytes have arrived after the head; `count` of them wait for the answer.
    ///
    /// A client that follows RFC 6455 §4.1 sends none, and others may send a few.
    mutating func bytesCame(waiting count: Int) -> Step {
        switch state {
        case .over, .reading: .nothing
        case .counting, .authenticating, .finding, .asking, .reserving, .refused:
            count > rules.earlyBytes ? close() : .nothing
        }
    }

    /// The time for the opening is over.
    mutating func deadlineReached() -> Step {
        switch state {
        case .over: .nothing
        case .reading, .counting, .authenticating, .finding, .asking, .reserving, .refused: close()
        }
    }

    /// The server stops: a connection without a request is closed, and a handshake is refused at its next answer.
    mutating func drain() -> Step {
        isDraining = true
        switch state {
        case .reading: return close()
        case .counting, .authenticating, .finding, .asking, .reserving, .refused, .over: return .nothing
        }
    }

    /// The connection has ended.
    mutating func ended() {
        state = .over
    }

    private mutating func close() -> Step {
        state = .over
        return .close
    }
}
