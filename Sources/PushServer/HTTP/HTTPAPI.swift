import Hummingbird
import Logging
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
        let server = ServerRoutes(rooms: rooms, isStopping: isStopping, metrics: metrics)
        router.get("/healthz") { _, _ in server.health() }
        router.get("/readyz") { _, _ in try await server.readiness() }
        if hasMetrics { router.get("/metrics") { _, _ in await server.measured() } }
        router.get("/openapi.json") { _, _ in server.description() }

        let requests = RequestReader(
            rooms: rooms, admission: admission, maximumBodyLength: settings.maximumMessageLength)
        let sessions = SessionRoutes(rooms: rooms, feeds: feeds, admission: admission, requests: requests)
        let open = router.group("/v1").add(middleware: JSONOnlyMiddleware())
        open.post("/sessions") { request, context in try await sessions.createSession(request, context) }

        let api = router.group("/v1").add(middleware: JSONOnlyMiddleware())
            .add(middleware: SessionMiddleware(authenticator: authenticator, admission: admission))
        api.get("/session") { _, context in try SessionRoutes.show(context.session()) }
        api.patch("/session") { request, context in try await sessions.renameSession(request, context) }
        api.delete("/session") { _, context in try await sessions.deleteSession(context.session()) }

        let lists = ListingRoutes(rooms: rooms, admission: admission)
        let room = RoomRoutes(rooms: rooms, admission: admission, requests: requests)
        api.post("/rooms") { request, context in try await room.createRoom(request, context) }
        api.get("/rooms") { request, context in try await lists.listRooms(request, context.session()) }
        api.get("/rooms/nearby") { request, context in try await lists.listNearby(request, context.session()) }
        api.get("/rooms/:room") { request, context in try await room.showRoom(request, context) }
        api.get("/rooms/:room/events") { request, context in try await room.listEvents(request, context) }
        api.get("/rooms/:room/pool") { request, context in try await room.listPool(request, context) }
        api.post("/rooms/:room/commands") { request, context in try await room.command(request, context) }
        api.get("/rooms/:room/socket") { _, _ in try Self.notASocket() }
        api.get("/socket") { _, _ in try Self.notASocket() }
        return router
    }

    /// A request for a socket's path without `Upgrade`: opening handshakes are answered before the routes.
    private static func notASocket() throws -> Response {
        throw CommandFailure(
            .badRequest, "this is a WebSocket: ask for an upgrade, by HTTP/1.1")
    }
}
