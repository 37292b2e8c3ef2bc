import EventStorage
import FoundationEssentials
import Logging
import NIOCore
import NIOEmbedded
import PrometheusMetrics
import RandomTestSupport
import RoomDomain
import RoomService
import RoomWire
import SimulatedTime

@testable import PushServer

/// A server's rooms in memory and one of its event loops with sockets on embedded channels.
///
/// Everything runs on the test's thread, and time moves only by ``advance(by:)`` and ``standStill(for:)``. An embedded
/// channel has a loop of its own, which is used only in turns of the server's loop.
final class SocketWorld {
    let host: RoomHost
    let hub: ConnectionHub
    let channelLoop = EmbeddedEventLoop()
    private let scheduler = Scheduler(seed: TestSeed.fixed(1), pace: .whenAsked(patience: 0))
    private let executor: SimulatedExecutor
    private let loop: SimulatedEventLoop
    private var lastHash: UInt8 = 0

    init(
        settings change: (inout RoomServerSettings) -> Void = { _ in },
        rooms changeRooms: (inout RoomHostSettings) -> Void = { _ in }
    ) {
        let (scheduler, executor) = (scheduler, SimulatedExecutor(scheduler))
        self.executor = executor
        let loop = SimulatedEventLoop(scheduler)
        self.loop = loop
        var roomSettings = RoomHostSettings()
        roomSettings.presence.grace = .zero
        roomSettings.logIsShared = false
        changeRooms(&roomSettings)
        var settings = RoomServerSettings(version: "test", node: "node")
        change(&settings)
        let dice = Dice(seed: TestSeed.fixed(2))
        host = RoomHost(
            store: MemoryEventStore(), settings: roomSettings, loops: [loop],
            clock: ServerClock(
                milliseconds: { 1_700_000_000_000 + Double(scheduler.now) / 1_000_000 },
                wait: { await executor.sleep(for: $0) }),
            randomness: ServerRandomness { dice.bits() },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let registry = PrometheusRegistry()
        let metrics = ServerMetrics(registry: registry, version: "test", node: "node")
        let feed = HubFeed(loop: loop)
        let made = Unchecked<ConnectionHub?>(nil)
        let (host, unchecked) = (host, Unchecked((settings, registry, metrics)))
        loop.execute {
            let (settings, registry, metrics) = unchecked.value
            let context = LoopContext(
                eventLoop: loop, index: 0, of: 1, rooms: host, settings: settings,
                admission: Admission(settings, registry: registry), probe: metrics.probe(loop, index: 0))
            let hub = ConnectionHub(loop: context, feed: feed)
            feed.attach(hub)
            made.value = hub
        }
        _ = scheduler.run(until: { made.value != nil }, steps: 100)
        guard let hub = made.value else { preconditionFailure("the loop does not run") }
        self.hub = hub
        _ = Task(executorPreference: executor) { await host.run() }
        settle()
    }

    deinit {
        host.shutDown()
        scheduler.closeTimers()
        settle()
    }

    // MARK: Time

    /// Runs everything that is due.
    func settle() { _ = scheduler.run(until: { false }, steps: 1_000_000) }

    /// Runs `body` in a turn of the server's loop, and everything that is due then.
    func onLoop(_ body: () -> Void) {
        withoutActuallyEscaping(body) { body in
            let turn = Unchecked<(() -> Void)?>(body)
            loop.execute {
                turn.value?()
                turn.value = nil
            }
            settle()
        }
    }

    /// Lets time pass, in steps of at most a tenth of a second.
    func advance(by time: TimeAmount) {
        var left = time
        while left > .zero {
            let step = min(left, .milliseconds(100))
            left = left - step
            standStill(for: step)
        }
    }

    /// Lets time pass in one step, in which the server checks no deadline, as if its process had been suspended.
    func standStill(for time: TimeAmount) {
        scheduler.postWhenIdle(loop.lane, at: scheduler.now + time.nanoseconds) {}
        settle()
        onLoop { hub.loop.deadlines.turnWheel() }
    }

    /// The result of `body`, which runs on this world's time.
    func result<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
        let result = Unchecked<Result<Value, any Error>?>(nil)
        _ = Task(executorPreference: executor) {
            do { result.value = .success(try await body()) } catch { result.value = .failure(error) }
        }
        settle()
        guard let result = result.value else { throw Missing(what: "result") }
        return try result.get()
    }

    struct Missing: Error { var what: String }

    // MARK: Rooms and sockets

    /// Makes a session.
    func session(_ name: String) throws -> Session {
        lastHash += 1
        let (host, hash) = (host, Array(repeating: lastHash, count: 32))
        return try result { try await host.sessions.create(name: name, tokenHash: hash) }
    }

    /// Makes a room of this session.
    func room(of session: Session, pool tracks: Int = 0) throws -> RoomID {
        let host = host
        let request = try CreateRoomRequest.parse(Array(#"{"name":"Kitchen"}"#.utf8))
        let room = try result { try await host.creation.create(request, by: session, key: nil).room }
        guard tracks > 0 else { return room }
        let songs = (0..<tracks).map { TrackInfo(source: "shelf", sourceID: "\($0)", title: "Song \($0)") }
        command(.addTracks(songs), in: room, by: session)
        return room
    }

    /// Has a command carried out without a socket.
    func command(_ command: RoomCommand, in room: RoomID, by session: Session) {
        host.registry.submit(
            CommandRequest(actor: .session(session.id, name: session.name), key: nil, command: command) { _ in },
            to: room)
        settle()
    }

    /// Opens a socket, which may be opened for a room.
    func open(_ session: Session, room: RoomID? = nil) throws -> TestSocket {
        var socket: Result<TestSocket, any Error> = .failure(Missing(what: "socket"))
        onLoop { socket = Result { try TestSocket(session, room: room, in: self) } }
        return try socket.get()
    }
}

/// A value that a world passes to itself: all of it runs on one thread.
final class Unchecked<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}
