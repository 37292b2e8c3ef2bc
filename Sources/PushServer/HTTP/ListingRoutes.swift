import Hummingbird
import RoomDomain
import RoomService
import RoomWire

/// Lists of rooms over HTTP: public rooms, newest first, rooms nearby, and a session's own rooms.
struct ListingRoutes: Sendable {
    let rooms: RoomHost
    let admission: Admission
    let requests: RequestReader

    func listRooms(_ request: Request, _ context: APIContext) async throws -> Response {
        let limit = try request.integer("limit", in: 1...Int.max) ?? 50
        var cursor: ListingCursor?
        if let text = request.uri.queryParameters["cursor"] {
            guard let read = ListingCursor(String(text)) else {
                throw CommandFailure(.badRequest, "cursor: expected the next of an earlier answer")
            }
            cursor = read
        }
        let query = try request.searchText()
        let asker = try requests.asker(of: request, context)
        do {
            let page = try await rooms.listing.list(
                matching: query, from: cursor, limit: min(limit, 200), for: asker)
            return Response.json(HTTPBody.rooms(page.rooms, next: page.next?.text))
        } catch {
            throw CommandFailure(error)
        }
    }

    func listOwn(_ request: Request, _ context: APIContext) async throws -> Response {
        let asker = try requests.asker(of: request, context)
        do {
            return Response.json(HTTPBody.rooms(try await rooms.sessionRooms.list(for: asker)))
        } catch {
            throw CommandFailure(error)
        }
    }

    func listNearby(_ request: Request, _ context: APIContext) async throws -> Response {
        let parameters = request.uri.queryParameters
        let query = try NearbyQuery { name in parameters[values: name[...]].map { String($0) } }
        try admission.search(by: requests.asker(of: request, context))
        do {
            return Response.json(HTTPBody.rooms(try await rooms.nearby.search(query)))
        } catch {
            throw CommandFailure(error)
        }
    }
}
