import RoomDomain
import RoomService
import Testing

/// The bounds in bytes of waiting, gathered and retained events.
@Suite struct BoundTests {
    /// Twenty songs, about 160 KB.
    private static func heavy(_ number: Int) -> RoomCommand {
        .addTracks(
            (0..<20).map { place in
                var track = TrackInfo.named("Song \(number) \(place)")
                track.artworkURL = "https://example.org/" + String(repeating: "\u{1F3B5}", count: 2_000)
                return track
            })
    }

    @Test func `a request for a room for which too many wait is refused at once`() async throws {
        try await withNode(settings: { $0.waitingCommandsPerRoom = 3 }) { node in
            let (room, owner) = try await node.makeRoom()
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.load, .waits(gate))
            let waiting = (0..<3).map { node.ask(.rename(name: "A\($0)"), in: room, by: owner.actor) }
            try await eventually("the load") { gate.arrived == 1 }
            #expect(try await node.tell(.rename(name: "B"), in: room, by: owner) == .failed(.unavailable))
            await #expect(throws: RoomFailure.unavailable) {
                try await node.host.registry.view(room, for: owner.session)
            }
            gate.open()
            for (place, answer) in waiting.enumerated() { #expect(try await answer.outcome().seq == place + 3) }
        }
    }

    @Test func `the commands gathered for one append are bounded, and refused ones change nothing`() async throws {
        try await withNode(settings: { $0.gatheringBytes = 500_000 }) { node in
            let (room, owner) = try await node.makeRoom()
            let gate = Gate()
            defer { gate.open() }
            node.store.next(.append, .waits(gate))
            let first = node.ask(.rename(name: "Anna"), in: room, by: owner.actor)
            try await eventually("the append") { gate.arrived == 1 }
            let answers = (0..<8).map { node.ask(Self.heavy($0), in: room, by: owner.actor) }
            await node.settle()
            let refused = answers.map { $0.outcomeSoFar == .failed(.unavailable) }
            #expect(refused == [false, false, false, false, true, true, true, true])
            gate.open()
            #expect(try await first.outcome().seq == 3)
            for (place, answer) in answers.prefix(4).enumerated() {
                #expect(try await answer.outcome().seq == place + 4)
            }
            #expect(try await node.tell(Self.heavy(9), in: room, by: owner).seq == 8)
            try await expectFoldOfLog(of: room, on: [node])
        }
    }

    @Test func `large events are kept in memory up to a size, read beyond it, and too many give a snapshot`()
        async throws
    {
        try await withNode(settings: { $0.answers.resumableBytes = 4_000_000 }) { node in
            let (room, owner) = try await node.makeRoom()
            for number in 0..<40 {
                #expect(try await node.tell(Self.heavy(number), in: room, by: owner).seq == number + 3)
            }
            let epoch = try await node.host.registry.view(room, for: owner.session).epoch
            func resume(from seq: Int, with note: Client.Note, reads: Int) async throws {
                let client = Client(.bob)
                let before = node.store.calls(.read)
                client.receive(try node.store.events(of: room).prefix(seq), of: room, epoch: epoch)
                client.connect(to: node, following: room)
                try await eventually("the subscription") { client.isFollowing && client.seq == 42 }
                #expect(client.notes == [note])
                #expect(node.store.calls(.read) - before == reads)
                try await expectFoldOfLog(of: room, on: [node], for: [client])
            }
            try await resume(from: 40, with: .resumed(seq: 42), reads: 0)
            try await resume(from: 25, with: .resumed(seq: 42), reads: 1)
            try await resume(from: 2, with: .snapshot(seq: 42), reads: 1)
        }
    }
}
