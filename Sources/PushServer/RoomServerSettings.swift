package import IdentityTokens
package import NIOCore
package import TLSTransport

/// What an operator may set about the server's face, with its defaults.
package struct RoomServerSettings: Sendable {
    /// The address it listens on.
    package var host = "127.0.0.1"
    /// The port it listens on; 0: a free one.
    package var port = 8443
    /// Where `/metrics` is served instead of on the port of clients, over plain HTTP; nil: there.
    package var metricsAddress: MetricsAddress?
    /// Certificate and key; nil: no TLS (a proxy does it).
    package var tls: TLSContext?
    /// Origins whose pages may open sockets beside the server's own.
    package var allowedOrigins: Set<String> = []
    /// Checks the tokens of another identity provider; nil: only the server's own are taken.
    package var tokens: TokenVerifier?
    /// The proxies whose `X-Forwarded-For` is believed; nobody else's is looked at.
    package var trustedProxies: [AddressNetwork] = []
    /// The server's version, told in `welcome`.
    package var version: String
    /// This process's name, told in `welcome`.
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
    /// The same of all sockets of an address; 0: any number.
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
    /// The most look-ups of rooms that are not there of one session in a minute, and five times as many at once; 0: any
    /// number.
    package var maximumFailedLookupsPerMinute = 60
    /// The same from one address.
    package var maximumFailedLookupsPerAddress = 600
    /// The most members that one room gets from one address in a minute, and as many at once; 0: any number.
    package var maximumJoinsPerMinute = 600
    /// The most nearby subscriptions of one connection.
    package var maximumNearbyPerConnection = 16
    /// The longest message that a client may send, in bytes; the longest body of a request as well.
    package var maximumMessageLength = 256 * 1024
    /// The longest head of a request, in bytes.
    package var maximumHeadLength = 16 * 1024
    /// Above so many waiting bytes of deltas a connection's deltas are dropped; it gets a snapshot once it has taken
    /// the rest.
    package var maximumOutgoingBytes = 49_152
    /// The most bytes that wait for all peers together in memory which no other peer shares; 0: any number.
    package var maximumWaitingBytes = 256 << 20
    /// The most of them that wait for peers of one address; 0: any number.
    package var maximumWaitingBytesPerAddress = 64 << 20

    /// A connection that has not completed TLS and its first request's head by then is closed.
    package var handshakeTimeout = TimeAmount.seconds(10)
    /// An idle HTTP connection is closed after this.
    package var httpIdleTimeout = TimeAmount.seconds(60)
    /// For so long a request's body may come as slowly as it likes; then its average must be 1 KiB a second.
    package var bodyGrace = TimeAmount.seconds(10)
    /// Pings and beats are sent this often.
    package var pingInterval = TimeAmount.seconds(25)
    /// A socket that has sent nothing for this long is closed with 4408.
    package var silenceLimit = TimeAmount.seconds(60)
    /// A socket whose peer takes nothing for this long is closed with 1013; an HTTP connection is closed.
    package var stallLimit = TimeAmount.seconds(30)
    /// How long a socket may take to answer a close.
    package var closeTimeout = TimeAmount.seconds(5)
    /// How long before that `/readyz` says that the server stops, for load balancers to send nobody to it any more.
    package var drainDelay = TimeAmount.zero
    /// Over how long the reconnects of a planned stop are spread.
    package var drainWindow = TimeAmount.seconds(20)

    package init(version: String, node: String) {
        self.version = version
        self.node = node
    }

    /// An address of a listener's own.
    package struct MetricsAddress: Sendable, Equatable {
        /// A name or an address, IPv6 without brackets.
        package var host: String
        /// The port; 0: a free one.
        package var port: Int

        /// Reads `HOST:PORT`, an IPv6 address in brackets; nil where it is something else.
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
