/// The origins whose pages may open sockets and change something: the server's own and those on the operator's list.
///
/// A browser sends cookies with a socket's handshake from any page, so this rule keeps the page of another site from
/// using a visitor's session. Programs send no `Origin` and are not affected.
struct OriginRule: Equatable, Sendable {
    /// Origins on the list, lower case.
    let allowed: Set<String>
    /// Whether the server itself speaks TLS.
    let isSecure: Bool

    /// Whether a request with these fields is allowed.
    ///
    /// One with more than one `Origin` is refused.
    func permits(origins: [String], host: String?) -> Bool {
        guard let origin = origins.first?.lowercased() else { return true }
        guard origins.count == 1 else { return false }
        if allowed.contains(origin) { return true }
        guard let host = host?.lowercased() else { return false }
        // Behind a proxy that ends TLS, the page's scheme is https while this server's is not.
        let own = isSecure ? ["https://\(host)"] : ["http://\(host)", "https://\(host)"]
        return own.contains(origin)
    }
}

extension OriginRule {
    init(_ settings: RoomServerSettings) {
        self.init(allowed: settings.allowedOrigins, isSecure: settings.tls != nil)
    }
}
