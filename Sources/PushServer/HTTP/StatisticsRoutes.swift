import HTTPTypes
import Hummingbird
import RoomDomain
import RoomService
import RoomStatistics
import RoomWire

/// What is counted, over HTTP: of one room, and across rooms.
struct StatisticsRoutes: Sendable {
    let rooms: RoomHost
    let requests: RequestReader
    let admission: Admission

    private func statistics() throws(CommandFailure) -> StatisticsReader {
        guard let statistics = rooms.statistics else { throw CommandFailure(.notFound, "this server counts nothing") }
        return statistics
    }

    func show(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.memory.expect(1 << 18)
        let statistics = try statistics()
        let name = request.uri.queryParameters["step"].map { String($0) } ?? StatisticsQuery.Step.hour.rawValue
        guard let step = StatisticsQuery.Step(rawValue: name) else {
            throw CommandFailure(.badRequest, "step: expected minute, quarter, hour, day or total")
        }
        let (from, to) = (try request.instant("from"), try request.instant("to"))
        let offset = try request.integer("offsetMinutes", in: StatisticsQuery.offsets) ?? 0
        let query: StatisticsQuery
        do throws(StatisticsQuery.Violation) {
            query = try StatisticsQuery(step: step, from: from, to: to, offset: offset, now: rooms.clock.now)
        } catch {
            throw CommandFailure(.badRequest, error.description)
        }
        let room = try await requests.room(of: request, context)
        let asker = try requests.asker(of: request, context)
        do {
            return Response.json(try await statistics.counts(of: room, query, for: asker).encoded())
        } catch {
            throw CommandFailure(error)
        }
    }

    func listPlays(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.memory.expect(1 << 18)
        let statistics = try statistics()
        let (from, to, limit) = try span(of: request, usually: 100)
        var cursor: PlayCursor?
        if let text = request.uri.queryParameters["cursor"] {
            guard let read = PlayCursor(String(text)) else {
                throw CommandFailure(.badRequest, "cursor: expected the next of an earlier answer")
            }
            cursor = read
        }
        let room = try await requests.room(of: request, context)
        let asker = try requests.asker(of: request, context)
        try admission.search(by: asker)
        do {
            return Response.json(
                try await statistics.plays(of: room, from: from, to: to, before: cursor, limit: limit, for: asker))
        } catch {
            throw CommandFailure(error)
        }
    }

    func listSongs(byArtist: Bool, _ request: Request, _ context: APIContext) async throws -> Response {
        try context.memory.expect(1 << 18)
        let statistics = try statistics()
        let (from, to, limit) = try span(of: request, usually: 50)
        let room = try await requests.room(of: request, context)
        let asker = try requests.asker(of: request, context)
        // All of a room's plays may have to be read.
        try admission.search(by: asker)
        do {
            return Response.json(
                try await statistics.ranking(
                    of: room, from: from, to: to, byArtist: byArtist, limit: limit, for: asker))
        } catch {
            throw CommandFailure(error)
        }
    }

    func listTop(byArtist: Bool, _ request: Request, _ context: APIContext) async throws -> Response {
        try context.memory.expect(1 << 19)
        let across = try statistics().acrossRooms
        let parameters = request.uri.queryParameters
        let name = parameters["window"].map { String($0) } ?? StatisticsWindow.day.rawValue
        guard let window = StatisticsWindow(rawValue: name) else {
            throw CommandFailure(.badRequest, "window: expected hour, day or week")
        }
        let limit = min(try request.integer("limit", in: 1...Int.max) ?? 50, AcrossRooms.mostSongs)
        let asker = try requests.asker(of: request, context)
        do {
            guard ["lat", "lon", "radiusMeters"].contains(where: { parameters[$0] != nil }) else {
                try admission.search(by: asker)
                let top = try await across.top(window, byArtist: byArtist, limit: limit)
                return Response(top.body, to: request)
            }
            let place = try NearbyQuery { name in
                name == "limit" ? [] : parameters[values: name[...]].map { String($0) }
            }
            guard place.radiusMeters >= AcrossRooms.leastRadius else {
                throw CommandFailure(.badRequest, "radiusMeters: expected at least 1,000")
            }
            try admission.search(by: asker)
            let top = try await across.top(near: place, window, byArtist: byArtist, limit: limit, for: asker)
            return Response(top.body, to: request)
        } catch let failure as RoomFailure {
            throw CommandFailure(failure)
        }
    }

    /// The span of time that a request names, by default all of it, and its limit.
    private func span(
        of request: Request, usually limit: Int
    ) throws(CommandFailure) -> (from: Int64, to: Int64, limit: Int) {
        let from = try request.instant("from") ?? 0
        let to = try request.instant("to") ?? Int.max
        guard from < to else { throw CommandFailure(.badRequest, "to: expected an instant after from") }
        let limit = try request.integer("limit", in: 1...Int.max) ?? limit
        return (Int64(from), Int64(to), min(limit, StatisticsReader.mostSongs))
    }
}

extension Response {
    /// An answer that is shared by all who ask, or the word that the client has it.
    fileprivate init(_ body: TopBody, to request: Request) {
        guard !EntityTag.matches(body.entityTag, request.headers[values: .ifNoneMatch]) else {
            self.init(status: .notModified, headers: [.eTag: body.entityTag])
            return
        }
        self.init(
            status: .ok, headers: [.contentType: "application/json", .eTag: body.entityTag],
            body: ResponseBody(byteBuffer: body.bytes))
    }
}

extension Request {
    /// The instant in a query parameter, in milliseconds since the Unix epoch; nil if there is no such parameter.
    fileprivate func instant(_ name: Substring) throws(CommandFailure) -> Int? {
        try integer(name, in: 0...Int.max)
    }
}
