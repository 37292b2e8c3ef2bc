import ArgumentParser
import RoomDomain
import RoomReplica
import RoomWire

/// The replica and the machine, without a main actor.
struct Headless: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Times votes and snapshots from bytes to the replica, and weighs a room.")

    @Option(help: "Tracks in the pool.")
    var tracks: Int = 10_000

    @Option(help: "Members.")
    var members: Int = 20

    @Option(help: "Votes.")
    var votes: Int = 20_000

    @Option(help: "Snapshots.")
    var snapshots: Int = 15

    @Option(help: "What the random numbers begin with.")
    var seed: UInt64 = 1

    func run() throws {
        var figures = try measureVotes(voted: tracks / 20, "vote")
        figures += try measureVotes(voted: tracks, "vote_all_voted")
        figures += try measureSnapshots()
        figures += try weigh()
        report(figures)
    }

    /// Each time is that of a hundred votes, divided by a hundred.
    private func measureVotes(voted: Int, _ name: String) throws -> [(name: String, value: Double)] {
        var party = try Party(tracks: tracks, members: members, voted: voted, seed: seed)
        guard case .snapshot(let snapshot) = try ServerMessage.Received.parse(party.snapshot()) else {
            throw Defect("a snapshot is read as something else")
        }
        // One for each way of measuring, because a copy would cost its first changes.
        var (replica, other) = (Replica(snapshot), Replica(snapshot))
        var machine = try Self.live(party)
        let messages = try (0..<votes).map { _ in party.delta(try party.vote(amongFirst: tracks)) }
        let reference = RoomReference.id(party.state.id)
        var (tree, parsed, whole, fold, stepped) = ([Double](), [Double](), [Double](), [Double](), [Double]())
        let size = 100
        for first in stride(from: 0, to: messages.count, by: size) {
            let batch = messages[first..<min(first + size, messages.count)]
            func time(_ body: () throws -> Void) rethrows -> Double { try used(by: body) / .microseconds(batch.count) }
            tree.append(try time { for message in batch { _ = try JSONValue(parsing: message) } })
            var read: [ServerMessage.Received] = []
            read.reserveCapacity(batch.count)
            parsed.append(try time { for message in batch { read.append(try .parse(message)) } })
            fold.append(
                try time {
                    for case .delta(_, let events) in read { _ = try other.take(events) }
                })
            whole.append(
                try time {
                    for message in batch {
                        guard case .delta(_, let events) = try ServerMessage.Received.parse(message) else { continue }
                        _ = try replica.take(events)
                    }
                })
            stepped.append(time { for message in batch { _ = machine.received(message, on: 1, at: .now) } })
        }
        guard replica.position.seq == party.state.seq, machine.room(reference)?.replica?.position == replica.position,
            StateJSON.encode(replica.state) == StateJSON.encode(party.state)
        else { throw Defect("the replica is not the room") }
        return [
            ("\(name)_us", whole.median), ("\(name)_us_p99", whole.p99), ("\(name)_tree_us", tree.median),
            ("\(name)_parse_us", parsed.median), ("\(name)_fold_us", fold.median),
            ("\(name)_machine_us", stepped.median),
        ]
    }

    /// A machine that follows the room of a party.
    private static func live(_ party: Party) throws -> ClientMachine {
        var machine = ClientMachine(at: .now)
        _ = machine.follow(.id(party.state.id), at: .now)
        _ = machine.start(at: .now)
        _ = machine.opened(1, at: .now)
        _ = machine.received(party.welcome(), on: 1, at: .now)
        _ = machine.received(party.snapshot(), on: 1, at: .now)
        guard machine.room(.id(party.state.id))?.phase == .live else { throw Defect("the room is not live") }
        return machine
    }

    private func measureSnapshots() throws -> [(name: String, value: Double)] {
        let party = try Party(tracks: tracks, members: members, voted: tracks / 20, seed: seed)
        let message = party.snapshot()
        var (tree, parsed, whole) = ([Double](), [Double](), [Double]())
        for _ in 0..<snapshots {
            tree.append(try used { _ = try JSONValue(parsing: message) } / .milliseconds(1))
            parsed.append(try used { _ = try ServerMessage.Received.parse(message) } / .milliseconds(1))
            var replica: Replica?
            whole.append(
                try used {
                    if case .snapshot(let snapshot) = try ServerMessage.Received.parse(message) {
                        replica = Replica(snapshot)
                    }
                } / .milliseconds(1))
            guard replica?.pool.count == tracks else { throw Defect("the replica is not the room") }
        }
        return [
            ("snapshot_bytes", Double(message.count)), ("snapshot_ms", whole.median),
            ("snapshot_tree_ms", tree.median), ("snapshot_parse_ms", parsed.median),
        ]
    }

    /// What a machine with the room has allocated.
    private func weigh() throws -> [(name: String, value: Double)] {
        let party = try Party(tracks: tracks, members: members, voted: tracks / 20, seed: seed)
        // Whatever is made once is made before.
        _ = try Self.live(party)
        let before = allocatedBytes()
        let machine = try Self.live(party)
        let after = allocatedBytes()
        return try withExtendedLifetime(machine) {
            guard machine.room(.id(party.state.id)) != nil else { throw Defect("the room is gone") }
            return [("memory_headless_bytes", Double(after - before))]
        }
    }
}

extension ClientMoment {
    /// A moment at which nothing is due.
    fileprivate static let now = ClientMoment(
        instant: ClientInstant(nanoseconds: 1_000_000_000), wall: Timestamp(milliseconds: 1_700_000_000_000), random: 0)
}
