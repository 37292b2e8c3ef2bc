import HTTPTypes

/// The operation of a path and a method, by its name in the description of the API.
enum Operation: String, CaseIterable, Sendable {
    case getHealth, getReadiness, getMetrics, getDescription
    case getPage, getAsset, getServiceWorker, getFile, getAuthority
    case createSession, getSession, renameSession, deleteSession, listSessionRooms
    case createRoom, listRooms, listNearbyRooms, getRoom, listEvents, listPool, getWaveform, sendCommand
    case getRoomStatistics, listRoomPlays, listRoomTracks, listRoomArtists, listTopTracks, listTopArtists
    case openRoomSocket, openSocket
}

/// One path of the server: its methods, the access it needs, and what its answers tell a browser.
struct Route: Sendable {
    /// The access that a request needs.
    enum Access: Sendable {
        /// None.
        case anybody
        /// A request with a session's token.
        case session
        /// None; on the port of clients, only if metrics have no address of their own.
        case metrics
    }

    /// The form of requests and answers.
    enum Form: Sendable {
        /// An answer that does not depend on what the request accepts.
        case fixed
        /// JSON both ways: a request that wants or contains anything else is refused.
        case json
        /// A WebSocket. A request that is no opening handshake is treated as one of the form `json`, and refused.
        case socket
    }

    /// The path, in which a segment in braces is a parameter and stands for any text.
    ///
    /// With a plus sign, as in `{+path}`, the last one stands for one or more segments (RFC 6570 §3.2.3).
    let path: String
    let access: Access
    let form: Form
    /// The policy of successful answers; problems have the policy of data.
    let policy: AnswerPolicy
    /// The operations by method, in the order in which `Allow` lists the methods; GET answers HEAD too.
    let operations: KeyValuePairs<HTTPRequest.Method, Operation>

    /// The parts of the path between slashes.
    let segments: [Substring]

    init(
        _ path: String, for access: Access, _ form: Form, policy: AnswerPolicy = .data,
        _ operations: KeyValuePairs<HTTPRequest.Method, Operation>
    ) {
        self.path = path
        self.access = access
        self.form = form
        self.policy = policy
        self.operations = operations
        segments = Self.segments(of: path)
    }

    /// The value of `Allow`: the methods of the path; a socket has no HEAD.
    var allow: String {
        operations.flatMap { $0.key == .get && form != .socket ? ["GET", "HEAD"] : [$0.key.rawValue] }
            .joined(separator: ", ")
    }

    /// Whether this route serves a request's path, which is given without its query.
    func matches(_ path: some StringProtocol) -> Bool {
        guard path.first == "/" else { return false }
        let parts = Self.segments(of: path)
        return (parts.count == segments.count || isOpenEnded && parts.count > segments.count)
            && zip(segments, parts).allSatisfy { Self.isParameter($0) || $0 == $1 }
    }

    /// The text of a parameter in a matching path; nil if the route has no parameter of this name.
    func parameter<Path: StringProtocol>(_ name: String, in path: Path) -> Path.SubSequence? {
        zip(segments, Self.segments(of: path)).first { $0.0 == "{\(name)}" }?.1
    }

    /// The path in the form that the router reads.
    var pattern: String {
        isOpenEnded ? "/" + (segments.dropLast() + ["**"]).joined(separator: "/") : path
    }

    /// Whether the last segment stands for any number of them.
    private var isOpenEnded: Bool { segments.last?.hasPrefix("{+") == true }

    /// Whether a segment stands for any text.
    static func isParameter(_ segment: Substring) -> Bool { segment.first == "{" }

    private static func segments<Path: StringProtocol>(of path: Path) -> [Path.SubSequence] {
        Array(path.split(separator: "/", omittingEmptySubsequences: false).dropFirst())
    }
}
