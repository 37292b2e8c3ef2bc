import NIOCore

/// An IPv4 or IPv6 address; an IPv4 address is held as an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2).
struct PeerAddress: Hashable, Sendable {
    /// The first 64 of the 128 bits.
    let high: UInt64
    /// The last 64 of the 128 bits.
    let low: UInt64

    private static let mappedPrefix: UInt64 = 0xFFFF_0000_0000

    /// Converts a socket's address; nil if it is no address of the Internet.
    init?(_ address: SocketAddress?) {
        // The place of the address in the system's structures: after family and port, and in IPv6 after the flow label.
        let range: Range<Int>
        switch address {
        case .v4: range = 4..<8
        case .v6: range = 8..<24
        case .unixDomainSocket, nil: return nil
        }
        let bytes = unsafe address?.withSockAddr { address, size in
            // unsafe: read within its size, inside the closure
            unsafe Array(UnsafeRawBufferPointer(start: address, count: size).dropFirst(range.lowerBound))
        }.prefix(range.count)
        guard let bytes, bytes.count == range.count else { return nil }
        let number = { (part: ArraySlice<UInt8>) in part.reduce(0) { $0 << 8 | UInt64($1) } }
        if bytes.count == 4 {
            high = 0
            low = Self.mappedPrefix | number(bytes)
        } else {
            high = number(bytes.prefix(8))
            low = number(bytes.suffix(8))
        }
    }

    /// Reads an address in the forms that proxies write, with or without a port; nil if it is no address.
    init?(_ text: some StringProtocol) {
        var text = String(text)
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            text = String(text[..<end].dropFirst())
        } else if let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon {
            text = String(text[..<colon])
        }
        // The parser's errors say only that the text is no address.
        self.init(try? SocketAddress(ipAddress: text, port: 0))
    }

    /// Whether it is an IPv4 address.
    var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// The value that stands for all addresses that one peer can choose from: in IPv6 the first 64 bits.
    var network: UInt64 { isIPv4 ? low : high }

    /// The first bits of the address, as many as are given; the others are zero.
    func prefix(_ bits: Int) -> (high: UInt64, low: UInt64) {
        // A shift by the whole width gives zero.
        (high & (UInt64.max << (64 - min(bits, 64))), low & (UInt64.max << (64 - max(bits - 64, 0))))
    }
}

/// A network of addresses, such as `10.0.0.0/8` or `2001:db8::/32`.
package struct AddressNetwork: Hashable, Sendable {
    private let address: PeerAddress
    private let bits: Int

    /// Reads a network, or an address, which is a network of one; nil if the text is neither.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = PeerAddress(try? SocketAddress(ipAddress: String(first), port: 0))
        else { return nil }
        let width = address.isIPv4 ? 32 : 128
        var bits = width
        if parts.count == 2 {
            guard let given = Int(parts[1]), (0...width).contains(given) else { return nil }
            bits = given
        }
        self.address = address
        self.bits = bits + (128 - width)
    }

    /// Whether `address` belongs to it.
    func contains(_ address: PeerAddress) -> Bool {
        address.prefix(bits) == self.address.prefix(bits)
    }
}
