/// The start line and fields of an HTTP/1 request.
package struct RequestHead: Equatable, Sendable {
    /// A token, `GET` for a WebSocket.
    package let method: String
    /// The target as in the start line: visible ASCII, not decoded.
    package let target: String
    /// Whether the version is 1.1 rather than 1.0.
    package let isHTTP11: Bool
    /// The fields between the start line and the empty line.
    package let fields: HeaderFields

    /// Makes the head of a request that other code has parsed; `method` is a token and `target` visible ASCII.
    package init(method: String, target: String, isHTTP11: Bool, fields: HeaderFields) {
        self.method = method
        self.target = target
        self.isHTTP11 = isHTTP11
        self.fields = fields
    }

    /// Whether the client wants to switch from HTTP to WebSocket: `Upgrade` names `websocket`.
    ///
    /// ``ServerHandshake`` checks whether the request is a correct handshake.
    package var asksForWebSocket: Bool {
        self.fields.contains("websocket", in: "Upgrade")
    }

    /// The path of the target, not decoded, without the query; empty for a target that has none (`*`, `host:port`).
    package var path: Substring {
        self.pathAndQuery.prefix { $0 != "?" }
    }

    /// The part of the target after the first `?`, not decoded.
    package var query: Substring? {
        let text = self.pathAndQuery
        return text.firstIndex(of: "?").map { text[text.index(after: $0)...] }
    }

    /// The target without the scheme and authority of an absolute one (RFC 9112 §3.2.2).
    private var pathAndQuery: Substring {
        if self.target.hasPrefix("/") { return self.target[...] }
        for scheme in ["http://", "https://"]
        where asciiCaseInsensitiveEqual(String(self.target.prefix(scheme.count)), scheme) {
            let rest = self.target.dropFirst(scheme.count)
            return rest.firstIndex(of: "/").map { rest[$0...] } ?? ""
        }
        return ""
    }
}
