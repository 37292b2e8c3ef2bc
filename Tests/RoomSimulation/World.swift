import EventStorage
import FoundationEssentials
import NIOCore
import RoomDomain
import RoomService
import RoomWire
import SimulatedTime
import Synchronization

/// One seed's world on one thread: servers on one log, the people who use them, and faults.
///
/// First people act while faults happen; then the faults end, and everybody must reach the fold of the log.
actor World {
    nonisolated let scheduler: Scheduler
    nonisolated let loop: SimulatedEventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The loop lives as long as the actor, which retains it.
        unsafe loop.asUnownedSerialExecutor()
    }

    nonisolated let dice: Dice
    nonisolated let truth: Truth
    nonisolated let reads = ReadsUnderWay()
    nonisolated let log: SimulatedLog
    nonisolated let network: SimulatedNetwork
    nonisolated let plan: WorldPlan
    private nonisolated let over = Atomic(false)

    /// The server at each place; a crashed one stays until another is started there.
    var nodes: [SimulatedNode] = []
    /// All servers that have ever existed.
    private(set) var lives: [SimulatedNode] = []
    var clients: [Client] = []
    var rooms: [RoomID] = []
    var wishes: [Wish] = []
    /// The devices that came back and sent their decks, by the number of the wish.
    var devices: [Int: ReturnedDevice] = [:]
    /// Sessions that were ended, as far as their owners know.
    var endedSessions: [SessionID] = []
    /// Unanswered requests other than commands; a crashed server owes no answers.
    var errands: [SimulatedNode] = []
    /// Connections that were lost within the grace.
    var lost: [LostConnection] = []
    var actionsLeft: Int
    var isSettling = false
    /// Whether the last claims to be the deck were made, after all faults.
    var hasClaimedLast = false
    var lastConnection = 0
    /// The devices with the client's machine.
    var apps: [SimulatedApp] = []
    var lastSocket = 0
    /// Whether a room has been made to forget a key.
    var hasForgottenKey = false

    init(seed: UInt64, trace: (@Sendable (String) -> Void)?) {
        dice = Dice(seed: seed)
        scheduler = Scheduler(seed: dice.bits())
        truth = Truth(scheduler, trace: trace)
        log = SimulatedLog(scheduler, dice, truth)
        network = SimulatedNetwork(log)
        loop = SimulatedEventLoop(scheduler)
        plan = WorldPlan(dice, seed: seed)
        actionsLeft = plan.actions
        if plan.isPrompt {
            truth.whenAppended { room, seq in
                let moved = self.scheduler.now
                self.later(Self.promptly) { $0.expectAll(of: room, at: seq, since: moved) }
            }
        }
    }

    /// The time in nanoseconds within which durable events reach everybody if nothing is slow or lost.
    private static let promptly: Int64 = 100_000_000

    /// Whether all checks have ended.
    nonisolated var isOver: Bool { over.load(ordering: .relaxed) }

    nonisolated func setOver() { over.store(true, ordering: .relaxed) }

    /// Calls `body` in this world's turn after a time in nanoseconds, unless the world has ended by then.
    nonisolated func later(_ nanoseconds: Int64, _ body: @escaping @Sendable (isolated World) -> Void) {
        scheduler.post(loop.lane, after: nanoseconds) {
            guard !self.log.isOver else { return }
            self.assumeIsolated { body($0) }
        }
    }

    /// Calls `body` in this world's turn after all earlier calls, unless the world has ended by then.
    nonisolated func next(_ body: @escaping @Sendable (isolated World) -> Void) {
        loop.execute {
            guard !self.log.isOver else { return }
            self.assumeIsolated { body($0) }
        }
    }

    // MARK: Servers

    func start(_ place: Int) {
        let name = "node \(place)\(lives.count < plan.nodes ? "" : " again (\(lives.count))")"
        let life = lives.count
        truth.note("\(name) starts")
        let node = SimulatedNode(
            name, log: log, network: plan.hasBus ? network : nil, settings: plan.settings, loops: plan.loopsPerNode,
            skew: plan.skews[place], mustResume: plan.isCalm
        ) { news in
            self.next { $0.heard(news, from: life) }
        }
        lives.append(node)
        if nodes.indices.contains(place) { nodes[place] = node } else { nodes.append(node) }
    }

    /// A server that has not crashed.
    var someNode: SimulatedNode? { dice.element(of: nodes.filter { !$0.hasCrashed }) }

    /// Sends a server a request other than a command.
    func send(_ node: SimulatedNode, _ errand: @escaping @Sendable () async -> Void) {
        errands.append(node)
        node.run {
            await errand()
            self.next { world in
                if let place = world.errands.firstIndex(where: { $0 === node }) { world.errands.remove(at: place) }
            }
        }
    }

    // MARK: Beginning

    /// Starts the servers, makes sessions and rooms, and schedules actions.
    func begin() {
        for place in 0..<plan.nodes { start(place) }
        let (node, plan, dice) = (nodes[0], plan, dice)
        send(node) {
            do {
                var people: [(Session, [UInt8])] = []
                for number in 1...plan.clients {
                    let hash = Self.makeHash(dice)
                    people.append((try await node.host.sessions.create(name: "S\(number)", tokenHash: hash), hash))
                }
                var owners: [Session] = []
                for number in 0..<plan.apps {
                    let hash = Self.makeHash(dice)
                    owners.append(try await node.host.sessions.create(name: "A\(number)", tokenHash: hash))
                }
                var rooms: [RoomID] = []
                for number in 0..<plan.rooms {
                    let wanted = try CreateRoomRequest.parse(Array(#"{"name":"Room \#(number)"}"#.utf8))
                    rooms.append(try await node.host.creation.create(wanted, by: people[number].0, key: "room").room)
                }
                for owner in owners {
                    let wanted = try CreateRoomRequest.parse(Array(#"{"name":"Room of an app"}"#.utf8))
                    rooms.append(try await node.host.creation.create(wanted, by: owner, key: "room").room)
                }
                let made = (people, owners, rooms)
                self.next { $0.open(made.0, made.1, made.2) }
            } catch {
                self.truth.complain("the world cannot begin: \(error)")
            }
        }
    }

    static func makeHash(_ dice: Dice) -> [UInt8] {
        (0..<32).map { _ in UInt8(truncatingIfNeeded: dice.bits()) }
    }

    private func open(_ people: [(Session, [UInt8])], _ owners: [Session], _ rooms: [RoomID]) {
        clients = people.enumerated().map { Client($0.offset, $0.element.0, tokenHash: $0.element.1) }
        self.rooms = rooms
        for (number, room) in rooms.enumerated() {
            // Half of them begin as members.
            for client in clients where client.number != number && dice.once(in: 2) {
                wish(client, room, .join(name: nil), key: nil)
            }
        }
        log.weather = plan.weather
        network.losesOnceIn = plan.losesHintsOnceIn
        act()
        for (number, owner) in owners.enumerated() {
            let app = SimulatedApp(number, owner)
            app.followed = rooms
            apps.append(app)
            launch(app)
            act(app)
        }
        if plan.troubles != nil { makeTrouble() }
    }

    // MARK: Ending

    /// Lets all tasks end, so that nothing of this world is left; false if some do not.
    nonisolated func end() -> Bool {
        next { world in
            world.log.isOver = true
            for node in world.lives { node.end() }
            world.lives = []
            world.nodes = []
            world.wishes = []
            world.clients = []
            world.apps = []
            world.errands = []
        }
        let log = log
        let isEmpty = { log.isOver && log.tasks.load(ordering: .relaxed) == 0 }
        return scheduler.run(until: isEmpty, steps: 1_000_000) == .reached && scheduler.drain(steps: 1_000_000)
    }
}
