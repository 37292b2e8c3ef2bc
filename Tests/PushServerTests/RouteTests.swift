import RoomTestSupport
import Testing
import WebClient

@testable import PushServer

@Suite struct RouteTests {
    private func route(_ path: String) -> String? { Routes.all.first { $0.matches(path) }?.path }

    @Test(arguments: [
        ("/healthz", "/healthz"), ("/v1/rooms", "/v1/rooms"), ("/v1/rooms/nearby", "/v1/rooms/nearby"),
        ("/v1/rooms/ABC123", "/v1/rooms/{room}"), ("/v1/rooms/ABC123/pool", "/v1/rooms/{room}/pool"),
        ("/v1/socket", "/v1/socket"), ("/v1/rooms/nearby/socket", "/v1/rooms/{room}/socket"),
        ("/", "/"), ("/r/ABC123", "/r/{code}"), ("/nearby", "/nearby"), ("/r", nil), ("/r/ABC123/x", nil),
        ("/assets/1/main.js", "/assets/{version}/{+path}"), ("/assets/1/view/a/b.js", "/assets/{version}/{+path}"),
        ("/assets/1", nil), ("/assets", nil), ("/icon.svg", "/icon.svg"), ("/index.html", nil),
        ("", nil), ("healthz", nil), ("x/healthz", nil), ("/healthz/", nil), ("//healthz", nil),
        ("/v1", nil),
        ("/v1/rooms/a/waveforms/b", "/v1/rooms/{room}/waveforms/{waveform}"), ("/v1/rooms/a/waveforms", nil),
        ("/v1/rooms/a/b", nil), ("/V1/rooms", nil), ("/v1/rooms/a/pool/b", nil),
    ])
    func `a path is matched segment by segment`(path: String, expected: String?) {
        #expect(route(path) == expected)
    }

