import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import RoomDomain
import RoomService
import RoomWire

/// The HTTP side of the protocol (section 2): routes, and the rules that hold for all of them.
struct HTTPAPI: Sendable {
    let rooms: RoomHost
    let settings: RoomServerSettings
    /// Every loop's feed, to reach the sockets of a session.
    let feeds: [HubFeed]
    let addresses: AddressLimit
    let admission: Admission
    let authenticator: Authenticator
    let isStopping: @Sendable () -> Bool
    /// Everything that was measured, in Prometheus' text format 0.0.4.
    let metrics: @Sendable () async -> [UInt8]
    let logger: Logger

    /// What answers requests.
    func responder() -> RouterResponder<APIContext> { router().buildResponder() }

    /// The routes, as ``APIDescription`` describes them.
    func router() -> Router<APIContext> {
        let router = Router(context: APIContext.self, options: .autoGenerateHeadEndpoints)
        let hasMetrics = settings.metricsAddress == nil
        let routes = APIRoute.all.filter { hasMetrics || $0.segments != ["metrics"] }
        router.add(middleware: ProblemMiddleware(routes: routes, logger: logger))
        router.add(middleware: AddressMiddleware(addresses: addresses, admission: admission))
        router.add(middleware: PathMiddleware())
        router.get("/healthz") { _, _ in Self.json(["status": "ok"]) }
        router.get("/readyz") { _, _ in try await readiness() }
        if hasMetrics {
            router.get("/metrics") { _, _ in
                Response(
                    status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                    body: ResponseBody(byteBuffer: ByteBuffer(bytes: await metrics())))
            }
        }
        router.get("/openapi.json") { _, _ in Self.json(Array(APIDescription.json.utf8)) }

        let open = router.group("/v1").add(middleware: JSONOnlyMiddleware())
        open.post("/sessions") { request, context in try await createSession(request, context) }

        let api = router.group("/v1").add(middleware: JSONOnlyMiddleware())
            .add(middleware: SessionMiddleware(authenticator: authenticator, admission: admission))
        api.get("/session") { _, context in try Self.session(context.session()) }
        api.patch("/session") { request, context in try await renameSession(request, context) }
        api.delete("/session") { _, context in try await deleteSession(context.session()) }
        api.post("/rooms") { request, context in try await createRoom(request, context) }
        api.get("/rooms") { request, context in try await listRooms(request, context.session()) }
        api.get("/rooms/nearby") { request, context in try await listNearby(request, context.session()) }
        api.get("/rooms/:room") { request, context in try await showRoom(request, context) }
        api.get("/rooms/:room/events") { request, context in try await listEvents(request, context) }
        api.get("/rooms/:room/pool") { request, context in try await listPool(request, context) }
        api.post("/rooms/:room/commands") { request, context in try await command(request, context) }
        api.get("/rooms/:room/socket") { _, _ in try Self.notASocket() }
        api.get("/socket") { _, _ in try Self.notASocket() }
        return router
    }

    // MARK: Health

    private func readiness() async throws -> Response {
        guard !isStopping() else { throw CommandFailure(ErrorCode.unavailable, "the server is stopping") }
        do {
            try await rooms.checkHealth()
        } catch {
            throw CommandFailure(ErrorCode.unavailable, "the event log is out of reach")
        }
        return Self.json(["status": "ready"])
    }

    // MARK: Sessions

    private func createSession(_ request: Request, _ context: APIContext) async throws -> Response {
        let body = try await body(of: request, context)
        let name = try sessionName(SessionRequest.parse(body).name)
        try admission.newSession(from: context.peer, forwardedFor: request.forwardedFor)
        let token = Authentication.makeToken()
        let session: Session
        do {
            session = try await rooms.sessions.create(name: name, tokenHash: Authentication.hash(token))
        } catch {
            throw CommandFailure(RoomFailure(error))
        }
        var response = Self.json(
            .created,
            HTTPBody.sessionWithToken(
                id: session.id, name: session.name, createdAt: session.createdAt, expiresAt: session.expiresAt,
                token: token))
        response.headers[.setCookie] = Authentication.cookie(
            token: token, lifetimeMs: rooms.settings.sessionLifetimeMs)
        return response
    }

