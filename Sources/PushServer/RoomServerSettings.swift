package import IdentityTokens
package import NIOCore
package import TLSTransport
package import WebClient

/// The settings of the server's network side, with their defaults.
package struct RoomServerSettings: Sendable {
    /// The address it listens on.
    package var host = "127.0.0.1"
    /// The port it listens on; 0: a free one.
    package var port = 8443
    /// The address that serves `/metrics` over plain HTTP, instead of the port of clients; nil: the port of clients
    /// serves it.
    package var metricsAddress: MetricsAddress?
    /// Certificate and key; nil: no TLS, which a proxy then provides.
    package var tls: ServerCertificate?
    /// The certificate (DER) of the authority behind the server's own, if it was made here, for whoever asks; nil: there
    /// is none.
    package var developmentAuthority: [UInt8]?
    /// The page that the server shows to browsers.
    package var page = WebSource.embedded
    /// Origins whose pages may open sockets and change something, beside the server's own.
    package var allowedOrigins: Set<WebOrigin> = []
    /// Verifies the tokens of another identity provider; nil: only the server's own are accepted.
    package var tokens: TokenVerifier?
    /// The proxies whose fields about a request's client and the page's address are trusted; those of others are not.
    package var trustedProxies: [AddressNetwork] = []
    /// The server's version, sent in `welcome`.
    package var version: String
    /// This process's name, sent in `welcome`.
    package var node: String

    /// Whether messages are compressed for clients that offer it.
    package var compresses = true
    /// The rates and numbers that each address, session and connection may reach.
    package var rates = AdmissionRates()
    /// The most bytes that a client may send, and that may wait to be sent.
    package var sizes = SizeLimits()
    /// The times that a connection may take.
    package var times = ConnectionTimes()

    /// The time before the drain in which `/readyz` reports the stop, so that load balancers send no more clients.
    package var drainDelay = TimeAmount.zero
    /// The time over which the reconnects of a planned stop are spread.
    package var drainWindow = TimeAmount.seconds(20)

    package init(version: String, node: String) {
        self.version = version
        self.node = node
    }

    /// The address of a separate listener.
    package struct MetricsAddress: Sendable, Equatable {
        /// A name or an address, IPv6 without brackets.
        package var host: String
        /// The port; 0: a free one.
        package var port: Int

        /// Reads `HOST:PORT`, with an IPv6 address in brackets; nil if the text has another form.
        package init?(_ text: String) {
            guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
                (0...65_535).contains(port)
            else { return nil }
            let host = text[..<colon]
            let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
            guard isBracketed || !host.contains(where: { ":[]/ ".contains($0) }) else { return nil }
            self.host = String(isBracketed ? host.dropFirst().dropLast() : host)
            self.port = port
            guard !self.host.isEmpty else { return nil }
        }

        /// `HOST:PORT`.
        package var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }
}