    @Test func `Allow has the methods of a path, and HEAD where there is GET`() {
        let allowed = Dictionary(uniqueKeysWithValues: Routes.all.map { ($0.path, $0.allow) })
        #expect(
            allowed == [
                "/healthz": "GET, HEAD", "/readyz": "GET, HEAD", "/metrics": "GET, HEAD", "/openapi.json": "GET, HEAD",
                "/": "GET, HEAD", "/r/{code}": "GET, HEAD", "/nearby": "GET, HEAD",
                "/assets/{version}/{+path}": "GET, HEAD", "/service-worker.js": "GET, HEAD",
                "/manifest.webmanifest": "GET, HEAD", "/icon.svg": "GET, HEAD", "/icon-180.png": "GET, HEAD",
                "/development-ca.crt": "GET, HEAD",
                "/v1/sessions": "POST", "/v1/session": "GET, HEAD, PATCH, DELETE", "/v1/session/rooms": "GET, HEAD",
                "/v1/rooms": "GET, HEAD, POST",
                "/v1/rooms/nearby": "GET, HEAD", "/v1/rooms/{room}": "GET, HEAD",
                "/v1/rooms/{room}/events": "GET, HEAD", "/v1/rooms/{room}/pool": "GET, HEAD",
                "/v1/rooms/{room}/waveforms/{waveform}": "GET, HEAD",
                "/v1/statistics/tracks": "GET, HEAD", "/v1/statistics/artists": "GET, HEAD",
                "/v1/rooms/{room}/statistics": "GET, HEAD", "/v1/rooms/{room}/statistics/plays": "GET, HEAD",
                "/v1/rooms/{room}/statistics/tracks": "GET, HEAD", "/v1/rooms/{room}/statistics/artists": "GET, HEAD",
                "/v1/rooms/{room}/commands": "POST", "/v1/rooms/{room}/socket": "GET", "/v1/socket": "GET",
            ])
    }

    private func paths(_ change: (inout RoomServerSettings) -> Void) -> Set<String> {
        var settings = RoomServerSettings(version: "1", node: "a")
        settings.developmentAuthority = [1]
        change(&settings)
        return Set(Routes.ofClients(settings).map(\.path))
    }

    private let everything = Set(Routes.all.map(\.path))

    @Test func `clients see metrics only where they have no address of their own`() {
        #expect(paths { _ in } == everything)
        #expect(paths { $0.metricsAddress = .init("127.0.0.1:1") } == everything.subtracting(["/metrics"]))
    }

    @Test func `without a page its worker's path is left`() {
        let page: Set = [
            "/", "/r/{code}", "/nearby", "/assets/{version}/{+path}", "/manifest.webmanifest", "/icon.svg",
            "/icon-180.png",
        ]
        #expect(paths { $0.page = .none } == everything.subtracting(page))
    }

    @Test func `the authority's certificate is there if the server has made it`() {
        #expect(paths { $0.developmentAuthority = nil } == everything.subtracting(["/development-ca.crt"]))
    }

    @Test func `the page is for anybody, and its policy is that of pages`() {
        let page = Routes.all.filter { $0.policy.content == .page }
        #expect(page.count == 9)
        #expect(page.allSatisfy { $0.access == .anybody && $0.form == .fixed && $0.allow == "GET, HEAD" })
        #expect(page.filter { $0.policy == .page(.immutable) }.map(\.path) == ["/assets/{version}/{+path}"])
        #expect(page.allSatisfy { $0.policy.caching != .never })
    }

    @Test func `of the data, only waveforms may be kept, and by nobody but the browser that asked`() {
        let data = Routes.all.filter { $0.policy.content == .data && $0.policy != .data }
        #expect(data.map(\.path) == ["/v1/rooms/{room}/waveforms/{waveform}"])
        #expect(data.allSatisfy { $0.access == .session && $0.policy == .privateData })
    }

    @Test(arguments: [
        ("/", true), ("/r/ABC", true), ("/assets/1/view/a.js", true), ("//", false), ("/r/", false), ("//r/a", false),
        ("/assets/1//a.js", false), ("/assets/1/../a.js", false), ("/assets/1/%2E%2e/a.js", false),
        ("/assets/1/%2e/a.js", false), ("/assets/1/..%2Fa.js", false), ("/assets/1/..%5ca.js", false), ("", false),
        ("r", false),
    ])
    func `a plain path has neither empty segments nor dots, and no hidden slash`(path: String, isPlain: Bool) {
        #expect(PathRule.isPlain(path) == isPlain)
    }

    @Test func `a path that names a room leads to its page, as the table has it`() throws {
        let links = try RoomLinks.all()
        for row in links.addresses + links.bareAddresses {
            let page = row.room.map { "/r/\($0)" }
            #expect(PathRule.roomPage(for: row.path) == (page == row.path ? nil : page), "\(row)")
        }
    }

    @Test func `what is no code leads to the page that says so`() {
        #expect(PathRule.roomPage(for: "/r/no-room-at-all/") == "/r/no-room-at-all")
        #expect(PathRule.roomPage(for: "/R/no-room-at-all") == "/r/no-room-at-all")
        for path in [
            "/r/no-room-at-all", "/r", "/R", "/r/", "/r//", "/r/../", "/r/%2F/", "/r/ab/cd/", "/nearby/", "/x/r/",
        ] {
            #expect(PathRule.roomPage(for: path) == nil, "\(path)")
        }
    }

    @Test func `a path is looked at as far as a name may be`() {
        #expect(PathRule.roomPage(for: "/r/ABC123.\(String(repeating: "x", count: 10_000))") == "/r/ABC123")
        #expect(PathRule.roomPage(for: "\(String(repeating: "/r", count: 100))/ABC123") == nil)
    }

    @Test func `a socket's path names its room`() {
        let id = "01990000-0000-7000-8000-000000000001"
        #expect(SocketPlace(path: "/v1/socket") == .open)
        #expect(SocketPlace(path: "/v1/rooms/\(id)/socket"[...]).map { "\($0)".contains(id) } == true)
        #expect(SocketPlace(path: "/v1/rooms/-/socket") == .room(nil))
        #expect(SocketPlace(path: "/v1/rooms//socket") == .room(nil))
        for path in ["", "/", "/v1/rooms", "/v1/rooms/\(id)", "/v1/socket/", "/v1/rooms/\(id)/socket/x", "/healthz"] {
            #expect(SocketPlace(path: path[...]) == nil, "\(path)")
        }
    }

    @Test func `sockets are for sessions`() {
        #expect(Routes.sockets.count == 2)
        #expect(Routes.sockets.allSatisfy { $0.access == .session && $0.policy == .data })
    }
}
