/// The origins whose pages may open sockets and change something: the server's own and those on the operator's list.
///
/// A browser sends cookies with a socket's handshake from any page, so this rule keeps the page of another site from
/// using a visitor's session. Programs send no `Origin` and are not affected.
struct OriginRule: Equatable, Sendable {
    /// Origins on the list.
    let allowed: Set<WebOrigin>
    /// Whether the server itself speaks TLS.
    let isSecure: Bool
    /// Whether the requests come through a trusted proxy, whose fields name the address that the browser has asked for.
    ///
    /// No page can have a browser send these fields to another site.
    var isBehindProxy = false

    /// The fields in which proxies name the address.
    private static let proxyFields = ["Forwarded", "X-Forwarded-Host", "X-Forwarded-Port"]

    /// Checks the request whose fields `values` returns by their names.
    ///
    /// One with more than one `Origin` is refused.
    func check(_ values: (_ field: String) -> [String]) throws(ForeignOrigin) {
        let origins = values("Origin")
        guard let text = origins.first else { return }
        if origins.count == 1, let origin = WebOrigin(text) {
            if allowed.contains(origin) { return }
            // Behind a proxy that ends TLS, the page's scheme is https while this server's is not.
            let isScheme = origin.scheme == .https || !isSecure
            if isScheme, own(values).contains(where: { WebOrigin(origin.scheme, $0) == origin }) { return }
        }
        let told = ["Host"] + (isBehindProxy ? Self.proxyFields : [])
        throw ForeignOrigin(origin: text, host: told.flatMap(values).joined(separator: ", "))
    }

    /// The addresses of the server by which the request may have come.
    private func own(_ values: (_ field: String) -> [String]) -> [WebAuthority] {
        let hosts = values("Host")
        var own = hosts.count == 1 ? hosts.compactMap { WebAuthority($0) } : []
        guard isBehindProxy else { return own }
        // The first element of a list is what the outermost proxy says.
        func first(_ field: String) -> String? {
            values(field).first?.split(separator: ",").first.map { String($0.trimmed) }
        }
        for pair in first("Forwarded")?.split(separator: ";") ?? [] where pair.trimmed.lowercased().hasPrefix("host=") {
            let value = pair.trimmed.dropFirst("host=".count).filter { $0 != "\"" }
            own += [WebAuthority(value)].compactMap { $0 }
        }
        if let host = first("X-Forwarded-Host").flatMap({ WebAuthority($0) }) { own.append(host) }
        if let port = first("X-Forwarded-Port").flatMap({ UInt16($0) }) {
            for var address in own {
                address.port = port
                own.append(address)
            }
        }
        return own
    }
}

extension OriginRule {
    /// The rule of a server for the connections of `peer`.
    init(_ settings: RoomServerSettings, for peer: PeerAddress?) {
        self.init(
            allowed: settings.allowedOrigins, isSecure: settings.tls != nil,
            isBehindProxy: peer.map { TrustedProxies(networks: settings.trustedProxies).contains($0) } ?? false)
    }
}

extension Substring {
    /// The text without blanks at its ends.
    fileprivate var trimmed: Substring {
        let rest = drop { $0 == " " || $0 == "\t" }
        return rest.dropLast(rest.reversed().prefix { $0 == " " || $0 == "\t" }.count)
    }
}
