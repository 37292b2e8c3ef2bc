import NIOCore

/// Counts open connections by the address they come from, over all event loops.
///
/// An IPv6 address counts by its first 64 bits, because the peer chooses the rest. Connections of a trusted proxy are
/// not counted, since they carry many people. Traffic through a proxy counts for the address behind it: a socket while
/// it is open, a request until it is answered.
final class AddressLimit: Sendable {
    /// One counted connection; releasing it ends the count.
    typealias Ticket = OpenCount<UInt64>.Ticket

    private let maximum: Int
    private let proxies: TrustedProxies
    private let counts: OpenCount<UInt64>
    private let newcomers: OpenCount<UInt64>

    private static let newcomersAtLeast = 64

    /// Allows `maximum` connections from one address; 0 allows any number.
    ///
    /// A quarter of these, and at least 64, may be without a first request.
    init(maximum: Int, proxies: [AddressNetwork] = []) {
        self.maximum = maximum
        counts = OpenCount(maximum: maximum)
        newcomers = OpenCount(maximum: maximum > 0 ? max(Self.newcomersAtLeast, maximum / 4) : 0)
        self.proxies = TrustedProxies(networks: proxies)
    }

    /// Counts a connection; nil if there is no limit, no address, or the peer is a proxy.
    func admit(_ peer: SocketAddress?) -> Ticket? {
        guard maximum > 0, let peer = PeerAddress(peer), !proxies.contains(peer) else { return nil }
        return counts.admit(peer.network)
    }

    /// Counts a connection until it has made its first request; nil in the same cases as ``admit(_:)``.
    func admitNewcomer(_ peer: SocketAddress?) -> Ticket? {
        guard maximum > 0, let peer = PeerAddress(peer), !proxies.contains(peer) else { return nil }
        return newcomers.admit(peer.network)
    }

    /// Whether an address has as many connections without a request as are allowed.
    func isFullOfNewcomers(_ peer: SocketAddress?) -> Bool {
        guard maximum > 0, let peer = PeerAddress(peer), !proxies.contains(peer) else { return false }
        return newcomers.isFull(peer.network)
    }

    /// Counts traffic that a proxy passes on; nil if there is no limit, or the peer is no proxy.
    func admit(through peer: SocketAddress?, forwardedFor fields: @autoclosure () -> [String]) -> Ticket? {
        guard maximum > 0, !proxies.networks.isEmpty, let peer = PeerAddress(peer), proxies.contains(peer) else {
            return nil
        }
        return counts.admit(proxies.origin(of: peer, forwardedFor: fields()).network)
    }
}
