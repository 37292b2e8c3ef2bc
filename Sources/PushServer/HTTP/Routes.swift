import HTTPTypes
import WebClient

/// The table of routes: every path that the server answers.
///
/// The router, 405 with `Allow`, the rules for sockets and the metrics listener read it. `Documentation/openapi.yaml`
/// describes the routes of the API, and a test compares the two; the routes of the page are files.
enum Routes {
    static let metrics = Route("/metrics", for: .metrics, .fixed, [.get: .getMetrics])

    /// What the paths of rooms' pages begin with.
    static let roomPrefix = "/r/"

    /// The page of a room.
    static let room = page("\(roomPrefix){code}")

    static let all = [
        Route("/healthz", for: .anybody, .fixed, [.get: .getHealth]),
        Route("/readyz", for: .anybody, .fixed, [.get: .getReadiness]),
        metrics,
        Route("/openapi.json", for: .anybody, .fixed, [.get: .getDescription]),

        page("/"), room, page("/nearby"),
        Route("/assets/{version}/{+path}", for: .anybody, .fixed, policy: .page(.immutable), [.get: .getAsset]),
        Route("/service-worker.js", for: .anybody, .fixed, policy: .page(.revalidated), [.get: .getServiceWorker]),
        file("/manifest.webmanifest"), file("/icon.svg"), file("/icon-180.png"),
        Route("/development-ca.crt", for: .anybody, .fixed, policy: .page(.revalidated), [.get: .getAuthority]),

        Route("/v1/sessions", for: .anybody, .json, [.post: .createSession]),
        Route(
            "/v1/session", for: .session, .json,
            [.get: .getSession, .patch: .renameSession, .delete: .deleteSession]),
        Route("/v1/session/rooms", for: .session, .json, [.get: .listSessionRooms]),

        Route("/v1/rooms", for: .session, .json, [.get: .listRooms, .post: .createRoom]),
        Route("/v1/rooms/nearby", for: .session, .json, [.get: .listNearbyRooms]),
        Route("/v1/rooms/{room}", for: .session, .json, [.get: .getRoom]),
        Route("/v1/rooms/{room}/events", for: .session, .json, [.get: .listEvents]),
        Route("/v1/rooms/{room}/pool", for: .session, .json, [.get: .listPool]),
        Route(
            "/v1/rooms/{room}/waveforms/{waveform}", for: .session, .fixed, policy: .privateData,
            [.get: .getWaveform]),
        Route("/v1/rooms/{room}/statistics", for: .session, .json, [.get: .getRoomStatistics]),
        Route("/v1/rooms/{room}/statistics/plays", for: .session, .json, [.get: .listRoomPlays]),
        Route("/v1/rooms/{room}/statistics/tracks", for: .session, .json, [.get: .listRoomTracks]),
        Route("/v1/rooms/{room}/statistics/artists", for: .session, .json, [.get: .listRoomArtists]),
        Route("/v1/rooms/{room}/commands", for: .session, .json, [.post: .sendCommand]),

        Route("/v1/statistics/tracks", for: .session, .json, [.get: .listTopTracks]),
        Route("/v1/statistics/artists", for: .session, .json, [.get: .listTopArtists]),

        Route("/v1/rooms/{room}/socket", for: .session, .socket, [.get: .openRoomSocket]),
        Route("/v1/socket", for: .session, .socket, [.get: .openSocket]),
    ]

    /// A path that shows the page.
    private static func page(_ path: String) -> Route {
        Route(path, for: .anybody, .fixed, policy: .page(.revalidated), [.get: .getPage])
    }

    /// The path of a file that keeps it in all versions of the page.
    private static func file(_ path: String) -> Route {
        Route(path, for: .anybody, .fixed, policy: .page(.revalidated), [.get: .getFile])
    }

    /// The routes that the description of the API has: all but those of the page.
    static let api = all.filter { $0.policy.content == .data }

    /// The routes on which WebSockets are opened.
    static let sockets = all.filter { $0.form == .socket }

    /// The routes on the port of clients.
    static func ofClients(_ settings: RoomServerSettings) -> [Route] {
        all.filter { route in
            route.operations.allSatisfy { _, operation in
                switch operation {
                case .getMetrics: settings.metricsAddress == nil
                case .getPage, .getAsset, .getFile: settings.page.isThere
                case .getAuthority: settings.developmentAuthority != nil
                // Without a page, for browsers that have an earlier one's.
                case .getServiceWorker: true
                case .getHealth, .getReadiness, .getDescription, .createSession, .getSession, .renameSession,
                    .deleteSession, .listSessionRooms, .createRoom, .listRooms, .listNearbyRooms, .getRoom,
                    .listEvents, .listPool, .getWaveform, .sendCommand, .getRoomStatistics, .listRoomPlays,
                    .listRoomTracks, .listRoomArtists, .listTopTracks, .listTopArtists, .openRoomSocket, .openSocket:
                    true
                }
            }
        }
    }
}
