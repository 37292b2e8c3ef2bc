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
    package var tls: TLSContext?
    /// The page that the server shows to browsers.
    package var page = WebSource.embedded
    /// Origins whose pages may open sockets beside the server's own.
    package var allowedOrigins: Set<String> = []
    /// Verifies the tokens of another identity provider; nil: only the server's own are accepted.
    package var tokens: TokenVerifier?
    /// The proxies whose `X-Forwarded-For` is trusted; the field of any other peer is ignored.
    package var trustedProxies: [AddressNetwork] = []
    /// The server's version, sent in `welcome`.
    package var version: String
    /// This process's name, sent in `welcome`.
    package var node: String

    /// Whether messages are compressed for clients that offer it.
    package var compresses = true
    /// The most connections from one address; 0: any number.
    package var maximumConnectionsPerAddress = 16_384
    /// The most open sockets of one session; 0: any number.
    package var maximumSocketsPerSession = 32
    /// The most messages that a socket may send in a second, and five times as many at once; 0: any number.
    package var maximumMessagesPerSecond = 2_000
    /// The most messages of all sockets of a session in a second, and five times as many at once; 0: any number.
    package var maximumMessagesPerSession = 4_000
    /// The same for all sockets of an address; 0: any number.
    package var maximumMessagesPerAddress = 40_000
    /// The most sessions that are made from one address in a minute, and five times as many at once; 0: any number.
    package var maximumSessionsPerMinute = 600
    /// The most requests and opening handshakes from one address in a second, and five times as many at once; 0: any
    /// number.
    package var maximumRequestsPerAddress = 2_000
    /// The most requests of one session in a second, and five times as many at once; 0: any number.
    package var maximumRequestsPerSession = 500
    /// The most commands of one session in one room in a second, and five times as many at once; 0: any number.
    package var maximumCommandsPerSecond = 200
    /// The most nearby searches and new nearby subscriptions of one session in a minute, and five times as many at once;
    /// 0: any number.
    package var maximumSearchesPerMinute = 120
    /// The most look-ups by one session, in a minute, of rooms that do not exist, and five times as many at once; 0:
    /// any number.
    package var maximumFailedLookupsPerMinute = 60
    /// The same for one address.
    package var maximumFailedLookupsPerAddress = 600
    /// The most members that one room gets from one address in a minute, and as many at once; 0: any number.
    package var maximumJoinsPerMinute = 600
    /// The most nearby subscriptions of one connection.
    package var maximumNearbyPerConnection = 16
    /// The longest message that a client may send, in bytes; the longest body of a request as well.
    package var maximumMessageLength = 256 * 1024
    /// The longest head of a request, in bytes.
    package var maximumHeadLength = 16 * 1024
    /// The most bytes of deltas that may wait for one connection.
    ///
    /// Beyond it they are dropped, and the connection gets a snapshot once it has taken the rest.
    package var maximumOutgoingBytes = 49_152
    /// The most bytes that wait for all peers together, in memory that no other peer shares; 0: any number.
    package var maximumWaitingBytes = 256 << 20
    /// The most of them that wait for peers of one address; 0: any number.
    package var maximumWaitingBytesPerAddress = 64 << 20

    /// The time within which a connection must complete TLS and the head of its first request; later it is closed.
    package var handshakeTimeout = TimeAmount.seconds(10)
    /// The time after which an idle HTTP connection is closed.
    package var httpIdleTimeout = TimeAmount.seconds(60)
    /// The time in which a request's body may be arbitrarily slow; after it, the average rate must be 1 KiB a second.
    package var bodyGrace = TimeAmount.seconds(10)
    /// The interval of pings and beats.
    package var pingInterval = TimeAmount.seconds(25)
    /// The time after which a socket that has sent nothing is closed with 4408.
    package var silenceLimit = TimeAmount.seconds(60)
    /// The time after which a peer that takes nothing is disconnected; a socket is closed with 1013.
    package var stallLimit = TimeAmount.seconds(30)
    /// The time that a socket may take to answer a close.
    package var closeTimeout = TimeAmount.seconds(5)
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
