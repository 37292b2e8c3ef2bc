import ArgumentParser
import FoundationEssentials
import Glibc
import Logging
import NIOCore
import NIOPosix
import PostgresEventStore
import RoomDomain
import RoomService
import RoomWire
import Synchronization

/// Voters in rooms: votes are decided, appended and acknowledged as in the server, without sockets.
struct Commands: AsyncParsableCommand {
    @OptionGroup var log: LogOptions

    @Option(help: "Rooms.")
    var rooms = 1

    @Option(help: "Voters in each room.")
    var voters = 200

    @Option(help: "Votes in flight of one voter.")
    var window = 1

    @Flag(help: "Gives votes no key, so that a retry would not be known.")
    var unkeyed = false

    @Option(help: "Votes a second in all, at random times; 0: each voter's next vote when its last is acknowledged.")
    var rate = 0.0

    @Option(help: "Appends side by side, as the server has them.")
    var flushes = 3

    @Option(help: "Event loops.")
    var threads = 1

    @Flag(help: "Count what happens, as the server does.")
    var statistics = false

    func run() async throws {
        let store = try await log.open()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
        var settings = RoomHostSettings()
        settings.logIsShared = true
        settings.flushesSideBySide = flushes
        // A few voters vote as fast as they can: limits against abuse are turned off.
        settings.shares.maximumEventsPerRoom = 0
        settings.shares.maximumEventsPerSession = 0
        let lag = LagTimes()
        let host = RoomHost(
            store: store, statistics: statistics ? store : nil, settings: settings,
            loops: group.makeIterator().map { $0 }, clock: .system(), metrics: lag,
            logger: Logger(label: "load") { StreamLogHandler.standardError(label: $0) })
        async let isOver: Void = host.run()
        let electorate = Electorate(host: host, window: window, isKeyed: !unkeyed)
        try await electorate.gather(rooms: rooms, voters: voters)
        let pacing = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        log.announce("begin")
        lag.reset()
        var figures = rate > 0 ? try await vote(electorate, from: pacing.next()) : await vote(electorate)
        figures += lag.take().percentiles("lag")
        log.announce("end")
        host.shutDown()
        await isOver
        await store.close()
        try await group.shutdownGracefully()
        try await pacing.shutdownGracefully()
        if let defect = electorate.tally.defect { throw Defect(defect) }
        report(figures)
    }

    /// Closed loop: each voter votes again after an acknowledgement.
    private func vote(_ electorate: Electorate) async -> [(name: String, value: Double)] {
        electorate.start()
        try? await Task.sleep(for: .seconds(log.warmup))
        let before = Usage.processorSeconds
        electorate.tally.reset()
        try? await Task.sleep(for: .seconds(log.seconds))
        let times = electorate.tally.take()
        let processor = Usage.processorSeconds - before
        await electorate.stop()
        return figures(times, processor: processor)
    }

    /// Open loop: each vote at its scheduled time, from a thread of its own; the times are a Poisson process, as those of
    /// pgbench are.
    private func vote(
        _ electorate: Electorate, from loop: any EventLoop
    ) async throws -> [(name: String, value: Double)] {
        let (rate, warmup, seconds) = (rate, log.warmup, log.seconds)
        let before = try await loop.submit {
            // Otherwise the kernel may wake this thread 50 µs late.
            if let slack = unsafe fopen("/proc/thread-self/timerslack_ns", "w") {
                unsafe fputs("1000", slack)
                unsafe fclose(slack)
            }
            let start = ContinuousClock.now
            let (begins, ends) = (start + .seconds(warmup), start + .seconds(warmup + seconds))
            var (due, before, number) = (start, Double?.none, 0)
            while due < ends {
                while case let rest = due - .now, rest > .zero { usleep(UInt32(rest / .microseconds(1))) }
                if due >= begins, before == nil {
                    before = Usage.processorSeconds
                    electorate.tally.reset()
                }
                electorate.vote(number, at: due)
                number += 1
                due += .seconds(-Glibc.log(1 - Double.random(in: 0..<1)) / rate)
            }
            return before ?? 0
        }.get()
        let processor = Usage.processorSeconds - before
        await electorate.stop()
        return figures(electorate.tally.take(), processor: processor)
    }

    private func figures(_ times: [Duration], processor: Double) -> [(name: String, value: Double)] {
        [
            ("votes_per_s", Double(times.count) / log.seconds),
            ("client_cpu_us_per_vote", processor / Double(max(1, times.count)) * 1e6),
        ] + times.percentiles("ack")
    }
}