    private func renameSession(_ request: Request, _ context: APIContext) async throws -> Response {
        let session = try context.session()
        let name = try sessionName(SessionRequest.parse(try await body(of: request, context)).name)
        do {
            guard let renamed = try await rooms.sessions.rename(session, to: name) else {
                throw CommandFailure(.unauthorized, "the session is unknown or has ended")
            }
            for feed in feeds { feed.onLoop { $0.sessionRenamed(session.id, to: name) } }
            return Self.session(renamed)
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(ErrorCode.unavailable)
        }
    }

    private func deleteSession(_ session: Session) async throws -> Response {
        do {
            try await rooms.endSession(session.id)
        } catch {
            throw CommandFailure(error)
        }
        var response = Response(status: .noContent)
        response.headers[.setCookie] = Authentication.cookie(token: "", lifetimeMs: 0)
        return response
    }

    private func sessionName(_ text: String) throws(CommandFailure) -> String {
        guard let name = NameRule.accepted(text, length: RoomLimits.memberName) else {
            throw CommandFailure(.badRequest, "name must have \(NameRule.requirement(RoomLimits.memberName))")
        }
        return name
    }

    private static func session(_ session: Session) -> Response {
        json(
            HTTPBody.session(
                id: session.id, name: session.name, createdAt: session.createdAt, expiresAt: session.expiresAt))
    }

    // MARK: Rooms

    private func createRoom(_ request: Request, _ context: APIContext) async throws -> Response {
        let (session, network) = (try context.session(), network(of: request, context))
        let wanted = try CreateRoomRequest.parse(try await body(of: request, context))
        let key = try idempotencyKey(of: request)
        let view: RoomView
        do {
            view = try await rooms.createRoom(wanted, by: session, key: key, from: network)
        } catch {
            switch error {
            case .refused(let refusal): throw CommandFailure(refusal)
            case .keyReused: throw CommandFailure(.conflict, "the key was used for another room")
            case .failed(let failure): throw CommandFailure(failure)
            }
        }
        var response = try Self.response(view.isNew ? .created : .ok, view, context)
        response.headers[.location] = "/v1/rooms/\(view.room)"
        return response
    }

    private func listRooms(_ request: Request, _ session: Session) async throws -> Response {
        let limit = try integer("limit", of: request, in: 1...Int.max) ?? 50
        var cursor: ListingCursor?
        if let text = request.uri.queryParameters["cursor"] {
            guard let read = ListingCursor(String(text)) else {
                throw CommandFailure(.badRequest, "cursor: expected the next of an earlier answer")
            }
            cursor = read
        }
        let query = try searchText(of: request)
        do {
            let page = try await rooms.list(matching: query, from: cursor, limit: min(limit, 200), for: session.id)
            return Self.json(HTTPBody.rooms(page.rooms, next: page.next?.text))
        } catch {
            throw CommandFailure(error)
        }
    }

    private func listNearby(_ request: Request, _ session: Session) async throws -> Response {
        let parameters = request.uri.queryParameters
        let query = try NearbyQuery { name in parameters[values: name[...]].map { String($0) } }
        try admission.search(of: session.id)
        do {
            return Self.json(HTTPBody.rooms(try await rooms.nearby.search(query)))
        } catch {
            throw CommandFailure(error)
        }
    }

    private func showRoom(_ request: Request, _ context: APIContext) async throws -> Response {
        let text = request.uri.queryParameters["at"]
        // A number too large for any room is one that the room does not have.
        let isHuge = text.map { PlainInteger.isHuge($0) } ?? false
        if text != nil { try context.memory.expect(1 << 20) }
        let at = isHuge ? Int.max : try integer("at", of: request, in: Int.min...Int.max)
        return try await show(try await room(of: request, context), at: at, context)
    }

