import NIOCore
import Synchronization

/// Counts open connections by the address they come from, over all event loops.
///
/// An IPv6 address counts by its first 64 bits: what follows is the peer's to choose. A trusted proxy's connections are
/// not counted, since they are many people's; what comes through it counts where it comes from: a socket for as long as
/// it is open, a request until it is answered.
final class AddressLimit: Sendable {
    /// One counted connection; it is counted no more once this is gone.
    final class Ticket: Sendable {
        /// Whether its address has more connections than allowed, this one among them.
        let isOverLimit: Bool
        private let limit: AddressLimit
        private let key: UInt64

        fileprivate init(_ limit: AddressLimit, key: UInt64, isOverLimit: Bool) {
            self.limit = limit
            self.key = key
            self.isOverLimit = isOverLimit
        }

        deinit {
            limit.release(key)
        }
    }

    private let maximum: Int
    private let proxies: TrustedProxies
    private let counts = Mutex<[UInt64: Int]>([:])

    /// Allows `maximum` connections from one address; 0: any number.
    init(maximum: Int, proxies: [AddressNetwork] = []) {
        self.maximum = maximum
        self.proxies = TrustedProxies(networks: proxies)
    }

    /// Counts a connection; nil where there is no limit or no address, and for a proxy's.
    func admit(_ peer: SocketAddress?) -> Ticket? {
        guard maximum > 0, let peer = PeerAddress(peer), !proxies.contains(peer) else { return nil }
        return admit(peer)
    }

    /// Counts what a proxy passes on; nil where there is no limit, and for who is no proxy.
    func admit(through peer: SocketAddress?, forwardedFor fields: @autoclosure () -> [String]) -> Ticket? {
        guard maximum > 0, !proxies.networks.isEmpty, let peer = PeerAddress(peer), proxies.contains(peer) else {
            return nil
        }
        return admit(proxies.origin(of: peer, forwardedFor: fields()))
    }

    private func admit(_ address: PeerAddress) -> Ticket {
        let key = address.network
        let count = counts.withLock { counts in
            counts[key, default: 0] += 1
            return counts[key] ?? 1
        }
        return Ticket(self, key: key, isOverLimit: count > maximum)
    }

    private func release(_ key: UInt64) {
        counts.withLock { counts in
            guard let count = counts[key] else { return }
            counts[key] = count == 1 ? nil : count - 1
        }
    }
}