/// All voters.
final class Electorate: Sendable {
    private struct Voter {
        let room: RoomID
        let actor: Actor
        let track: TrackID
    }

    let tally = Tally()
    private let host: RoomHost
    private let window: Int
    private let isKeyed: Bool
    private let voters = Mutex<[Voter]>([])
    private let votes = Mutex<[Int]>([])
    private let isStopped = Atomic<Bool>(false)

    init(host: RoomHost, window: Int, isKeyed: Bool) {
        self.host = host
        self.window = window
        self.isKeyed = isKeyed
    }

    /// Makes rooms with a pool, and lets voters join them.
    func gather(rooms: Int, voters count: Int) async throws {
        let tracks = (0..<50).map { TrackInfo(source: "load", sourceID: "\($0)", title: "Track \($0)") }
        for number in 0..<rooms {
            let owner = try await session(number % 99)
            let room = try await host.creation.create(
                CreateRoomRequest.parse(Array(#"{"name": "Room"}"#.utf8)), by: owner, key: nil
            ).room
            try await expectDone(.addTracks(tracks), in: room, by: .session(owner.id, name: owner.name))
            for voter in 0..<count {
                let actor = Actor.session(SessionID(UUID()), name: "Voter \(voter)")
                try await expectDone(.join(name: nil), in: room, by: actor)
                voters.withLock { voters in
                    voters.append(Voter(room: room, actor: actor, track: TrackID(rawValue: voter % 50 + 1)))
                }
            }
        }
        let all = voters.withLock { $0.count }
        votes.withLock { $0 = Array(repeating: 0, count: all) }
    }

    /// A session that owns fewer than a hundred rooms.
    private func session(_ number: Int) async throws -> Session {
        try await host.sessions.create(name: "Owner", tokenHash: (0..<32).map { _ in UInt8.random(in: 0...255) })
    }

    private func expectDone(_ command: RoomCommand, in room: RoomID, by actor: Actor) async throws {
        guard case .acknowledged = await host.registry.command(command, to: room, by: actor, key: nil) else {
            throw Defect("a room could not be prepared")
        }
    }

    /// Lets every voter vote, and vote again after each acknowledgement.
    func start() {
        let count = voters.withLock { $0.count }
        for voter in 0..<count {
            for _ in 0..<window { voteForEver(voter) }
        }
    }

    /// Stops sending, and returns when everything that was sent is acknowledged.
    func stop() async {
        isStopped.store(true, ordering: .relaxed)
        while tally.inFlight > 0, tally.defect == nil { try? await Task.sleep(for: .milliseconds(10)) }
    }

    private func voteForEver(_ voter: Int) {
        guard !isStopped.load(ordering: .relaxed) else { return }
        vote(voter, at: .now) { self.voteForEver(voter) }
    }

    /// Lets one voter vote, or withdraw its last vote; the time counts from the instant at which that was due.
    func vote(_ number: Int, at due: ContinuousClock.Instant, then: @escaping @Sendable () -> Void = {}) {
        let voter = voters.withLock { $0[number % $0.count] }
        let count = votes.withLock { votes in
            votes[number % votes.count] += 1
            return votes[number % votes.count]
        }
        let command: RoomCommand = count % 2 == 1 ? .vote(track: voter.track) : .unvote(track: voter.track)
        tally.sent()
        let key = isKeyed ? "vote-\(count)" : nil
        let request = CommandRequest(actor: voter.actor, key: key, command: command) { outcome in
            self.tally.answered(outcome, after: .now - due)
            then()
        }
        host.registry.submit(request, to: voter.room)
    }
}

/// The times until votes were durable.
final class Tally: Sendable {
    private struct State {
        var times: [Duration] = []
        var inFlight = 0
        var defect: String?
    }

    private let state = Mutex(State())

    var defect: String? { state.withLock { $0.defect } }
    var inFlight: Int { state.withLock { $0.inFlight } }

    func sent() { state.withLock { $0.inFlight += 1 } }

    func answered(_ outcome: CommandOutcome, after time: Duration) {
        state.withLock { state in
            state.inFlight -= 1
            switch outcome {
            case .acknowledged: state.times.append(time)
            case .keyReused, .failed:
                state.defect = "a vote came to \(outcome)"
            }
        }
    }

    func reset() { state.withLock { $0.times.removeAll(keepingCapacity: true) } }

    func take() -> [Duration] { state.withLock { $0.times } }
}
