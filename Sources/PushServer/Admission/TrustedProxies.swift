import NIOCore

/// The proxies whose statement about a request's origin is trusted.
///
/// A proxy adds the address of its own peer to the end of `X-Forwarded-For`. The field is therefore read from its end,
/// and only as far as its writers are trusted: addresses that a client adds itself stand before those and are never
/// reached.
struct TrustedProxies: Sendable {
    /// The name of the field.
    static let field = "X-Forwarded-For"

    /// The networks of the proxies; empty if there are none.
    let networks: [AddressNetwork]

    /// Whether `peer` is a proxy.
    func contains(_ peer: PeerAddress) -> Bool {
        networks.contains { $0.contains(peer) }
    }

    /// The value that stands for the address that a request came from; nil if it is no address of the Internet.
    func network(of peer: SocketAddress?, forwardedFor fields: @autoclosure () -> [String]) -> UInt64? {
        guard let peer = PeerAddress(peer) else { return nil }
        return contains(peer) ? origin(of: peer, forwardedFor: fields()).network : peer.network
    }

    /// The address that a request came from, by the fields of `proxy`.
    ///
    /// If a proxy names no address, or something else in its place, the proxy's own address is returned.
    func origin(of proxy: PeerAddress, forwardedFor fields: [String]) -> PeerAddress {
        var address = proxy
        for entry in fields.flatMap({ $0.split(separator: ",") }).reversed() {
            guard contains(address), let before = PeerAddress(entry.filter { $0 != " " && $0 != "\t" }) else { break }
            address = before
        }
        return address
    }
}
