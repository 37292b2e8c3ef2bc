import NIOCore

/// Counts open connections by the address they come from, over all event loops.
///
/// An IPv6 address counts by its first 64 bits: what follows is the peer's to choose. A trusted proxy's connections are
/// not counted, since they are many people's; what comes through it counts where it comes from: a socket for as long as
/// it is open, a request until it is answered.
final class AddressLimit: Sendable {
    /// One counted connection; it is counted no more once this is gone.
    typealias Ticket = OpenCount<UInt64>.Ticket

    private let maximum: Int
    private let proxies: TrustedProxies
    private let counts: OpenCount<UInt64>
    private let newcomers: OpenCount<UInt64>

    private static let newcomersAtLeast = 64

    /// Allows `maximum` connections from one address, of which a quarter, and 64 in any case, may not have asked for
    /// anything yet; 0: any number.
    init(maximum: Int, proxies: [AddressNetwork] = []) {
        self.maximum = maximum
        counts = OpenCount(maximum: maximum)
        newcomers = OpenCount(maximum: maximum > 0 ? max(Self.newcomersAtLeast, maximum / 4) : 0)
        self.proxies = TrustedProxies(networks: proxies)
    }

    /// Counts a connection; nil where there is no limit or no address, and for a proxy's.
    func admit(_ peer: SocketAddress?) -> Ticket? {
        guard maximum > 0, let peer = PeerAddress(peer), !proxies.contains(peer) else { return nil }
        return counts.admit(peer.network)
    }

    /// Counts a connection until it has made its first request; nil where ``admit(_:)`` is.
    func admitNewcomer(_ peer: SocketAddress?) -> Ticket? {
        guard maximum > 0, let peer = PeerAddress(peer), !proxies.contains(peer) else { return nil }
        return newcomers.admit(peer.network)
    }

    /// Whether an address has as many connections without a request as it may.
    func isFullOfNewcomers(_ peer: SocketAddress?) -> Bool {
        guard maximum > 0, let peer = PeerAddress(peer), !proxies.contains(peer) else { return false }
        return newcomers.isFull(peer.network)
    }

    /// Counts what a proxy passes on; nil where there is no limit, and for who is no proxy.
    func admit(through peer: SocketAddress?, forwardedFor fields: @autoclosure () -> [String]) -> Ticket? {
        guard maximum > 0, !proxies.networks.isEmpty, let peer = PeerAddress(peer), proxies.contains(peer) else {
            return nil
        }
        return counts.admit(proxies.origin(of: peer, forwardedFor: fields()).network)
    }
}
