/// A web origin, as a browser names that of a page: scheme, host and port (RFC 6454).
///
/// Two are equal where a browser takes them for one: the scheme's own port is none, a name has no case, and an address
/// has many forms.
package struct WebOrigin: Hashable, Sendable {
    /// The scheme of a page that a browser got from a server.
    enum Scheme: String, Sendable {
        case http, https

        /// The port of an address that names none.
        var port: UInt16 {
            switch self {
            case .http: 80
            case .https: 443
            }
        }
    }

    let scheme: Scheme
    let host: WebAuthority.Host
    let port: UInt16

    /// Reads `scheme://host` or `scheme://host:port`; nil if it is something else, such as `null`.
    package init?(_ text: String) {
        guard let end = text.firstRange(of: "://"), let scheme = Scheme(rawValue: text[..<end.lowerBound].lowercased()),
            let authority = WebAuthority(String(text[end.upperBound...]))
        else { return nil }
        self.init(scheme, authority)
    }

    /// The origin of pages at an address with this scheme.
    init(_ scheme: Scheme, _ authority: WebAuthority) {
        self.scheme = scheme
        host = authority.host
        port = authority.port ?? scheme.port
    }
}

/// A host with or without a port, as the field `Host` names it.
struct WebAuthority: Hashable, Sendable {
    /// A name in lower case, or an address.
    enum Host: Hashable, Sendable {
        case name(String)
        case address(PeerAddress)
    }

    let host: Host
    /// Nil where the text names none.
    var port: UInt16?

    /// Reads `host`, `host:port` or `[address]:port`; nil if it is something else.
    init?(_ text: String) {
        var rest = Substring(text)
        let name: Substring
        if rest.first == "[" {
            guard let end = rest.firstIndex(of: "]") else { return nil }
            name = rest[...end]
        } else {
            name = rest.prefix { $0 != ":" }
        }
        rest = rest.dropFirst(name.count)
        guard !name.isEmpty, !name.contains(where: { "/?#@\\ \t".contains($0) }) else { return nil }
        if rest.first == ":", rest.dropFirst().isEmpty == false {
            guard rest.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }), let port = UInt16(rest.dropFirst()) else {
                return nil
            }
            self.port = port
        } else if !rest.isEmpty, rest != ":" {
            return nil
        }
        if let address = PeerAddress(name) {
            host = .address(address)
        } else if name.first == "[" {
            return nil
        } else {
            host = .name(name.lowercased())
        }
    }
}
