/// Whose pages may open sockets: the server's own and those on the operator's list.
///
/// A browser sends cookies along with a socket's handshake from any page, so this is what keeps another site's page from
/// using a visitor's session. Programs send no `Origin` and are not concerned.
struct OriginRule: Sendable {
    /// Origins on the list, lower case.
    let allowed: Set<String>
    /// Whether the server itself speaks TLS.
    let isSecure: Bool

    /// Whether a handshake with these fields may go on.
    ///
    /// More than one `Origin` is nobody's word.
    func permits(origins: [String], host: String?) -> Bool {
        guard let origin = origins.first?.lowercased() else { return true }
        guard origins.count == 1 else { return false }
        if allowed.contains(origin) { return true }
        guard let host = host?.lowercased() else { return false }
        // Behind a proxy that ends TLS the page's scheme is https while this server's is not.
        let own = isSecure ? ["https://\(host)"] : ["http://\(host)", "https://\(host)"]
        return own.contains(origin)
    }
}
