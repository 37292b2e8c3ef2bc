import HTTPTypes
import Hummingbird
import NIOCore
import RoomDomain
import RoomService
import RoomWire

/// One room over HTTP: creating and showing it, its events, its pool, and commands.
struct RoomRoutes: Sendable {
    let rooms: RoomHost
    let admission: Admission
    let requests: RequestReader

    func createRoom(_ request: Request, _ context: APIContext) async throws -> Response {
        let (session, network) = (try context.session(), requests.network(of: request, context))
        let wanted = try CreateRoomRequest.parse(try await requests.body(of: request, context))
        let key = try request.idempotencyKey()
        let view: RoomView
        do {
            view = try await rooms.creation.create(wanted, by: session, key: key, from: network)
        } catch {
            switch error {
            case .keyReused: throw CommandFailure(.conflict, "the key was used for another room")
            case .failed(let failure): throw CommandFailure(failure)
            }
        }
        var response = try Self.response(view.isNew ? .created : .ok, view, context)
        response.headers[.location] = "/v1/rooms/\(view.room)"
        return response
    }

    func showRoom(_ request: Request, _ context: APIContext) async throws -> Response {
        let text = request.uri.queryParameters["at"]
        // No room has an event of a number that is too large for any room.
        let isHuge = text.map { PlainInteger.isHuge($0) } ?? false
        if text != nil { try context.memory.expect(1 << 20) }
        let at = isHuge ? Int.max : try request.integer("at", in: Int.min...Int.max)
        return try await show(
            try await requests.room(of: request, context), at: at, for: try requests.asker(of: request, context),
            context)
    }

    private func show(
        _ room: RoomID, at seq: Int?, for asker: Asker, _ context: APIContext
    ) async throws(CommandFailure) -> Response {
        let view: RoomView
        do {
            view =
                if let seq {
                    try await rooms.history.view(room, at: seq, for: asker)
                } else {
                    try await rooms.registry.view(room, for: asker.session)
                }
        } catch {
            if error == .noSuchRoom, seq != nil {
                throw CommandFailure(.notFound, "no such room, or no such event in it")
            }
            throw CommandFailure(error)
        }
        return try Self.response(.ok, view, context)
    }

    /// Makes the answer that shows a room; the shared bytes of its state are sent in slices.
    private static func response(
        _ status: HTTPResponse.Status, _ view: RoomView, _ context: APIContext
    ) throws(CommandFailure) -> Response {
        try context.memory.shares(view.state)
        let (head, tail) = HTTPBody.roomParts(
            epoch: view.epoch, seq: view.seq, keyed: view.keyed, time: view.time, presence: view.presence,
            you: view.you)
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

    /// The most bytes of a long answer that are passed on at a time.
    private static let sliceLength = 65_536

    func listEvents(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.memory.expect(1 << 20)
        let after = try request.integer("after", in: 0...Int.max) ?? 0
        let limit = try request.integer("limit", in: 1...Int.max) ?? 1_000
        let room = try await requests.room(of: request, context)
        let asker = try requests.asker(of: request, context)
        do {
            return Response.json(
                try await rooms.history.events(of: room, after: after, limit: min(limit, 1_000), for: asker) {
                    page in
                    HTTPBody.events(
                        epoch: page.epoch, events: page.events, seq: page.seq, atMost: RoomHistory.bytesOfEvents)
                })
        } catch {
            throw CommandFailure(error)
        }
    }

    func listPool(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.memory.expect(1 << 18)
        let limit = try request.integer("limit", in: 1...Int.max) ?? 100
        let query = PoolQuery(
            start: try poolStart(of: request), text: try request.searchText(), limit: min(limit, 500))
        let room = try await requests.room(of: request, context)
        let asker = try requests.asker(of: request, context)
        do {
            return Response.json(try await rooms.registry.pool(of: room, query, for: asker))
        } catch {
            throw CommandFailure(error)
        }
    }

    /// The start of a page of a pool: `sort`, and a `cursor` of the same sort.
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

    func command(_ request: Request, _ context: APIContext) async throws -> Response {
        let session = try context.session()
        let command = try CommandJSON.parse(body: try await requests.body(of: request, context))
        let key = try request.idempotencyKey()
        let room = try await requests.room(of: request, context)
        try admission.command(command, of: session.id, in: room)
        let network = requests.network(of: request, context)
        let outcome = await rooms.registry.command(
            command, to: room, by: .session(session.id, name: session.name), key: key, from: network,
            countNewcomer: { [admission] in admission.newcomer(from: network, to: room) })
        guard case .acknowledged(let seq, let keyed, let result) = outcome else { throw CommandFailure(outcome) }
        return Response.json(HTTPBody.command(seq: seq, keyed: keyed, result: result))
    }
}
