import Foundation
import RandomTestSupport
import RoomDomain
import RoomReplica
import RoomWire
import Testing

/// No message of a server stops the program.
@Suite struct HostileServerTests {
    /// The messages of the wire's golden files.
    private static func fixtures() throws -> [[UInt8]] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "RoomWireTests/Fixtures")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .filter { $0.hasPrefix("server-") }
            .map { Array(try Data(contentsOf: folder.appending(path: $0))) }
    }

    private func live() throws -> ScriptedClient {
        var client = ScriptedClient()
        try client.perform(client.machine.follow(.id(ServedRoom.kitchenID), at: client.moment))
        try client.perform(client.machine.start(at: client.moment))
        try client.open()
        try client.receive(ServedRoom.kitchen().snapshot(at: 5))
        return client
    }

    @Test(arguments: TestSeed.several(20))
    func `messages of any kind in any order are taken`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let messages = try Self.fixtures()
        #expect(messages.count > 30)
        var client = try live()
        let room = RoomReference.id(ServedRoom.kitchenID)
        for number in 0..<300 {
            client.random = random.next()
            var bytes = random.pick(messages, or: [])
            if random.once(in: 3) {
                // Of the room that is followed, and an answer to something.
                var text = String(decoding: bytes, as: UTF8.self)
                text = text.replacing(/"room":"[^"]*"/, with: #""room":"\#(ServedRoom.kitchenID)""#)
                let re = Int.random(in: 1...40, using: &random)
                bytes = Array(text.replacing(/"re":[0-9]+/, with: #""re":\#(re)"#).utf8)
            }
            try client.receive(bytes)
            if random.once(in: 10) { try client.post(.vote(track: .one), to: room, key: "\(number)", isKept: true) }
            if random.once(in: 10) { try client.post(.enqueue(track: .two, index: 0), to: room, key: "\(number)") }
            if random.once(in: 20) { try client.pass(Int64.random(in: 0...90_000, using: &random)) }
            if random.once(in: 30) {
                try client.lose()
                try client.open()
            }
        }
        _ = client.machine.room(room)?.shown
    }

    @Test func `numbers beyond all times and counts are taken`() throws {
        var client = try live()
        let room = RoomReference.id(ServedRoom.kitchenID)
        let largest = Int.max
        for (track, code) in [(TrackID.two, ErrorCode.rateLimited), (.one, .unavailable)] {
            try client.post(.vote(track: track), to: room, key: code.rawValue)
            guard case .command(let id?, _, _, _, _)? = client.sent().last else {
                // The first refusal put the room's commands off for an hour.
                #expect(code == .unavailable)
                continue
            }
            try client.receive(ServerMessage.error(re: id, code: code, message: "no", retryAfterMs: largest))
        }
        try client.receive(
            ServerMessage.welcome(
                sessionID: .hidden, name: "", version: "", node: "", beatMs: largest,
                time: Timestamp(milliseconds: .max)))
        while case .sent(.time(let id, let t1))? = client.take().last {
            try client.receive(ServerMessage.time(re: id, t1: t1, t2: 1e300, t3: 1e300))
        }
        #expect(client.machine.time(at: .at(0)) == nil)
        let last = RecordedEvent(
            seq: largest, at: Timestamp(milliseconds: .max),
            event: .voteCast(track: .two, by: .two, votes: largest, requestedSeq: largest))
        var snapshot = try ServedRoom.kitchen().snapshotMessage(at: 5)
        snapshot.position.seq = largest - 1
        try client.receive(ServerMessage.Received.snapshot(snapshot).encoded())
        try client.receive(ServerMessage.delta(room: ServedRoom.kitchenID, events: [last]))
        try client.receive(ServerMessage.delta(room: ServedRoom.kitchenID, events: [last]))
        _ = client.machine.room(room)?.shown
        try client.perform(client.machine.failed(client.attempt, nil, at: client.moment))
        try client.lose()
        let refusal = Refusal(ErrorName(.rateLimited), retryAfterMs: largest)
        try client.perform(client.machine.failed(client.attempt, refusal, at: client.moment))
        try client.pass(1_000)
    }

    @Test func `rooms that nobody follows are left a few times on a connection, not once a message`() throws {
        var client = try live()
        _ = client.sent()
        let rooms = (UInt8(1)...100).map { RoomID(UUID(uuid: (9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, $0))) }
        for id in rooms {
            try client.receive(
                ServerMessage.resumed(
                    re: nil, room: id, epoch: "e", seq: 1, keyed: nil, you: nil, presence: .nobody))
        }
        #expect(client.sent() == (1...16).map { .unsubscribe(id: $0, room: .id(rooms[Int($0) - 1])) })
    }

    @Test func `a queue that changes with every event is told once a delta`() throws {
        let count = 2_000
        let room = ServedRoom.kitchen(
            (1...count).map { .entryEnqueued(entry: EntryID(rawValue: $0), track: .one, index: 0, by: .one, why: nil) })
        var replica = try Replica(receiving: room.snapshot(at: 5))
        let changes = try replica.receive(room.delta(6, 5 + count))
        #expect(changes == [.queue(replica.queue)])
        #expect(replica.queue.count == count)
    }
}
