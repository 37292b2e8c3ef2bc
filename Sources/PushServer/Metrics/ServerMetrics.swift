import CoreMetrics
import NIOCore
import PrometheusMetrics
import RoomService
import Synchronization
import TLSTransport

/// The metrics of connections and of the process, and the text that `GET /metrics` answers.
final class ServerMetrics: Sendable {
    /// A counter, and the field of a tally that it shows.
    private struct Source {
        var counter: Counter
        var count: @Sendable (ConnectionTally) -> Int
    }

    private let registry: PrometheusRegistry
    private let process: ProcessMetrics?
    private let webSocketConnections: Meter
    private let httpConnections: Meter
    private let subscriptions: Meter
    private let queuedBytes: Meter
    private let waitingBytes: Meter
    private let liveRooms: Meter
    private let nearbyRooms: Meter
    private let nearbySubscriptions: Meter
    private let nearbyAge: Meter
    private let statisticsSubscriptions: Meter
    private let certificateEnd: Meter?
    private let certificateRefused: Meter?
    private let sources: [Source]
    /// The amount of each source that its counter contains.
    private let counted: Mutex<[Int]>

    /// Makes all metrics in `registry`, so that each exists with the value zero from the start.
    ///
    /// That of a certificate exists only if the server `hasCertificate`.
    init(registry: PrometheusRegistry, version: String, node: String, hasCertificate: Bool = false) {
        registry.describe(Self.help)
        self.registry = registry
        process = ProcessMetrics(registry: registry)
        func meter(_ name: String, _ dimensions: [(String, String)] = []) -> Meter {
            Meter(label: name, dimensions: dimensions, factory: registry)
        }
        webSocketConnections = meter("backline_connections", [("protocol", "websocket")])
        httpConnections = meter("backline_connections", [("protocol", "http")])
        subscriptions = meter("backline_subscriptions")
        queuedBytes = meter("backline_queued_bytes")
        waitingBytes = meter("backline_waiting_bytes")
        liveRooms = meter("backline_rooms_live")
        nearbyRooms = meter("backline_nearby_rooms")
        nearbySubscriptions = meter("backline_nearby_subscriptions")
        nearbyAge = meter("backline_nearby_age_seconds")
        statisticsSubscriptions = meter("backline_statistics_subscriptions")
        certificateEnd = hasCertificate ? meter("backline_certificate_end_seconds") : nil
        certificateRefused = hasCertificate ? meter("backline_certificate_refused") : nil
        meter("backline_build_info", [("version", version), ("node", node)]).set(1)
        sources = Self.sources(registry)
        counted = Mutex(sources.map { _ in 0 })
    }

    /// Returns the present values of all metrics in Prometheus' text format.
    ///
    /// - Parameters:
    ///   - tallies: the tally of every event loop, each requested on its loop just before.
    ///   - httpConnections: the open connections that are no WebSockets.
    ///   - liveRooms: the rooms in memory.
    ///   - waitingBytes: the bytes that wait for peers in memory of their own.
    ///   - nearby: the state of the directory that nearby searches use.
    ///   - certificate: the server's certificate; nil: there is none.
    /// - Returns: UTF-8 text, for `Content-Type: text/plain; version=0.0.4; charset=utf-8`.
    func exposition(
        of tallies: [ConnectionTally], httpConnections: Int, liveRooms: Int, waitingBytes: Int,
        nearby: NearbyRooms.Standing, certificate: ServerCertificate? = nil
    ) -> [UInt8] {
        let sum = tallies.reduce(ConnectionTally(), +)
        counted.withLock { counted in
            for (place, source) in sources.enumerated() {
                // Two scrapes at once may bring their tallies in either order, so a counter only adds what it lacks.
                let count = source.count(sum)
                guard count > counted[place] else { continue }
                source.counter.increment(by: count - counted[place])
                counted[place] = count
            }
        }
        webSocketConnections.set(sum.openConnections)
        self.httpConnections.set(httpConnections)
        subscriptions.set(sum.subscriptions)
        queuedBytes.set(sum.queuedBytes)
        self.liveRooms.set(liveRooms)
        self.waitingBytes.set(waitingBytes)
        nearbyRooms.set(nearby.rooms)
        nearbySubscriptions.set(nearby.watches)
        nearbyAge.set(nearby.secondsSinceReading)
        statisticsSubscriptions.set(sum.statisticsSubscriptions)
        if let certificate {
            certificateEnd?.set(certificate.validity.upperBound)
            certificateRefused?.set(certificate.refusal == nil ? 0 : 1)
        }
        process?.collect()
        return registry.exposition()
    }

    /// Starts to measure how late an event loop runs its scheduled work; call on the loop, and keep the result.
    func probe(_ loop: any EventLoop, index: Int) -> EventLoopProbe {
        EventLoopProbe(
            loop: loop,
            lag: CoreMetrics.Timer(
                label: "backline_event_loop_lag_seconds", dimensions: [("loop", "\(index)")], factory: registry))
    }

