import Hummingbird
import Logging
import RoomService
import RoomWire
import WebClient

/// The HTTP side of the protocol (section 2): routes, and the rules that apply to all of them.
struct HTTPAPI: Sendable {
    let rooms: RoomHost
    let settings: RoomServerSettings
    /// The feed of each event loop, which reaches the sockets of a session.
    let feeds: [HubFeed]
    let addresses: AddressLimit
    let admission: Admission
    let authenticator: Authenticator
    let foreignOrigins: ForeignOriginLog
    let isStopping: @Sendable () -> Bool
    /// Returns all metrics in Prometheus' text format 0.0.4.
    let metrics: @Sendable () async -> [UInt8]
    let logger: Logger

    /// Makes the responder that answers requests.
    func responder() -> RouterResponder<APIContext> { router().buildResponder() }

    /// Makes the router of all ``Routes`` on the port of clients.
    func router() -> Router<APIContext> {
        let router = Router(context: APIContext.self, options: .autoGenerateHeadEndpoints)
        let routes = Routes.ofClients(settings)
        router.add(middleware: ProblemMiddleware(routes: routes, logger: logger))
        router.add(middleware: AddressMiddleware(addresses: addresses, admission: admission))
        router.add(middleware: PathMiddleware(hasPages: settings.page.isThere))
        let operations = Operations(
            server: ServerRoutes(rooms: rooms, isStopping: isStopping, metrics: metrics),
            page: PageRoutes(settings),
            sessions: SessionRoutes(rooms: rooms, feeds: feeds, admission: admission, requests: requests),
            lists: ListingRoutes(rooms: rooms, admission: admission, requests: requests),
            rooms: RoomRoutes(rooms: rooms, admission: admission, requests: requests),
            waveforms: WaveformRoutes(rooms: rooms, requests: requests),
            statistics: StatisticsRoutes(rooms: rooms, requests: requests, admission: admission))
        for route in routes { add(route, to: router, operations) }
        return router
    }

    private var requests: RequestReader {
        RequestReader(rooms: rooms, admission: admission, maximumBodyLength: settings.sizes.maximumMessageLength)
    }

    /// Adds a route with the rules that it names; a request passes them in the order in which they are added.
    private func add(_ route: Route, to router: Router<APIContext>, _ operations: Operations) {
        let group = router.group()
        if route.policy != .data {
            let fields = SecurityFields(route.policy, isSecure: settings.tls != nil)
            group.add(middleware: PolicyMiddleware(fields: fields))
        }
        switch route.form {
        case .fixed: break
        case .json, .socket:
            group.add(middleware: OriginMiddleware(settings: settings, foreignOrigins: foreignOrigins))
            group.add(middleware: JSONOnlyMiddleware())
        }
        switch route.access {
        case .anybody, .metrics: break
        case .session:
            group.add(middleware: SessionMiddleware(authenticator: authenticator, admission: admission))
        }
        for (method, operation) in route.operations {
            group.on(RouterPath(route.pattern), method: method) { request, context in
                try await operations.answer(operation, request, context)
            }
        }
    }
}

/// Carries out operations.
private struct Operations: Sendable {
    let server: ServerRoutes
    let page: PageRoutes
    let sessions: SessionRoutes
    let lists: ListingRoutes
    let rooms: RoomRoutes
    let waveforms: WaveformRoutes
    let statistics: StatisticsRoutes

    func answer(_ operation: Operation, _ request: Request, _ context: APIContext) async throws -> Response {
        switch operation {
        case .getHealth: server.health()
        case .getReadiness: try await server.readiness()
        case .getMetrics: await server.measured()
        case .getDescription: server.description()
        case .getPage: try await page.page(request, context)
        case .getAsset: try await page.asset(request, context)
        case .getServiceWorker: try await page.serviceWorker(request, context)
        case .getFile: try await page.file(request, context)
        case .getAuthority: try page.authority()
        case .createSession: try await sessions.createSession(request, context)
        case .getSession: try SessionRoutes.show(context.session())
        case .renameSession: try await sessions.renameSession(request, context)
        case .deleteSession: try await sessions.deleteSession(context.session())
        case .listSessionRooms: try await lists.listOwn(request, context)
        case .createRoom: try await rooms.createRoom(request, context)
        case .listRooms: try await lists.listRooms(request, context)
        case .listNearbyRooms: try await lists.listNearby(request, context)
        case .getRoom: try await rooms.showRoom(request, context)
        case .listEvents: try await rooms.listEvents(request, context)
        case .listPool: try await rooms.listPool(request, context)
        case .getWaveform: try await waveforms.show(request, context)
        case .sendCommand: try await rooms.command(request, context)
        case .getRoomStatistics: try await statistics.show(request, context)
        case .listRoomPlays: try await statistics.listPlays(request, context)
        case .listRoomTracks: try await statistics.listSongs(byArtist: false, request, context)
        case .listRoomArtists: try await statistics.listSongs(byArtist: true, request, context)
        case .listTopTracks: try await statistics.listTop(byArtist: false, request, context)
        case .listTopArtists: try await statistics.listTop(byArtist: true, request, context)
        case .openRoomSocket, .openSocket:
            // Opening handshakes are answered before the router.
            throw CommandFailure(.badRequest, "this is a WebSocket: ask for an upgrade, by HTTP/1.1")
        }
    }
}
