import RoomClient
import RoomClientTesting
import Synchronization
import Testing

/// How often a client wakes its device where nothing happens.
@MainActor @Suite struct IdleTests {
    private static let minutes = 10
    /// The most times a minute.
    private static let line = 4

    /// Each message that arrives, each one that is sent and each timer that fires counts once.
    ///
    /// The server's ping, which comes in one write with its beat, is answered by the transport.
    @Test func `an idle room wakes the device at most four times a minute`() async throws {
        let counts = Counts()
        let time = ManualClock(date: 1_732_200_000_000)
        let server = ScriptedServer(clock: time)
        server.serves("7K3M9Q", Self.quietKitchen)
        let address = try #require(ServerAddress("http://localhost:1"))
        let client = RoomClient(
            address, as: .guest(name: "Ana"), transport: CountingTransport(wrapped: server, counts: counts),
            clock: CountingClock(wrapped: time, counts: counts))
        let room = client.room(try #require(RoomReference("7K3M9Q")))
        try await withThrowingTaskGroup { group in
            group.addTask { try await client.run() }
            // The welcome, the snapshot, and the exchanges of clocks that a connection begins with.
            try await until {
                counts.now.sent == 8 && counts.isListening(after: 10) && time.sleepers == 1 && room.phase == .live
            }

            let begin = time.uptime
            var beats = 0
            var wakings = Array(repeating: 0, count: Self.minutes)
            while true {
                let before = counts.now
                let nextBeat = begin + .seconds(25 * (beats + 1))
                let nextTimer = time.uptime + (try #require(time.untilNextWaking, "the watchdog sleeps"))
                let minute = Int((min(nextBeat, nextTimer) - begin) / .seconds(60))
                guard minute < Self.minutes else { break }
                if nextTimer <= nextBeat {
                    time.advanceToNextWaking()
                    try await until { counts.now.fired > before.fired && time.sleepers == 1 }
                } else {
                    time.advance(by: nextBeat - time.uptime)
                    beats += 1
                    server.sends(#"{"type":"beat","time":\#(time.date),"rooms":{"\#(Kitchen.id)":7}}"#)
                    try await until { counts.isListening(after: before.received + 1) }
                }
                wakings[minute] += counts.now.wakings - before.wakings
            }
            #expect(beats == 23)
            #expect(wakings.allSatisfy { $0 <= Self.line }, "\(wakings)")

            // What is sent keeps its order: behind these eight messages, none of the ten minutes is on its way.
            client.wake()
            try await until { counts.now.sent >= 16 && counts.isListening(after: 10 + beats + 8) }
            #expect(counts.now.sent == 16, "nothing was sent meanwhile")
            #expect(room.phase == .live)
            group.cancelAll()
        }
    }

    /// The kitchen with nothing on air.
    private static let quietKitchen = Kitchen.snapshot.replacing(
        /"playback":\{[^}]*\}/, with: #""playback":{"status":"stopped"}"#)
}

/// What has woken the device so far.
private final class Counts: Sendable {
    struct Values {
        var received = 0
        var sent = 0
        var fired = 0
        /// The messages that were asked for.
        var asked = 0

        var wakings: Int { received + sent + fired }
    }

    private let state = Mutex(Values())

    var now: Values { state.withLock { $0 } }

    func count(_ body: (inout Values) -> Void) { state.withLock { body(&$0) } }

    /// Whether so many messages at least have arrived, and the client has taken them in and asks for another one.
    func isListening(after received: Int) -> Bool {
        state.withLock { $0.received >= received && $0.asked == $0.received + 1 }
    }
}

/// Counts the messages of all its sockets.
private struct CountingTransport: ClientTransport {
    let wrapped: ScriptedServer
    let counts: Counts

    func send(_ request: ClientRequest) async throws(TransportFault) -> ClientResponse {
        try await wrapped.send(request)
    }

    func connect(_ request: ClientRequest) async throws(TransportFault) -> any ClientSocket {
        CountingSocket(wrapped: try await wrapped.connect(request), counts: counts)
    }
}

private struct CountingSocket: ClientSocket {
    let wrapped: any ClientSocket
    let counts: Counts

    func receive() async throws(TransportFault) -> [UInt8]? {
        counts.count { $0.asked += 1 }
        let message = try await wrapped.receive()
        counts.count { $0.received += 1 }
        return message
    }

    func send(_ text: [UInt8]) async throws(TransportFault) {
        counts.count { $0.sent += 1 }
        try await wrapped.send(text)
    }

    func close(_ code: UInt16) async { await wrapped.close(code) }

    var closing: UInt16? { get async { await wrapped.closing } }
}

/// Counts the sleeps that end because their time has come.
private struct CountingClock: ClientClock {
    let wrapped: ManualClock
    let counts: Counts

    var uptime: Duration { wrapped.uptime }
    var date: Int64 { wrapped.date }

    func sleep(until uptime: Duration) async throws(CancellationError) {
        try await wrapped.sleep(until: uptime)
        counts.count { $0.fired += 1 }
    }
}

/// Waits until a condition holds: other tests may take all processors for long meanwhile, so the run alone has an end.
@MainActor private func until(_ condition: () -> Bool) async throws {
    while !condition() { try await Task.sleep(for: .milliseconds(1)) }
}
