import NIOCore
import Synchronization

/// Counts open connections by the address they come from, over all event loops.
///
/// An IPv6 address counts by its first 64 bits: what follows is the peer's to choose.
final class AddressLimit: Sendable {
    /// One counted connection; it is counted no more once this is gone.
    final class Ticket: Sendable {
        /// Whether its address has more connections than allowed, this one among them.
        let isOverLimit: Bool
        private let limit: AddressLimit
        private let address: UInt64

        fileprivate init(_ limit: AddressLimit, address: UInt64, isOverLimit: Bool) {
            self.limit = limit
            self.address = address
            self.isOverLimit = isOverLimit
        }

        deinit {
            limit.release(address)
        }
    }

    private let maximum: Int
    private let counts = Mutex<[UInt64: Int]>([:])

    /// Allows `maximum` connections from one address; 0: any number.
    init(maximum: Int) {
        self.maximum = maximum
    }

    /// Counts a connection; nil where there is no limit or no address.
    func admit(_ address: SocketAddress?) -> Ticket? {
        guard maximum > 0, let key = address.flatMap(Self.key) else { return nil }
        let count = counts.withLock { counts in
            counts[key, default: 0] += 1
            return counts[key] ?? 1
        }
        return Ticket(self, address: key, isOverLimit: count > maximum)
    }

    private func release(_ address: UInt64) {
        counts.withLock { counts in
            guard let count = counts[address] else { return }
            counts[address] = count == 1 ? nil : count - 1
        }
    }

    private static func key(_ address: SocketAddress) -> UInt64? {
        // Where the address stands in the system's structures: behind family and port, and in IPv6 the flow label.
        let range: Range<Int>
        switch address {
        case .v4: range = 4..<8
        case .v6: range = 8..<24
        case .unixDomainSocket: return nil
        }
        let bytes = unsafe address.withSockAddr { address, size in
            // unsafe: read within its size, inside the closure
            unsafe Array(UnsafeRawBufferPointer(start: address, count: size).dropFirst(range.lowerBound))
        }.prefix(range.count)
        // RFC 4291 §2.5.5.2: on a socket for both, IPv4 addresses come as ::ffff:a.b.c.d
        let isIPv4 = bytes.count == 4 || bytes.starts(with: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
        return (isIPv4 ? bytes.suffix(4) : bytes.prefix(8)).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