    private func show(_ room: RoomID, at seq: Int?, _ context: APIContext) async throws(CommandFailure) -> Response {
        let session = try context.session()
        let view: RoomView
        do {
            view =
                if let seq {
                    try await rooms.view(room, at: seq, for: session.id)
                } else {
                    try await rooms.view(room, for: session.id)
                }
        } catch {
            if error == .noSuchRoom, seq != nil {
                throw CommandFailure(.notFound, "no such room, or no such event in it")
            }
            throw CommandFailure(error)
        }
        return try Self.response(.ok, view, context)
    }

    /// A room, whose state leaves in slices of what is there for everybody.
    private static func response(
        _ status: HTTPResponse.Status, _ view: RoomView, _ context: APIContext
    ) throws(CommandFailure) -> Response {
        try context.memory.shares(view.state)
        let (head, tail) = HTTPBody.roomParts(
            epoch: view.epoch, seq: view.seq, time: view.time, presence: view.presence, you: view.you)
        let state = view.state.plain
        let body = ResponseBody(contentLength: head.count + state.readableBytes + tail.count) { writer in
            try await writer.write(ByteBuffer(bytes: head))
            var rest = state
            while let slice = rest.readSlice(length: min(Self.sliceLength, rest.readableBytes)),
                slice.readableBytes > 0
            {
                try await writer.write(slice)
            }
            try await writer.write(ByteBuffer(bytes: tail))
            try await writer.finish(nil)
        }
        return Response(status: status, headers: [.contentType: "application/json"], body: body)
    }

    /// The most bytes of a long answer that are handed on at a time.
    private static let sliceLength = 65_536

    private func listEvents(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.memory.expect(1 << 20)
        let after = try integer("after", of: request, in: 0...Int.max) ?? 0
        let limit = try integer("limit", of: request, in: 1...Int.max) ?? 1_000
        let room = try await room(of: request, context)
        let session = try context.session()
        do {
            return Self.json(
                try await rooms.events(of: room, after: after, limit: min(limit, 1_000), for: session.id) { page in
                    HTTPBody.events(
                        epoch: page.epoch, events: page.events, seq: page.seq, atMost: RoomHost.bytesOfEvents)
                })
        } catch {
            throw CommandFailure(error)
        }
    }

