import NIOCore
import Testing

@testable import PushServer

@Suite struct `Connections of one address` {
    /// How many of three connections from an address of each kind are over a limit of two.
    private static func over(_ limit: AddressLimit, _ addresses: [String]) throws -> [Bool] {
        var tickets: [AddressLimit.Ticket] = []
        for address in addresses {
            tickets.append(try #require(limit.admit(try SocketAddress(ipAddress: address, port: 1))))
        }
        return tickets.map(\.isOverLimit)
    }

    @Test func `each address has its own, and who is gone counts no more`() throws {
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
