import NIOCore
import Testing

@testable import PushServer

@Suite struct `Connections of one address` {
    /// The number of three connections from each address that are over a limit of two.
    private static func over(_ limit: AddressLimit, _ addresses: [String]) throws -> [Bool] {
        var tickets: [AddressLimit.Ticket] = []
        for address in addresses {
            tickets.append(try #require(limit.admit(try SocketAddress(ipAddress: address, port: 1))))
        }
        return tickets.map(\.isOverLimit)
    }

    @Test func `each address has its own count, and closed connections do not count`() throws {
        let limit = AddressLimit(maximum: 2)
        for _ in 0..<2 {
            let found = try Self.over(limit, ["10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.1"])
            #expect(found == [false, false, false, true])
        }
    }

    @Test func `an IPv6 network of 64 bits counts as one address`() throws {
        let found = try Self.over(
            AddressLimit(maximum: 2), ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1"])
        #expect(found == [false, false, true, false])
    }

    @Test func `an IPv4 address is the same on a socket for both`() throws {
        let found = try Self.over(
            AddressLimit(maximum: 2), ["::ffff:10.0.0.1", "10.0.0.1", "::ffff:10.0.0.2", "::ffff:10.0.0.1"])
        #expect(found == [false, false, false, true])
    }

    @Test func `without a limit nothing is counted`() throws {
        #expect(AddressLimit(maximum: 0).admit(try SocketAddress(ipAddress: "10.0.0.1", port: 1)) == nil)
    }
}

@Suite struct `Addresses behind proxies` {
    private static func limit(_ maximum: Int = 1) throws -> AddressLimit {
        AddressLimit(
            maximum: maximum,
            proxies: try ["10.0.0.0/8", "fd00::/8", "192.0.2.7"].map { try #require(AddressNetwork($0)) })
    }

    private static func socket(_ address: String) throws -> SocketAddress {
        try SocketAddress(ipAddress: address, port: 1)
    }

    @Test func `a proxy's connections are not counted, everybody else's are`() throws {
        let limit = try Self.limit()
        for proxy in ["10.1.2.3", "::ffff:10.1.2.3", "fd12::1", "192.0.2.7"] {
            #expect(limit.admit(try Self.socket(proxy)) == nil, "\(proxy)")
        }
        for other in ["11.0.0.1", "192.0.2.6", "2001:db8::1", "fe80::1"] {
            #expect(limit.admit(try Self.socket(other)) != nil, "\(other)")
        }
    }

    @Test func `a proxy's requests count for the addresses that they came from`() throws {
        let limit = try Self.limit()
        let proxy = try Self.socket("10.0.0.1")
        let first = limit.admit(through: proxy, forwardedFor: ["203.0.113.1"])
        let second = limit.admit(through: proxy, forwardedFor: ["203.0.113.1"])
        let other = limit.admit(through: proxy, forwardedFor: ["203.0.113.2"])
        #expect([first, second, other].map { $0?.isOverLimit } == [false, true, false])
    }

    @Test func `the field is ignored unless a proxy sends it`() throws {
        let limit = try Self.limit()
        #expect(limit.admit(through: try Self.socket("203.0.113.9"), forwardedFor: ["203.0.113.1"]) == nil)
    }

    @Test(arguments: [
        ([], "10.0.0.1"), (["203.0.113.1"], "203.0.113.1"),
        // The client's own text stands before the proxy's addition.
        (["198.51.100.1, 203.0.113.1"], "203.0.113.1"), (["198.51.100.1", "203.0.113.1"], "203.0.113.1"),
        // A proxy behind a proxy.
        (["203.0.113.1, 10.9.9.9, fd00::5"], "203.0.113.1"), (["10.9.9.9"], "10.9.9.9"),
        (["203.0.113.1:4711"], "203.0.113.1"), (["[2001:db8::1]:4711"], "2001:db8::1"),
        (["2001:db8::1"], "2001:db8::1"),
        (["::ffff:203.0.113.1"], "203.0.113.1"),
        // Everything before an unreadable element is ignored.
        (["203.0.113.1, unknown"], "10.0.0.1"), (["203.0.113.1, unknown, 10.9.9.9"], "10.9.9.9"), ([", ,"], "10.0.0.1"),
    ])
    func `the field is read from its end, as far as its writers are trusted`(fields: [String], origin: String) throws {
        let proxies = TrustedProxies(
            networks: try ["10.0.0.0/8", "fd00::/8"].map { try #require(AddressNetwork($0)) })
        let proxy = try #require(PeerAddress("10.0.0.1"))
        #expect(proxies.origin(of: proxy, forwardedFor: fields) == PeerAddress(origin))
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.0", false), ("10.1.2.3", "10.1.2.3", true),
        ("10.1.2.3", "10.1.2.2", false), ("10.1.2.3/31", "10.1.2.2", true), ("0.0.0.0/0", "203.0.113.1", true),
        ("0.0.0.0/0", "2001:db8::1", false), ("::/0", "2001:db8::1", true), ("2001:db8::/33", "2001:db8:7fff::", true),
        ("2001:db8::/33", "2001:db8:8000::", false), ("2001:db8::/65", "2001:db8::7fff:0:0:1", true),
        ("2001:db8::/65", "2001:db8::8000:0:0:1", false), ("::1", "::1", true), ("::1", "::2", false),
    ])
    func `a network has the addresses of its first bits`(network: String, address: String, isInside: Bool) throws {
        let network = try #require(AddressNetwork(network))
        #expect(network.contains(try #require(PeerAddress(address))) == isInside)
    }

    @Test(arguments: [
        "", "10.0.0", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "10.0.0.0/8/8", "host", "10.0.0.0/", "1.2.3.4:5",
    ])
    func `an invalid network is refused`(text: String) {
        #expect(AddressNetwork(text) == nil)
    }
}
