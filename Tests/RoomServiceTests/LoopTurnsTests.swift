import Glibc
import NIOCore
import NIOPosix
import RoomService
import SimulatedTime
import Synchronization
import Testing

@Suite struct LoopTurnsTests {
    @Test func `work that continues waits behind all other work`() async throws {
        try await onVirtualTime { time in
            let turns = LoopTurns(of: time.makeLoop())
            let (parts, continuation) = AsyncStream.makeStream(of: String.self)
            try await turns.loop.submit {
                turns.assumeIsolated { turns in
                    for (name, count) in [("a", 3), ("b", 1), ("c", 2)] {
                        let left = Countdown(count)
                        turns.add {
                            continuation.yield(name)
                            return left.next() > 0
                        }
                    }
                }
            }.get()
            var taken = ""
            for await part in parts {
                taken += part
                if taken.count == 6 { break }
            }
            #expect(taken == "abcaca")
        }
    }

    /// In real time, since the loop has to look at a socket of the system while it is busy.
    @Test func `sockets are looked at before all turns are over`() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let turns = LoopTurns(of: group.next())
        let left = Countdown(2_000)
        let leftAtArrival = Mutex<Int?>(nil)
        let receiver = try await DatagramBootstrap(group: turns.loop).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(
                    Arrival { leftAtArrival.withLock { $0 = $0 ?? left.count } })
            }
        }.bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(receiver.localAddress?.port)
        let (ended, continuation) = AsyncStream.makeStream(of: Void.self)
        try await turns.loop.submit {
            turns.assumeIsolated { turns in
                turns.add {
                    let end = NIODeadline.now() + .microseconds(50)
                    while .now() < end {}
                    let rest = left.next()
                    if rest == 1_900 { Self.send(to: port) }
                    if rest == 0 { continuation.finish() }
                    return rest > 0
                }
            }
        }.get()
        for await _ in ended {}
        try await receiver.close()
        #expect(try #require(leftAtArrival.withLock { $0 }) > 0)
        try await group.shutdownGracefully()
    }

    @Test func `only a slice of the work runs at once, and then the loop is free for others`() async throws {
        try await onVirtualTime { time in
            let turns = LoopTurns(of: time.makeLoop(), slice: .milliseconds(1), pause: .milliseconds(200))
            func takeAtOnce() async throws -> Bool {
                try await turns.loop.submit { turns.assumeIsolated { $0.takeAtOnce() } }.get()
            }
            #expect(try await takeAtOnce())
            #expect(try await !takeAtOnce())
            await time.advance(by: .milliseconds(200))
            #expect(try await !takeAtOnce(), "the slice and the pause are not over")
            await time.advance(by: .milliseconds(1))
            #expect(try await takeAtOnce())

            // Not before the waiting work.
            await time.advance(by: .seconds(1))
            try await turns.loop.submit { turns.assumeIsolated { $0.add { false } } }.get()
            #expect(try await !takeAtOnce())

            // On an idle loop, a slice may run at once again.
            await time.advance(by: .milliseconds(400))
            #expect(try await takeAtOnce())
        }
    }

    private static func send(to port: Int) {
        let sender = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var byte: UInt8 = 1
        _ = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe sendto(sender, &byte, 1, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        close(sender)
    }

    private final class Countdown: Sendable {
        private let left: Mutex<Int>

        init(_ count: Int) {
            left = Mutex(count)
        }

        var count: Int { left.withLock { $0 } }

        func next() -> Int {
            left.withLock { left in
                left -= 1
                return left
            }
        }
    }

    /// Calls a closure for what arrives.
    private final class Arrival: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        private let called: @Sendable () -> Void

        init(_ called: @escaping @Sendable () -> Void) {
            self.called = called
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { called() }
    }
}
