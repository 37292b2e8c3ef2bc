import HTTPTypes

/// The table of routes: every path that the server answers, as `Documentation/openapi.yaml` describes them.
///
/// The router, 405 with `Allow`, the rules for sockets and the metrics listener read it; a test compares it with the
/// description.
enum Routes {
    static let metrics = Route("/metrics", for: .metrics, .fixed, [.get: .getMetrics])

    static let all = [
        Route("/healthz", for: .anybody, .fixed, [.get: .getHealth]),
        Route("/readyz", for: .anybody, .fixed, [.get: .getReadiness]),
        metrics,
        Route("/openapi.json", for: .anybody, .fixed, [.get: .getDescription]),

        Route("/v1/sessions", for: .anybody, .json, [.post: .createSession]),
        Route(
            "/v1/session", for: .session, .json,
            [.get: .getSession, .patch: .renameSession, .delete: .deleteSession]),

        Route("/v1/rooms", for: .session, .json, [.get: .listRooms, .post: .createRoom]),
        Route("/v1/rooms/nearby", for: .session, .json, [.get: .listNearbyRooms]),
        Route("/v1/rooms/{room}", for: .session, .json, [.get: .getRoom]),
        Route("/v1/rooms/{room}/events", for: .session, .json, [.get: .listEvents]),
        Route("/v1/rooms/{room}/pool", for: .session, .json, [.get: .listPool]),
        Route("/v1/rooms/{room}/commands", for: .session, .json, [.post: .sendCommand]),

        Route("/v1/rooms/{room}/socket", for: .session, .socket, [.get: .openRoomSocket]),
        Route("/v1/socket", for: .session, .socket, [.get: .openSocket]),
    ]

    /// The routes on which WebSockets are opened.
    static let sockets = all.filter { $0.form == .socket }

    /// The routes on the port of clients.
    static func ofClients(metricsHaveOwnAddress: Bool) -> [Route] {
        all.filter { !metricsHaveOwnAddress || $0.access != .metrics }
    }
}
