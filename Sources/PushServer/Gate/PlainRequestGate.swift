import HTTPTransport
import WebSocketCodec

/// Makes the handlers that answer requests without TLS on the port for TLS.
struct PlainRequestGate: Sendable {
    private let maximumHeadLength: Int
    private let pages: [Route]
    /// Not those of a secure answer: a browser must not take the rule for https from one that anybody may have changed.
    private let fields = SecurityFields(isSecure: false).headerFields

    init(_ settings: RoomServerSettings) {
        maximumHeadLength = settings.sizes.maximumHeadLength
        pages = Routes.ofClients(settings).filter { $0.policy.content == .page }
    }

    /// Makes the handler of one connection; `isAdmitted` counts its request.
    func handler(isAdmitted: @escaping () -> Bool) -> PlainRequestHandler {
        let request = PlainRequest(maximumHeadLength: maximumHeadLength) { [pages] path in
            let page = PathRule.roomPage(for: path) ?? String(path)
            return PathRule.isPlain(page) && pages.contains { $0.matches(page) }
        }
        return PlainRequestHandler(request, fields: fields, isAdmitted: isAdmitted)
    }
}
