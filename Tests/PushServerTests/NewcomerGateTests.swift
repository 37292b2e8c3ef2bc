import Glibc
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import PushServer

/// `NewcomerGate` on an embedded listener, whose time only the tests move.
@Suite struct NewcomerGateTests {
    private final class Accepted: ChannelInboundHandler {
        typealias InboundIn = any Channel
        var count = 0

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { count += 1 }
    }

    private final class Refused: Sendable {
        private let count = Mutex(0)
        var total: Int { count.withLock { $0 } }

        func add(_ number: Int) { count.withLock { $0 += number } }
    }

    private let addresses = AddressLimit(maximum: 64)
    private let listener = EmbeddedChannel()
    private let accepted = Accepted()
    private let refused = Refused()

    init() throws {
        let gate = NewcomerGate(addresses) { [refused] count in refused.add(count) }
        try AcceptPause.add(to: listener, before: [gate, accepted])
    }

    /// Accepts connections together, each with a loop of its own.
    private func accept(from hosts: String...) throws -> [EmbeddedChannel] {
        let channels = try hosts.map { host in
            let channel = EmbeddedChannel()
            channel.connect(to: try SocketAddress(ipAddress: host, port: 9), promise: nil)
            channel.embeddedEventLoop.run()
            listener.pipeline.fireChannelRead(channel as any Channel)
            return channel
        }
        listener.pipeline.fireChannelReadComplete()
        for channel in channels { channel.embeddedEventLoop.run() }
        return channels
    }

    /// Whether the listener accepts, as it was told last; nil if it was told nothing.
    private var accepts: Bool? {
        listener.options.last { $0.option is ChannelOptions.Types.AutoReadOption }?.value as? Bool
    }

    @Test func `connections of an address that is full are ended, and the next ones wait a moment`() throws {
        let full = try SocketAddress(ipAddress: "10.0.0.1", port: 1)
        let tickets = (0..<64).map { _ in addresses.admitNewcomer(full) }
        let channels = try accept(from: "10.0.0.1", "10.0.0.2", "10.0.0.1")
        #expect(channels.map(\.isActive) == [false, true, false])
        #expect(accepted.count == 1)
        #expect(refused.total == 2)
        #expect(accepts == false)
        listener.embeddedEventLoop.advanceTime(by: NewcomerGate.rest)
        #expect(accepts == true)
        #expect(tickets.count == 64)
    }

    @Test func `where none is ended, nobody waits`() throws {
        let channels = try accept(from: "10.0.0.1", "10.0.0.1")
        #expect(channels.map(\.isActive) == [true, true])
        #expect(accepted.count == 2)
        #expect(refused.total == 0)
        #expect(accepts == nil)
    }

    @Test func `a rest does not end the pause of a listener without descriptors`() throws {
        let tickets = try (0..<64).map { _ in addresses.admitNewcomer(try SocketAddress(ipAddress: "10.0.0.1", port: 1))
        }
        listener.pipeline.fireErrorCaught(IOError(errnoCode: EMFILE, reason: "accept"))
        _ = try accept(from: "10.0.0.1")
        listener.embeddedEventLoop.advanceTime(by: NewcomerGate.rest)
        #expect(accepts == false)
        listener.embeddedEventLoop.advanceTime(by: AcceptPause.length)
        #expect(accepts == true)
        #expect(tickets.count == 64)
    }
}
