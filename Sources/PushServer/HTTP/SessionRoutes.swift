import HTTPTypes
import Hummingbird
import RoomDomain
import RoomService
import RoomWire

/// Sessions over HTTP: creating, showing, renaming and ending one.
struct SessionRoutes: Sendable {
    let rooms: RoomHost
    /// The feed of each event loop, which reaches the sockets of a session.
    let feeds: [HubFeed]
    let admission: Admission
    let requests: RequestReader

    func createSession(_ request: Request, _ context: APIContext) async throws -> Response {
        let body = try await requests.body(of: request, context)
        let name = try sessionName(SessionRequest.parse(body).name)
        try admission.newSession(from: context.peer, forwardedFor: request.forwardedFor)
        let token = Authentication.makeToken()
        let session: Session
        do {
            session = try await rooms.sessions.create(name: name, tokenHash: Authentication.hash(token))
        } catch {
            throw CommandFailure(RoomFailure(error))
        }
        var response = Response.json(
            .created,
            HTTPBody.sessionWithToken(
                id: session.id, name: session.name, createdAt: session.createdAt, expiresAt: session.expiresAt,
                token: token))
        response.headers[.setCookie] = Authentication.cookie(
            token: token, lifetimeMs: rooms.settings.sessionLifetimeMs)
        return response
    }

    func renameSession(_ request: Request, _ context: APIContext) async throws -> Response {
        let session = try context.session()
        let name = try sessionName(SessionRequest.parse(try await requests.body(of: request, context)).name)
        let renamed: Session?
        do {
            renamed = try await rooms.sessions.rename(session, to: name)
        } catch {
            throw CommandFailure(RoomFailure(error))
        }
        guard let renamed else { throw CommandFailure(.unauthorized, "the session is unknown or has ended") }
        for feed in feeds { feed.onLoop { $0.sessionRenamed(session.id, to: name) } }
        return Self.show(renamed)
    }

    func deleteSession(_ session: Session) async throws -> Response {
        do {
            try await rooms.sessionEnding.end(session.id)
        } catch {
            throw CommandFailure(error)
        }
        var response = Response(status: .noContent)
        response.headers[.setCookie] = Authentication.cookie(token: "", lifetimeMs: 0)
        return response
    }

    private func sessionName(_ text: String) throws(CommandFailure) -> String {
        do {
            return try NameRule.accepted(text, length: RoomLimits.memberName)
        } catch {
            throw CommandFailure(.badRequest, "name must \(error.requirement)")
        }
    }

    static func show(_ session: Session) -> Response {
        Response.json(
            HTTPBody.session(
                id: session.id, name: session.name, createdAt: session.createdAt, expiresAt: session.expiresAt))
    }
}