    private func listPool(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.memory.expect(1 << 18)
        let limit = try integer("limit", of: request, in: 1...Int.max) ?? 100
        let query = PoolQuery(
            start: try poolStart(of: request), text: try searchText(of: request), limit: min(limit, 500))
        let room = try await room(of: request, context)
        let session = try context.session()
        do {
            return Self.json(try await rooms.pool(of: room, query, for: session.id))
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Where a page of a pool begins: `sort`, which a `cursor` must be of.
    private func poolStart(of request: Request) throws(CommandFailure) -> PoolQuery.Start {
        let name = request.uri.queryParameters["sort"].map { String($0) } ?? PoolSort.title.rawValue
        guard let sort = PoolSort(rawValue: name) else {
            throw CommandFailure(.badRequest, "sort: expected title, votes or added")
        }
        guard let text = request.uri.queryParameters["cursor"] else { return .first(sort) }
        guard let place = PoolPlace(cursor: String(text)), place.sort == sort else {
            throw CommandFailure(.badRequest, "cursor: expected the next of an earlier answer with the same sort")
        }
        return .after(place)
    }

    private func command(_ request: Request, _ context: APIContext) async throws -> Response {
        let session = try context.session()
        let command = try CommandJSON.parse(body: try await body(of: request, context))
        let key = try idempotencyKey(of: request)
        let room = try await room(of: request, context)
        try admission.command(command, of: session.id, in: room)
        let network = network(of: request, context)
        let outcome: CommandOutcome
        do {
            outcome = try await rooms.command(
                command, to: room, by: .session(session.id, name: session.name), key: key,
                from: network,
                countNewcomer: { [admission] in admission.newcomer(from: network, to: room) })
        } catch {
            throw CommandFailure(error)
        }
        guard case .acknowledged(let seq, let result) = outcome else { throw CommandFailure(outcome) }
        return Self.json(HTTPBody.command(seq: seq, result: result))
    }

    /// A request for a socket's path without `Upgrade`: opening handshakes are answered before the routes.
    private static func notASocket() throws -> Response {
        throw CommandFailure(
            .badRequest, "this is a WebSocket: ask for an upgrade, by HTTP/1.1")
    }

    // MARK: Parts of requests

    /// What stands for the address that a request comes from; nil where that does not count.
    private func network(of request: Request, _ context: APIContext) -> UInt64? {
        admission.network(of: context.peer, forwardedFor: request.forwardedFor)
    }

    private func room(of request: Request, _ context: APIContext) async throws(CommandFailure) -> RoomID {
        guard let text = context.parameters.get("room"), let reference = RoomReference(text) else {
            throw CommandFailure(.notFound)
        }
        let seeker = RoomSeeker(session: try context.session().id, address: network(of: request, context))
        return try await RoomLookup(rooms: rooms, admission: admission).room(reference, for: seeker)
    }

    private func body(of request: Request, _ context: APIContext) async throws -> [UInt8] {
        let most = settings.maximumMessageLength
        // A body of no known length may become as long as one may be.
        let length = request.headers[.contentLength].flatMap { Int($0) } ?? most
        let charge = try context.memory.charge(bodyOf: min(length, most))
        defer { withExtendedLifetime(charge) {} }
        do {
            let body = try await request.body.collect(upTo: most)
            admission.bodyArrived(
                body.readableBytes, of: context.authenticated?.id, from: network(of: request, context))
            return Array(buffer: body)
        } catch is NIOTooManyBytesError {
            throw CommandFailure(.tooLarge, "at most \(most) bytes")
        }
    }

    private func idempotencyKey(of request: Request) throws(CommandFailure) -> String? {
        guard let name = HTTPField.Name("Idempotency-Key"), let key = request.headers[name] else { return nil }
        guard ClientMessage.isKey(key) else {
            throw CommandFailure(.badRequest, "Idempotency-Key: 1 to 128 characters, none of them a control character")
        }
        return key
    }

    /// The trimmed `q`; empty where there is none.
    private func searchText(of request: Request) throws(CommandFailure) -> String {
        let text = request.uri.queryParameters["q"].map { String($0) } ?? ""
        guard let trimmed = TextRule.accepted(text, length: 0...RoomLimits.roomName.upperBound) else {
            throw CommandFailure(.badRequest, "q: at most 80 characters, none of them a control character")
        }
        return trimmed
    }

    private func integer(
        _ name: Substring, of request: Request, in range: ClosedRange<Int>
    ) throws(CommandFailure) -> Int? {
        guard let text = request.uri.queryParameters[name] else { return nil }
        guard let value = PlainInteger.value(text), range.contains(value) else {
            throw CommandFailure(.badRequest, "\(name): expected an integer of at least \(range.lowerBound)")
        }
        return value
    }

    // MARK: Answers

    static func json(
        _ status: HTTPResponse.Status = .ok, _ body: [UInt8], type: String = "application/json"
    ) -> Response {
        Response(
            status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    private static func json(_ body: [UInt8]) -> Response { json(.ok, body) }

    private static func json(_ members: KeyValuePairs<String, String>) -> Response {
        let text = members.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",")
        return json(Array("{\(text)}".utf8))
    }
}

/// What a request's context is made from.
struct APIRequestSource: RequestContextSource {
    let channel: any Channel
    let logger: Logger
    let memory: AnswerMemory
}

/// What is known of a request while it is answered.
struct APIContext: RequestContext {
    typealias Source = APIRequestSource

    var coreContext: CoreRequestContextStorage
    /// Whose request it is, once that was found out.
    var authenticated: Session?
    /// The other end of the request's connection.
    let peer: SocketAddress?
    /// What the answer takes of the memory for what waits.
    let memory: AnswerMemory

    init(source: APIRequestSource) {
        peer = source.channel.remoteAddress
        memory = source.memory
        coreContext = CoreRequestContextStorage(source: source)
    }

    /// Whose request it is.
    func session() throws(CommandFailure) -> Session {
        guard let authenticated else { throw CommandFailure(.unauthorized) }
        return authenticated
    }
}
