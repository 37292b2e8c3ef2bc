import CoreMetrics
import Glibc
import NIOCore
import NIOPosix
import PrometheusMetrics
import RandomTestSupport
import RoomService
import SimulatedTime
import Testing

@testable import PushServer

/// The conversion of tallies to metrics.
@Suite struct ServerMetricsTests {
    let registry = PrometheusRegistry()
    let nearby = NearbyRooms.Standing(
        rooms: 11, watches: 3, searchesForWatches: 40, secondsSinceReading: 0.25)

    private func samples(_ bytes: [UInt8]) -> [String: Double] {
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        return lines.filter { !$0.hasPrefix("#") }.reduce(into: [:]) { samples, line in
            guard let space = line.lastIndex(of: " ") else { return }
            samples[String(line[..<space])] = Double(line[line.index(after: space)...])
        }
    }

    @Test func `counts of all loops are added up, once`() {
        let metrics = ServerMetrics(registry: registry, version: "1.0", node: "a")
        var one = ConnectionTally()
        one.framesReceived.text = 3
        one.framesSent.ping = 2
        one.bytesSent = 100
        one.openConnections = 5
        one.queuedBytes = 7
        one.handshakeAnswered(status: 101)
        one.handshakeAnswered(status: 418)
        one.closed(code: 1000)
        one.closed(code: 4999)
        var other = ConnectionTally()
        other.framesReceived.text = 4
        other.closed(code: 1000)
        other.openConnections = 1
        for _ in 0..<2 {
            let samples = samples(
                metrics.exposition(
                    of: [one, other], httpConnections: 2, liveRooms: 9, waitingBytes: 12, nearby: nearby))
            #expect(samples[#"backline_websocket_frames_received_total{opcode="text"}"#] == 7)
            #expect(samples[#"backline_websocket_frames_sent_total{opcode="ping"}"#] == 2)
            #expect(samples["backline_websocket_sent_bytes_total"] == 100)
            #expect(samples[#"backline_websocket_closes_total{code="1000"}"#] == 2)
            #expect(samples[#"backline_websocket_closes_total{code="other"}"#] == 1)
            #expect(samples[#"backline_websocket_handshakes_total{status="101"}"#] == 1)
            #expect(samples[#"backline_websocket_handshakes_total{status="other"}"#] == 1)
            #expect(samples[#"backline_connections{protocol="websocket"}"#] == 6)
            #expect(samples[#"backline_connections{protocol="http"}"#] == 2)
            #expect(samples["backline_rooms_live"] == 9)
            #expect(samples["backline_nearby_rooms"] == 11)
            #expect(samples["backline_nearby_subscriptions"] == 3)
            #expect(samples["backline_nearby_age_seconds"] == 0.25)
            #expect(samples["backline_queued_bytes"] == 7)
            #expect(samples["backline_waiting_bytes"] == 12)
            #expect(samples[#"backline_build_info{node="a",version="1.0"}"#] == 1)
        }
    }

    @Test func `tallies that arrive in the wrong order do not decrease a counter`() {
        let metrics = ServerMetrics(registry: registry, version: "1.0", node: "a")
        var tally = ConnectionTally()
        for (sent, expected) in [(10, 10), (7, 10), (12, 12)] {
            tally.deltasSent = sent
            let samples = samples(
                metrics.exposition(of: [tally], httpConnections: 0, liveRooms: 0, waitingBytes: 0, nearby: nearby))
            #expect(samples["backline_deltas_sent_total"] == Double(expected))
        }
    }

    @Test func `every metric has a help text and every help text a metric`() async throws {
        let metrics = ServerMetrics(registry: registry, version: "1.0", node: "a")
        try await VirtualTime.run(seed: TestSeed.fresh()) { time in
            let loop = time.makeLoop()
            try await loop.submit { metrics.probe(loop, index: 0).stop() }.get()
        }
        let text = String(
            decoding: metrics.exposition(of: [], httpConnections: 0, liveRooms: 0, waitingBytes: 0, nearby: nearby),
            as: UTF8.self)
        let lines = text.split(separator: "\n")
        func names(_ kind: String) -> [Substring] {
            lines.filter { $0.hasPrefix("# \(kind) ") }.map { $0.split(separator: " ")[2] }
        }
        #expect(names("HELP") == names("TYPE"))
        #expect(names("TYPE").count(where: { $0.hasPrefix("backline_") }) == 25)
    }

    @Test func `a loop's lag is measured four times a second, until the end`() async throws {
        let metrics = ServerMetrics(registry: registry, version: "1.0", node: "a")
        func measured() -> Double {
            samples(registry.exposition())[#"backline_event_loop_lag_seconds_count{loop="0"}"#] ?? 0
        }
        try await VirtualTime.run(seed: TestSeed.fresh()) { time in
            let loop = time.makeLoop()
            let box = try await loop.submit { NIOLoopBound(metrics.probe(loop, index: 0), eventLoop: loop) }.get()
            await time.advance(by: .milliseconds(999))
            #expect(measured() == 3)
            await time.advance(by: .milliseconds(1))
            #expect(measured() == 4)
            try await loop.submit { box.value.stop() }.get()
            await time.advance(by: .seconds(2))
            #expect(measured() == 4)
        }
    }

    /// In real time, since a loop on virtual time never does anything late.
    @Test func `a stalled loop is seen`() async throws {
        let metrics = ServerMetrics(registry: registry, version: "1.0", node: "a")
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let box = try await loop.submit { NIOLoopBound(metrics.probe(loop, index: 0), eventLoop: loop) }.get()
        try await loop.submit { _ = usleep(800_000) }.get()
        // Every deadline during the stall was late by more than half a second.
        func lateByHalfASecond() -> Double {
            let samples = samples(registry.exposition())
            let name = "backline_event_loop_lag_seconds_bucket"
            return (samples[name + #"{loop="0",le="+Inf"}"#] ?? 0) - (samples[name + #"{loop="0",le="0.5"}"#] ?? 0)
        }
        while lateByHalfASecond() == 0 { await Task.yield() }
        try await loop.submit { box.value.stop() }.get()
        try await group.shutdownGracefully()
    }

    @Test func `sums of tallies are field by field`() {
        var one = ConnectionTally()
        one.framesReceived = .init(text: 1, binary: 2, ping: 4, pong: 5, close: 6)
        one.framesSent = .init(text: 7, binary: 8, ping: 10, pong: 11, close: 12)
        one.bytesReceived = 13
        one.bytesSent = 14
        one.deltasSent = 15
        one.deltasLeftOut = 16
        one.collapses = 17
        one.messagesRateLimited = 18
        one.connectionsRefused = 19
        one.openConnections = 20
        one.subscriptions = 21
        one.queuedBytes = 22
        one.closed(code: 1006)
        one.handshakeAnswered(status: 429)
        #expect(one + ConnectionTally() == one)
        #expect(ConnectionTally() + one == one)
        func ints(_ value: Any) -> [Int] {
            Mirror(reflecting: value).children.flatMap { ($0.value as? Int).map { [$0] } ?? ints($0.value) }
        }
        #expect(ints(one + one).sorted() == ints(one).map { $0 == 1006 || $0 == 429 ? $0 : $0 * 2 }.sorted())
    }
}
