import EventStorage
import NIOCore
import RoomDomain
import RoomService
import Testing

/// Two processes write one room: the log decides, and no answer contradicts it.
@Suite struct ConflictTests {
    @Test func `two hosts write one room and each position is won once`() async throws {
        try await withNodes(2, settings: { $0.comparisonInterval = .milliseconds(1) }) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let clients = [Client(.bob), Client(.cyd)]
            for (client, node) in zip(clients, nodes) { client.connect(to: node, following: room) }
            for client in clients { try await eventually("a snapshot") { client.isFollowing } }
            var answers: [Answer] = []
            for number in 0..<100 {
                for (place, node) in nodes.enumerated() {
                    let command = RoomCommand.addTracks([.named("\(place) \(number)")])
                    answers.append(node.ask(command, in: room, by: owner.actor, key: "\(place) \(number)"))
                }
                // So that the appends of the two hosts meet, again and again.
                if number % 5 == 0 { for node in nodes { await node.settle() } }
            }
            var seqs: Set<Int> = []
            var tracks: Set<TrackID> = []
            for answer in answers {
                let outcome = try await answer.outcome()
                guard case .acknowledged(let seq, _, .tracks(let ids)?) = outcome else {
                    Issue.record("\(outcome)")
                    continue
                }
                seqs.insert(seq)
                tracks.formUnion(ids)
            }
            #expect(seqs == Set(3...202))
            #expect(tracks == Set((1...200).map(TrackID.init(rawValue:))))
            let store = nodes[0].store
            #expect(Set(try store.room(room).tracks.values.map(\.info.title)).count == 200)
            #expect(store.batches.count > 2, "the hosts never met")
            try await expectFoldOfLog(of: room, on: nodes, for: clients)
        }
    }

    @Test func `a host that lost a race reads the log and decides again`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom(tracks: 1)
            _ = try await nodes[1].state(of: room)
            let command = RoomCommand.enqueue(track: TrackID(rawValue: 1), index: 0)
            let first = try await nodes[0].tell(command, in: room, by: owner)
            #expect(first == .acknowledged(seq: 4, keyed: 0, result: .entry(EntryID(rawValue: 1))))
            let appends = nodes[1].store.batches.count
            let second = try await nodes[1].tell(command, in: room, by: owner)
            #expect(second == .acknowledged(seq: 5, keyed: 0, result: .entry(EntryID(rawValue: 2))))
            #expect(nodes[1].store.batches.count == appends + 2)
            try await expectFoldOfLog(of: room, on: nodes)
        }
    }

    @Test func `commands pipelined before a lost race keep their order`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom(tracks: 3)
            _ = try await nodes[1].state(of: room)
            _ = try await nodes[0].tell(.rename(name: "Anna"), in: room, by: owner)
            let gate = Gate()
            defer { gate.open() }
            nodes[1].store.next(.append, .waits(gate))
            let first = nodes[1].ask(.enqueue(track: TrackID(rawValue: 1), index: nil), in: room, by: owner.actor)
            try await eventually("the append") { gate.arrived == 1 }
            let second = nodes[1].ask(.enqueue(track: TrackID(rawValue: 2), index: nil), in: room, by: owner.actor)
            let third = nodes[1].ask(.enqueue(track: TrackID(rawValue: 3), index: nil), in: room, by: owner.actor)
            await nodes[1].settle()
            gate.open()
            #expect(try await first.outcome().seq == 5)
            #expect(try await second.outcome().seq == 6)
            #expect(try await third.outcome().seq == 7)
        }
    }

    @Test func `a host that is behind does not refuse what another has made possible`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            _ = try await nodes[1].state(of: room)
            #expect(try await nodes[0].tell(.join(name: nil), in: room, by: .bob).seq == 3)
            #expect(try await nodes[0].tell(.addTracks([.named("Song")]), in: room, by: owner).seq == 4)
            #expect(try await nodes[1].tell(.vote(track: TrackID(rawValue: 1)), in: room, by: .bob).seq == 5)
        }
    }

    @Test func `a host that is behind refuses what another has made impossible`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            _ = try await nodes[1].state(of: room)
            #expect(try await nodes[0].tell(.closeRoom, in: room, by: owner).seq == 3)
            #expect(
                try await nodes[1].tell(.rename(name: "Anna"), in: room, by: owner) == .failed(.refused(.roomClosed)))
            #expect(nodes[1].store.head(of: room) == 3)
        }
    }

    @Test func `a host that is behind does not answer that nothing is to be done if something is`() async throws {
        try await withNodes(2) { nodes in
            let (room, owner) = try await nodes[0].makeRoom(tracks: 1)
            _ = try await nodes[1].state(of: room)
            _ = try await nodes[0].tell(.enqueue(track: TrackID(rawValue: 1), index: nil), in: room, by: owner)
            #expect(try await nodes[0].tell(.play(entry: nil), in: room, by: owner).seq == 5)
            // With nothing on air, as this host still believes, a skip would change nothing.
            #expect(try await nodes[1].tell(.skip, in: room, by: owner).seq == 7)
            #expect(try nodes[1].store.room(room).onAir == nil)
        }
    }

    @Test func `a room that loses too many races in a row says so, and reads are answered`() async throws {
        try await withNodes(2, settings: { $0.conflictsInARow = 0 }) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            _ = try await nodes[1].state(of: room)
            _ = try await nodes[0].tell(.rename(name: "Anna"), in: room, by: owner)
            let gate = Gate()
            defer { gate.open() }
            nodes[1].store.next(.append, .waits(gate))
            let answer = nodes[1].ask(.rename(name: "Anne"), in: room, by: owner.actor)
            try await eventually("the append") { gate.arrived == 1 }
            let node = nodes[1]
            async let view = node.host.registry.view(room, for: owner.session)
            await nodes[1].settle()
            gate.open()
            #expect(try await answer.outcome() == .failed(.unavailable))
            #expect(try await view.seq == 3)
            #expect(try await nodes[1].tell(.rename(name: "Anne"), in: room, by: owner).seq == 4)
        }
    }

    @Test func `followers on one host see the events of another host`() async throws {
        try await withNodes(2, settings: { $0.comparisonInterval = .milliseconds(1) }) { nodes in
            let (room, owner) = try await nodes[0].makeRoom()
            let client = Client(.bob)
            client.connect(to: nodes[1], following: room)
            try await eventually("a snapshot") { client.isFollowing }
            for name in ["Anna", "Anne", "Ana"] {
                _ = try await nodes[0].tell(.rename(name: name), in: room, by: owner)
            }
            try await expectFoldOfLog(of: room, on: nodes, for: [client])
            #expect(client.notes == [.snapshot(seq: 2)])
        }
    }
}