    // MARK: Counters

    private static func sources(_ registry: PrometheusRegistry) -> [Source] {
        func source(
            _ name: String, _ dimensions: [(String, String)] = [], _ count: @escaping @Sendable (ConnectionTally) -> Int
        ) -> Source {
            Source(counter: Counter(label: name, dimensions: dimensions, factory: registry), count: count)
        }
        func frames(
            _ direction: String, _ frames: @escaping @Sendable (ConnectionTally) -> ConnectionTally.Frames
        ) -> [Source] {
            let name = "backline_websocket_frames_\(direction)_total"
            return [
                source(name, [("opcode", "text")]) { frames($0).text },
                source(name, [("opcode", "binary")]) { frames($0).binary },
                source(name, [("opcode", "ping")]) { frames($0).ping },
                source(name, [("opcode", "pong")]) { frames($0).pong },
                source(name, [("opcode", "close")]) { frames($0).close },
            ]
        }
        let handshakes = (ConnectionTally.knownStatuses + [0]).map { status in
            source("backline_websocket_handshakes_total", [("status", status == 0 ? "other" : "\(status)")]) {
                $0.handshakes[status] ?? 0
            }
        }
        let closes = (ConnectionTally.knownCloseCodes + [0]).map { code in
            source("backline_websocket_closes_total", [("code", code == 0 ? "other" : "\(code)")]) {
                $0.closes[code] ?? 0
            }
        }
        return frames("received") { $0.framesReceived } + frames("sent") { $0.framesSent } + handshakes + closes + [
            source("backline_websocket_received_bytes_total") { $0.bytesReceived },
            source("backline_websocket_sent_bytes_total") { $0.bytesSent },
            source("backline_deltas_sent_total") { $0.deltasSent },
            source("backline_deltas_left_out_total") { $0.deltasLeftOut },
            source("backline_live_messages_sent_total") { $0.ephemeralSent },
            source("backline_live_messages_left_out_total") { $0.ephemeralLeftOut },
            source("backline_signals_sent_total") { $0.signalsSent },
            source("backline_collapses_total") { $0.collapses },
            source("backline_messages_rate_limited_total") { $0.messagesRateLimited },
            source("backline_connections_refused_total") { $0.connectionsRefused },
        ]
    }

    private static let help = [
        "backline_build_info": "Always 1; the labels name the version and the node.",
        "backline_certificate_end_seconds": "When the certificate ends, in seconds since 1970.",
        "backline_certificate_refused": "1 while the certificate's files cannot be used and an older one is in use.",
        "backline_connections": "Open connections, by protocol.",
        "backline_subscriptions": "Rooms that connections follow, counted once for each connection.",
        "backline_queued_bytes": "Bytes that wait to be sent to WebSocket clients.",
        "backline_waiting_bytes": "Bytes that wait for clients, in steps of 16 KiB; a shared state counts once.",
        "backline_rooms_live": "Rooms in memory.",
        "backline_nearby_rooms": "Open public rooms that have a place.",
        "backline_nearby_subscriptions": "Nearby subscriptions of all connections.",
        "backline_statistics_subscriptions": "Subscriptions of all connections to statistics.",
        "backline_nearby_age_seconds": "Seconds since the places of rooms were last read from the log.",
        "backline_event_loop_lag_seconds": "How late an event loop runs its scheduled work, in seconds.",
        "backline_websocket_handshakes_total": "Opening handshakes answered, by HTTP status; 101 is accepted.",
        "backline_websocket_closes_total": "WebSocket connections that ended, by close code.",
        "backline_websocket_frames_received_total": "WebSocket messages and control frames received, by opcode.",
        "backline_websocket_frames_sent_total": "WebSocket messages and control frames sent, by opcode.",
        "backline_websocket_received_bytes_total": "Bytes of WebSocket frames received.",
        "backline_websocket_sent_bytes_total": "Bytes of WebSocket frames sent.",
        "backline_deltas_sent_total": "Deltas sent to followers, one for each follower.",
        "backline_deltas_left_out_total": "Deltas not sent to a follower that did not keep up.",
        "backline_live_messages_sent_total":
            "Changes of presence and reactions sent to followers, one for each follower.",
        "backline_live_messages_left_out_total":
            "Changes of presence and reactions not sent to a follower that did not keep up.",
        "backline_signals_sent_total": "Signals sent to members' connections, one for each connection.",
        "backline_collapses_total": "Snapshots sent in place of deltas that were left out.",
        "backline_messages_rate_limited_total": "Messages of sockets refused because a client sent too many.",
        "backline_connections_refused_total": "Connections refused because their address has too many.",
    ]
}
