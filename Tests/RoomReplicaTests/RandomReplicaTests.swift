import RandomTestSupport
import RoomDomain
import RoomReplica
import RoomTestSupport
import RoomWire
import Testing

/// Random histories: a replica is what the server shows, byte for byte, and what the protocol's own fold says.
@Suite struct RandomReplicaTests {
    /// Compares a replica with the server's room at the replica's position.
    private func expect(_ replica: Replica, of room: ServedRoom, _ fold: ClientFold? = nil) throws {
        let seq = replica.position.seq
        let (shown, own) = (StateJSON.encode(replica.state), StateJSON.encode(room.states[seq]))
        #expect(shown == own, "after \(seq): \(room.events[seq - 1])")
        guard shown == own, let fold else { return }
        #expect(fold.seq == seq && fold.complaints.isEmpty)
        #expect(try JSONValue(parsing: shown) == fold.stateValue, "after \(seq)")
    }

    /// Tells a replica, as the machine does, that the client's own `join` was answered.
    private func join(_ replica: inout Replica, _ room: ServedRoom, at seq: Int) -> MemberID? {
        guard case .memberJoined(let member, _, _, room.session) = room.events[seq - 1].event else { return nil }
        _ = replica.joined(as: member)
        return member
    }

    @Test(arguments: TestSeed.several(4))
    func `a replica is the room after every event`(seed: UInt64) throws {
        let room = try ServedRoom(events: 400, seed: seed)
        let first = room.snapshot(at: 1)
        var replica = try Replica(receiving: first)
        var fold = ClientFold()
        try fold.receive(first)
        try #require(room.head > 1)
        for seq in 2...room.head {
            let delta = room.delta(seq, seq)
            _ = try replica.receive(delta)
            try fold.receive(delta)
            if let member = join(&replica, room, at: seq) { fold.joined(as: Int64(member.rawValue)) }
            try expect(replica, of: room, fold)
            #expect(replica.you == room.you(at: seq), "after \(room.events[seq - 1])")
        }
    }

    @Test(arguments: TestSeed.several(2))
    func `a replica that begins anywhere is the room`(seed: UInt64) throws {
        let room = try ServedRoom(events: 120, seed: seed)
        for start in 1..<room.head {
            var replica = try Replica(receiving: room.snapshot(at: start))
            try expect(replica, of: room)
            #expect(replica.you == room.you(at: start))
            _ = try replica.receive(room.delta(start + 1, room.head))
            try expect(replica, of: room)
        }
    }

    @Test(arguments: TestSeed.several(4))
    func `a replica that is cut, resumed, collapsed and stored is the room`(seed: UInt64) throws {
        let room = try ServedRoom(events: 300, seed: seed)
        var random = SeededRandom(seed: seed)
        var replica = try Replica(receiving: room.snapshot(at: 1))
        while replica.position.seq < room.head {
            let reached = replica.position.seq
            let next = Int.random(in: reached + 1...min(room.head, reached + 12), using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: _ = try replica.receive(room.snapshot(at: next, collapsed: reached + 1...next))
            case 1:
                replica = Replica(replica.stored)
                _ = try replica.receive(room.resumed(at: next))
                for seq in reached + 1...next { _ = try replica.receive(room.delta(seq, seq)) }
                #expect(replica.you == room.you(at: next), "resumed at \(reached), reached \(next)")
            case 2:
                // What was on its way before the resumption comes a second time.
                _ = try replica.receive(room.delta(reached + 1, next))
                let again = Int.random(in: 1...next, using: &random)
                #expect(try replica.receive(room.delta(again, next)).isEmpty)
                _ = try replica.receive(room.resumed(at: next))
            case 3 where next > reached + 1:
                let before = replica.position
                #expect(throws: EventHole(reached: reached, found: reached + 2)) {
                    try replica.receive(room.delta(reached + 2, next))
                }
                #expect(replica.position == before)
            default: _ = try replica.receive(room.delta(reached + 1, next))
            }
            try expect(replica, of: room)
        }
    }

    @Test(arguments: TestSeed.several(4))
    func `what a replica says has changed makes an older copy equal`(seed: UInt64) throws {
        let room = try ServedRoom(events: 300, seed: seed)
        var replica = try Replica(receiving: room.snapshot(at: 1))
        var copy = ChangedCopy(of: replica)
        var random = SeededRandom(seed: seed)
        while replica.position.seq < room.head {
            let reached = replica.position.seq
            let next = Int.random(in: reached + 1...min(room.head, reached + 5), using: &random)
            var changes = try replica.receive(room.delta(reached + 1, next))
            if next == reached + 1, case .memberJoined(let member, _, _, room.session) = room.events[reached].event {
                changes += replica.joined(as: member)
            } else if random.once(in: 3) {
                changes += try replica.receive(room.resumed(at: next))
            }
            copy.apply(changes, of: replica)
            #expect(copy == ChangedCopy(of: replica), "after \(reached + 1)…\(next)")
        }
    }
}
