import HTTPTypes

/// What the server does at a path with a method, by the name that the API's description gives it.
enum Operation: String, CaseIterable, Sendable {
    case getHealth, getReadiness, getMetrics, getDescription
    case createSession, getSession, renameSession, deleteSession
    case createRoom, listRooms, listNearbyRooms, getRoom, listEvents, listPool, sendCommand
    case openRoomSocket, openSocket
}

/// One path of the server: its methods, who may ask, and what its answers tell a browser.
struct Route: Sendable {
    /// Who may ask.
    enum Access: Sendable {
        /// Anybody.
        case anybody
        /// A request with a session's token.
        case session
        /// Anybody; on the port of clients only where metrics have no address of their own.
        case metrics
    }

    /// What is asked for and answered.
    enum Form: Sendable {
        /// An answer that does not depend on what the request accepts.
        case fixed
        /// JSON both ways: a request that wants or brings anything else is refused.
        case json
        /// A WebSocket. A request that is no opening handshake is treated as one for JSON, and refused.
        case socket
    }

    /// The path; a segment in braces is a parameter and stands for any text.
    let path: String
    let access: Access
    let form: Form
    /// What an answer tells a browser where nothing went wrong; problems have the policy of data.
    let policy: AnswerPolicy
    /// What is done, by method, in the order in which clients are told of the methods; GET answers HEAD too.
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

    /// The value of `Allow`: the methods of the path; HEAD is not among those of a socket.
    var allow: String {
        operations.flatMap { $0.key == .get && form != .socket ? ["GET", "HEAD"] : [$0.key.rawValue] }
            .joined(separator: ", ")
    }

    /// Whether a request's path, without its query, is this one.
    func matches(_ path: some StringProtocol) -> Bool {
        guard path.first == "/" else { return false }
        let parts = Self.segments(of: path)
        return parts.count == segments.count && zip(segments, parts).allSatisfy { Self.isParameter($0) || $0 == $1 }
    }

    /// The text that stands in a matching path for a parameter; nil where the route has none of this name.
    func parameter<Path: StringProtocol>(_ name: String, in path: Path) -> Path.SubSequence? {
        zip(segments, Self.segments(of: path)).first { $0.0 == "{\(name)}" }?.1
    }

    /// Whether a segment stands for any text.
    static func isParameter(_ segment: Substring) -> Bool { segment.first == "{" }

    private static func segments<Path: StringProtocol>(of path: Path) -> [Path.SubSequence] {
        Array(path.split(separator: "/", omittingEmptySubsequences: false).dropFirst())
    }
}
