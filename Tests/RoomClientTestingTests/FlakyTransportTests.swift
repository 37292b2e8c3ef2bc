import RandomTestSupport
import RoomClient
import RoomClientTesting
import Synchronization
import Testing

@Suite struct FlakyTransportTests {
    let request: ClientRequest

    init() throws {
        request = ClientRequest("GET", "/", at: try #require(ServerAddress("http://localhost:1")))
    }

    @Test func `a seed decides what becomes of connections and requests`() async {
        let seed = TestSeed.fresh()
        let first = await history(seed)
        #expect(await history(seed) == first)
        #expect(await history(seed &+ 1) != first)
    }

    /// What becomes of forty connections and requests, one after the other.
    private func history(_ seed: UInt64) async -> [String] {
        var faults = FlakyTransport.Faults()
        faults.longestDelay = .zero
        let transport = FlakyTransport(seed: seed, wrapping: EchoTransport(), faults: faults)
        var history: [String] = []
        for _ in 0..<40 {
            history.append((try? await transport.send(request)) == nil ? "no answer" : "answer")
            guard let socket = try? await transport.connect(request) else {
                history.append("no connection")
                continue
            }
            history.append("lost after \(await messages(on: socket))")
        }
        return history
    }

    /// The messages that come back before the connection is lost, at most 100.
    private func messages(on socket: any ClientSocket) async -> Int {
        for number in 0..<100 {
            do {
                try await socket.send([UInt8(number)])
                guard try await socket.receive() == [UInt8(number)] else { return -1 }
            } catch {
                return number
            }
        }
        return 100
    }

    @Test func `about as many fail as is told, and connections do not live longer`() async {
        var faults = FlakyTransport.Faults()
        (faults.failedConnects, faults.failedRequests, faults.longestLife) = (0.5, 0.2, 3)
        faults.longestDelay = .zero
        let echo = EchoTransport()
        let transport = FlakyTransport(seed: TestSeed.fresh(), wrapping: echo, faults: faults)
        for _ in 0..<1_000 {
            _ = try? await transport.send(request)
            guard let socket = try? await transport.connect(request) else { continue }
            #expect(await messages(on: socket) <= 3)
        }
        let tally = transport.tally
        #expect((400...600).contains(tally.failedConnects))
        #expect((130...270).contains(tally.failedRequests))
        #expect(tally.connections + tally.failedConnects == 1_000)
        #expect(tally.requests + tally.failedRequests == 1_000)
        #expect(tally.losses == tally.connections)
        // One half of the requests that failed were carried out.
        #expect((20...160).contains(echo.requests - tally.requests))
        #expect(echo.open == 0)
    }

    @Test func `a loss ends a read that waits`() async throws {
        var faults = FlakyTransport.Faults()
        (faults.failedConnects, faults.longestLife, faults.longestDelay) = (0, 1, .zero)
        let transport = FlakyTransport(seed: TestSeed.fresh(), wrapping: EchoTransport(isMute: true), faults: faults)
        let socket = try await transport.connect(request)
        let reading = Task { try await socket.receive() }
        await #expect(throws: TransportFault.self) { try await socket.send([1]) }
        await #expect(throws: TransportFault.self) { try await reading.value }
        await #expect(throws: TransportFault.self) { try await socket.send([2]) }
        #expect(await socket.closing == nil)
    }

    @Test func `nothing fails once it is calm`() async throws {
        var faults = FlakyTransport.Faults()
        (faults.failedConnects, faults.failedRequests, faults.longestLife) = (1, 1, 10)
        let transport = FlakyTransport(seed: TestSeed.fresh(), wrapping: EchoTransport(), faults: faults)
        await #expect(throws: TransportFault.self) { try await transport.connect(request) }
        transport.calm()
        #expect(try await transport.send(request).status == 200)
        let socket = try await transport.connect(request)
        #expect(await messages(on: socket) == 100)
        await socket.close(1_000)
    }

    @Test func `delays are by the clock that is given`() async throws {
        let clock = ManualClock()
        var faults = FlakyTransport.Faults()
        (faults.failedConnects, faults.failedRequests, faults.longestDelay) = (0, 0, .seconds(60))
        let transport = FlakyTransport(
            seed: TestSeed.fresh(), wrapping: EchoTransport(), faults: faults, clock: clock)
        async let response = transport.send(request)
        try await clock.waitForSleepers(within: .seconds(600))
        #expect(try #require(clock.untilNextWaking) <= .seconds(60))
        clock.advanceToNextWaking()
        #expect(try await response.status == 200)
    }
}

/// A server that sends back what it gets, if it is not mute.
final class EchoTransport: ClientTransport {
    private let counts = Mutex((requests: 0, open: 0))
    private let isMute: Bool

    init(isMute: Bool = false) { self.isMute = isMute }

    var requests: Int { counts.withLock { $0.requests } }
    var open: Int { counts.withLock { $0.open } }

    func send(_ request: ClientRequest) async throws(TransportFault) -> ClientResponse {
        counts.withLock { $0.requests += 1 }
        return ClientResponse(status: 200)
    }

    func connect(_ request: ClientRequest) async throws(TransportFault) -> any ClientSocket {
        counts.withLock { $0.open += 1 }
        return Socket(transport: self)
    }

    private final class Socket: ClientSocket {
        private let transport: EchoTransport
        private let stream = AsyncStream<[UInt8]>.makeStream()

        init(transport: EchoTransport) { self.transport = transport }

        func receive() async throws(TransportFault) -> [UInt8]? { await stream.stream.first { _ in true } }

        func send(_ text: [UInt8]) async throws(TransportFault) {
            if !transport.isMute { stream.continuation.yield(text) }
        }

        func close(_ code: UInt16) async {
            stream.continuation.finish()
            transport.counts.withLock { $0.open -= 1 }
        }

        var closing: UInt16? { get async { 1_000 } }
    }
}
