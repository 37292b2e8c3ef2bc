import NIOCore
import PrometheusMetrics
import RoomWire
import Testing

@testable import PushServer

/// The places of connections among those of their address.
@Suite struct PeerLimitsTests {
    private let addresses: AddressLimit
    private let admission: Admission
    private let peer: SocketAddress
    private let proxy: SocketAddress

    init() throws {
        peer = try SocketAddress(ipAddress: "192.0.2.1", port: 1)
        proxy = try SocketAddress(ipAddress: "198.51.100.1", port: 1)
        let proxies = [try #require(AddressNetwork("198.51.100.0/24"))]
        var settings = RoomServerSettings(version: "0", node: "n")
        settings.rates.maximumRequestsPerAddress = 1
        settings.trustedProxies = proxies
        addresses = AddressLimit(maximum: 65, proxies: proxies)
        admission = Admission(settings, registry: PrometheusRegistry())
    }

    private func connect(from peer: SocketAddress) -> PeerLimits? { PeerLimits(of: peer, addresses, admission) }

    private func count(_ limits: inout PeerLimits, forwardedFor fields: [String] = []) -> HandshakeRefusal? {
        do throws(HandshakeRefusal) {
            try limits.count(forwardedFor: fields)
            return nil
        } catch {
            return error
        }
    }

    @Test func `connections without a request have places of their own`() {
        var all = (0..<64).compactMap { _ in connect(from: peer) }
        #expect(all.count == 64)
        #expect(connect(from: peer) == nil)
        all[0].requestCame()
        #expect(connect(from: peer)?.isOverLimit == false)
        #expect(all.allSatisfy { !$0.isOverLimit })
        // Of all connections together, 65 have a place.
        for index in all.indices { all[index].requestCame() }
        let last = connect(from: peer), excess = connect(from: peer)
        #expect(last?.isOverLimit == false && excess?.isOverLimit == true)
        all = []
        #expect(connect(from: peer)?.isOverLimit == false)
    }

    @Test func `handshakes are counted for the address`() throws {
        var limits = try #require(connect(from: peer))
        let refusals = (0..<6).map { _ in count(&limits) }
        #expect(refusals[..<5] == [nil, nil, nil, nil, nil])
        #expect(refusals[5]?.status == 429)
        #expect(limits.network == PeerAddress(peer)?.network)
    }

    @Test func `a connection through a proxy holds a place of the address behind it`() throws {
        var held: [PeerLimits] = []
        for _ in 0..<65 {
            var limits = try #require(connect(from: proxy))
            #expect(limits.ticket == nil)
            // More handshakes than the address may make in a second are refused, and hold no place.
            let origin = "192.0.2.\(held.count % 20 + 50)"
            let refusal = count(&limits, forwardedFor: [origin])
            #expect(refusal == nil)
            #expect(limits.ticket?.isOverLimit == false)
            #expect(limits.network == PeerAddress(origin)?.network)
            held.append(limits)
        }
    }
}
