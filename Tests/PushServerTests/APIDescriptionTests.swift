import EventStorage
import HTTPTypes
import Hummingbird
import Logging
import NIOPosix
import PrometheusMetrics
import RoomDomain
import RoomService
import RoomWire
import Testing

@testable import PushServer

/// The description that `/openapi.json` serves against the routes that there are.
@Suite struct APIDescriptionTests {
    /// The described operations, such as `GET /v1/rooms/{room}`.
    private func described() throws -> Set<String> {
        let description = try JSONValue(parsing: Array(APIDescription.json.utf8))
        let paths = try #require(description.object?["paths"]?.object)
        var operations: Set<String> = []
        for path in paths.members {
            for method in try #require(path.value.object).members where method.name != "parameters" {
                operations.insert("\(method.name.uppercased()) \(path.name)")
            }
        }
        return operations
    }

    /// The routes of a server, HEAD left out: every GET answers it.
    private func routed() -> Set<String> {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let rooms = RoomHost(
            store: MemoryEventStore(), settings: RoomHostSettings(), loops: [loop],
            clock: ServerClock(milliseconds: { 0 }), logger: logger)
        let settings = RoomServerSettings(version: "1", node: "a")
        let api = HTTPAPI(
            rooms: rooms, settings: settings, feeds: [], addresses: AddressLimit(maximum: 0, proxies: []),
            admission: Admission(settings, registry: PrometheusRegistry()),
            authenticator: Authenticator(rooms: rooms, tokens: settings.tokens, logger: logger),
            isStopping: { false }, metrics: { [] }, logger: logger)
        return Set(api.router().routes.filter { $0.method != .head }.map { "\($0.method.rawValue) \($0.path)" })
    }

    @Test func `every route is described and every described operation has its route`() throws {
        let described = try described()
        #expect(routed() == described)
        #expect(described.count > 10)
    }

    /// Such a room would not be found at its path.
    @Test func `no room gets a code that another path has`() {
        let parameters = APIRoute.all.filter { $0.segments.contains(":room") }
        var words: Set<String> = []
        for route in APIRoute.all {
            for (place, segment) in route.segments.enumerated() where !segment.hasPrefix(":") {
                let isWhereARoomIs = parameters.contains { parameter in
                    parameter.segments.count > place && parameter.segments[place] == ":room"
                        && parameter.segments[..<place] == route.segments[..<place]
                }
                if isWhereARoomIs { words.insert(String(segment)) }
            }
        }
        #expect(words == ["nearby"])
        for case .code(let code)? in words.map({ RoomReference($0) }) {
            #expect(RoomCode(random: UInt64(code.value)) != code)
        }
    }

    @Test func `a wrong method is told exactly the routes of its path`() throws {
        var told: Set<String> = []
        for route in APIRoute.all {
            for method in route.allow.split(separator: ", ") where method != "HEAD" {
                let segments = route.segments.map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : "\($0)" }
                told.insert("\(method) /\(segments.joined(separator: "/"))")
            }
        }
        let described = try described()
        #expect(told == described)
    }
}
