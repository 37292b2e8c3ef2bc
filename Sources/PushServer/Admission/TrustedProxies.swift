import NIOCore

/// The proxies whose word is taken on where a request comes from.
///
/// A proxy adds the address of its own peer to the end of `X-Forwarded-For`. So the field is read from its end, and only
/// as far as those who wrote it are trusted: what a client puts there itself stands before and is never reached.
struct TrustedProxies: Sendable {
    /// The name of the field.
    static let field = "X-Forwarded-For"

    /// The addresses of proxies; none: nobody is one.
    let networks: [AddressNetwork]

    /// Whether `peer` is a proxy.
    func contains(_ peer: PeerAddress) -> Bool {
        networks.contains { $0.contains(peer) }
    }

    /// What stands for the address that a request came from; nil where that is no address of the Internet.
    func network(of peer: SocketAddress?, forwardedFor fields: @autoclosure () -> [String]) -> UInt64? {
        guard let peer = PeerAddress(peer) else { return nil }
        return contains(peer) ? origin(of: peer, forwardedFor: fields()).network : peer.network
    }

    /// The address that a request came from, by the fields of a proxy `proxy`.
    ///
    /// Where a proxy does not say, or not an address, it is the proxy's own.
    func origin(of proxy: PeerAddress, forwardedFor fields: [String]) -> PeerAddress {
        var address = proxy
        for entry in fields.flatMap({ $0.split(separator: ",") }).reversed() {
            guard contains(address), let before = PeerAddress(entry.filter { $0 != " " && $0 != "\t" }) else { break }
            address = before
        }
        return address
    }
}
