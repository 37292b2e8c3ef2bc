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

/// The description that `/openapi.json` serves, compared with the actual routes.
@Suite struct APIDescriptionTests {
    /// One described operation.
    private struct Described: Hashable {
        var name: String?
        /// Such as `GET /v1/rooms/{room}`.
        var request: String
        var needsSession: Bool
    }

    private func operations() throws -> Set<Described> {
        let description = try JSONValue(parsing: Array(APIDescription.json.utf8))
        let paths = try #require(description.object?["paths"]?.object)
        var operations: Set<Described> = []
        for path in paths.members {
            for method in try #require(path.value.object).members where method.name != "parameters" {
                let operation = try #require(method.value.object)
                operations.insert(
                    Described(
                        name: operation["operationId"]?.string, request: "\(method.name.uppercased()) \(path.name)",
                        // Empty, which overrides the default for all operations.
                        needsSession: operation["security"]?.array?.isEmpty != true))
            }
        }
        return operations
    }

    private func described() throws -> Set<String> { Set(try operations().map(\.request)) }

    /// The routes of a server, without HEAD, which every GET answers.
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
            foreignOrigins: ForeignOriginLog(logger: logger), isStopping: { false }, metrics: { [] }, logger: logger)
        let routes = api.router().routes.filter { $0.method != .head }.map { "\($0.method.rawValue) \($0.path)" }
        // The page's routes are files, and no operations of the API.
        return Set(routes).subtracting(Routes.all.filter { $0.policy.content == .page }.map { "GET \($0.pattern)" })
    }

    @Test func `every route is described and every described operation has its route`() throws {
        let described = try described()
        #expect(routed() == described)
        #expect(described.count > 10)
    }

    @Test func `the table has the operations, the paths and the sessions of the description`() throws {
        let table = Routes.api.flatMap { route in
            route.operations.map { method, operation in
                Described(
                    name: operation.rawValue, request: "\(method.rawValue) \(route.path)",
                    needsSession: route.access == .session)
            }
        }
        #expect(try operations() == Set(table))
        let operations = Routes.all.flatMap { $0.operations.map(\.value) }
        #expect(Set(operations) == Set(Operation.allCases))
        #expect(Set(table.compactMap(\.name)).count == table.count)
    }

    /// A room with such a code would not be found at its path.
    @Test func `no room gets a code that another path has`() {
        let parameters = Routes.all.filter { $0.segments.contains("{room}") }
        var words: Set<String> = []
        for route in Routes.all {
            for (place, segment) in route.segments.enumerated() where !Route.isParameter(segment) {
                let isWhereARoomIs = parameters.contains { parameter in
                    parameter.segments.count > place && parameter.segments[place] == "{room}"
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
        for route in Routes.api {
            for method in route.allow.split(separator: ", ") where method != "HEAD" {
                told.insert("\(method) \(route.path)")
            }
        }
        let described = try described()
        #expect(told == described)
    }
}
