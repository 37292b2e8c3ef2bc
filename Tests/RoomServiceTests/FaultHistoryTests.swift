import EventStorage
import NIOCore
import RandomTestSupport
import RoomDomain
import RoomService
import RoomTestSupport
import SimulatedTime
import Testing

/// Random histories on two hosts and a log that fails at random.
@Suite struct FaultHistoryTests {
    /// A command with a key, repeated until its answer is not "try again".
    private struct Keyed {
        var key: String
        var command: RoomCommand
        var actor: Actor
        var answers: [Answer] = []
        /// The answers so far, without those that say "try again".
        var outcomes: [CommandOutcome] {
            answers.compactMap(\.outcomeSoFar).filter { !Self.isTryAgain($0) }
        }
        /// Whether it has no request under way and must be sent again.
        var isToBeRetried: Bool {
            outcomes.isEmpty && answers.allSatisfy { Self.isTryAgain($0.outcomeSoFar) }
        }

        static func isTryAgain(_ outcome: CommandOutcome?) -> Bool {
            outcome == .failed(.unavailable) || outcome == .failed(.outcomeUnknown)
        }
    }

    /// The faults: of twelve appends one is not carried out, and another loses its answer; reading fails now and then.
    private static func faults(_ dice: Dice) -> @Sendable (FaultyEventStore.Method) -> FaultyEventStore.Behaviour {
        { method in
            switch method {
            case .append:
                switch dice.number(in: 0..<24) {
                case 0: .fails(FaultyEventStore.unreachable)
                case 1: .fails(.transient(.init(message: "a deadlock")))
                case 2, 3: .losesAnswer
                default: .works
                }
            case .load, .catchUp, .read, .renew, .heads, .snapshot, .save, .directory, .sessions, .create, .erasure:
                dice.once(in: 8) ? .fails(FaultyEventStore.unreachable) : .works
            }
        }
    }

    @Test(arguments: TestSeed.fixed(0..<16))
    func `whatever fails, everybody ends with the log's state, and acknowledged commands are in it once`(
        seed: UInt64
    ) async throws {
        print("rooms on a failing log, seed \(seed)")
        let store = FaultyEventStore()
        try await withNodes(
            2, on: store,
            settings: { settings in
                settings.comparisonInterval = .milliseconds(1)
                settings.evictAfter = .milliseconds(1)
                settings.eventsPerSnapshot = 20
            }
        ) { nodes in
            var random = try await RandomRoom(seed: seed, on: nodes)
            let dice = random.dice
            var keyed: [Keyed] = []
            var plain: [(track: String, answer: Answer)] = []
            var gates: [Gate] = []
            defer { for gate in gates { gate.open() } }
            store.plan(Self.faults(dice))
            for step in 0..<60 {
                random.reconnect(onceIn: 3)
                for index in keyed.indices where keyed[index].isToBeRetried && dice.once(in: 2) {
                    keyed[index].answers.append(ask(keyed[index], of: random))
                }
                for number in 0...dice.number(in: 0..<4) {
                    let (command, actor) = try random.nextCommand()
                    let name = "\(step) \(number)"
                    switch dice.number(in: 0..<4) {
                    case 0:
                        let add = RoomCommand.addTracks([.named(name)])
                        plain.append((name, random.someNode.ask(add, in: random.room, by: random.owner.actor)))
                    case 1:
                        keyed.append(
                            Keyed(key: name, command: .addTracks([.named(name)]), actor: random.owner.actor))
                    default:
                        // The server's own commands have no keys.
                        guard actor != .server else { continue }
                        keyed.append(Keyed(key: name, command: command, actor: actor))
                    }
                    if let last = keyed.indices.last, keyed[last].answers.isEmpty {
                        // Now and then on both hosts at once.
                        for _ in 0..<(dice.once(in: 4) ? 2 : 1) {
                            keyed[last].answers.append(ask(keyed[last], of: random))
                        }
                    }
                }
                if dice.once(in: 6) {
                    gates.append(Gate())
                    store.next(.append, .waits(gates[gates.count - 1]))
                } else {
                    for gate in gates { gate.open() }
                }
                if dice.once(in: 10) { store.next(.append, .writesLate) }
                if dice.once(in: 3) { await store.writeLate() }
                if dice.once(in: 2) { for node in nodes { await node.settle() } }
            }
            for gate in gates { gate.open() }
            store.plan(nil)
            for (_, answer) in plain { _ = try await answer.outcome() }
            await store.writeLate()
            for index in keyed.indices {
                for answer in keyed[index].answers { _ = try await answer.outcome() }
                while keyed[index].isToBeRetried {
                    keyed[index].answers.append(ask(keyed[index], of: random))
                    for answer in keyed[index].answers { _ = try await answer.outcome() }
                }
            }
            try await random.expectAgreement()
            try await expectOnce(keyed, plain, in: random.room, store, seed)
        }
    }

    private func ask(_ keyed: Keyed, of random: RandomRoom) -> Answer {
        random.someNode.ask(keyed.command, in: random.room, by: keyed.actor, key: keyed.key)
    }

    /// Expects that the log confirms every answer.
    private func expectOnce(
        _ keyed: [Keyed], _ plain: [(track: String, answer: Answer)], in room: RoomID, _ store: FaultyEventStore,
        _ seed: UInt64
    ) async throws {
        var added: [String: [Int]] = [:]
        for event in try store.events(of: room) {
            guard case .tracksAdded(let tracks, _) = event.event else { continue }
            for track in tracks { added[track.info.sourceID, default: []].append(event.seq) }
        }
        let remembered = try await store.keys(of: room)
        for command in keyed {
            let outcomes = command.outcomes
            let acknowledged = outcomes.filter { $0.seq != nil }
            #expect(acknowledged.allSatisfy { $0 == acknowledged[0] }, "seed \(seed), key \(command.key): \(outcomes)")
            guard case .session(let session, _) = command.actor else { continue }
            let rows = remembered.filter { $0.key == command.key && $0.session == session.uuid }
            if let seq = acknowledged.first?.seq {
                #expect(rows.map(\.seq) == [seq], "seed \(seed), key \(command.key)")
            } else {
                // Refused; but an attempt with a lost answer may have been carried out.
                let mayBeDone = command.answers.contains { $0.outcomeSoFar == .failed(.outcomeUnknown) }
                #expect(rows.count <= (mayBeDone ? 1 : 0), "seed \(seed), key \(command.key)")
            }
            guard case .addTracks(let tracks) = command.command, tracks[0].sourceID == command.key else { continue }
            #expect(added[command.key] ?? [] == rows.map(\.seq), "seed \(seed), key \(command.key)")
        }
        for (track, answer) in plain {
            let seqs = added[track] ?? []
            switch answer.outcomeSoFar {
            case .acknowledged(let seq, _, _): #expect(seqs == [seq], "seed \(seed), track \(track)")
            // The outcome is unknown, but the command cannot be in the log twice.
            case .failed(.outcomeUnknown): #expect(seqs.count <= 1, "seed \(seed), track \(track)")
            case .keyReused, .failed, nil: #expect(seqs == [], "seed \(seed)")
            }
        }
    }
}
