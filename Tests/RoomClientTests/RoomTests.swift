import FoundationEssentials
import RandomTestSupport
import RoomClient
import RoomDomain
import RoomReplica
import RoomWire
import Synchronization
import Testing

import class Foundation.Thread

private typealias Room = RoomClient::Room

@MainActor @Suite struct RoomTests {
    let server = PocketServer()
    let store = MemoryStore()

    func client() throws -> RoomClient {
        let address = try #require(ServerAddress("https://party.example"))
        return RoomClient(address, as: .guest(name: "Ana"), transport: server, store: store)
    }

    func addSongs(_ count: Int) {
        let songs = (1...count).map { RoomDomain.TrackInfo(source: "file", sourceID: "\($0)", title: "Song \($0)") }
        server.perform(.addTracks(songs))
    }

    @Test func `a room is shown, and a vote at once and once only`() async throws {
        addSongs(3)
        let client = try client()
        let room = client.room(server.reference)
        #expect(room.phase == .connecting)
        try await running(client) {
            try await until { room.phase == .live }
            #expect(room.pool.map(\.info.title) == ["Song 1", "Song 2", "Song 3"])
            #expect(room.tracks(with: "SONG-2").map(\.id) == [room.pool[1].id])
            #expect(room.tracks(with: " ").count == 3 && room.tracks(with: "zebra").isEmpty)
            #expect(room.me?.role == .owner)
            let track = room.pool[1]
            async let vote: Void = room.vote(for: track)
            await Task.yield()
            try await until { track.isMine }
            try await vote
            try await until { room.requests.map(\.id) == [track.id] && !track.isPending }
            #expect(track.votes == 1)
            #expect(room.pending.isEmpty)
            try await room.unvote(track)
            try await until { room.requests.isEmpty }
            #expect(track.votes == 0)
        }
    }

    @Test func `a vote to skip is shown, and can be taken back`() async throws {
        addSongs(1)
        server.perform(.enqueue(track: RoomDomain.TrackID(rawValue: 1), index: nil))
        server.perform(.play(entry: nil))
        let others = ["Bob", "Carla"].map { Actor.session(SessionID(UUID()), name: $0) }
        for other in others { server.perform(.join(name: nil), by: other) }
        let client = try client()
        let room = client.room(server.reference)
        try await running(client) {
            try await until { room.phase == .live }
            let me = try #require(room.me?.member)
            // The vote of somebody who is away is told, and does not count.
            let entry = RoomDomain.EntryID(rawValue: 1)
            server.perform(.voteSkip(entry: entry), by: others[0])
            try await until { room.playback?.skipVotes == 1 }
            #expect(room.countedSkipVotes == 0)
            server.perform(.unvoteSkip(entry: entry), by: others[0])
            try await until { room.playback?.skipVoters == [] }
            try await room.voteToSkip()
            try await until { room.playback?.skipVoters == [me] }
            #expect(room.countedSkipVotes == 1)
            try await room.unvoteToSkip()
            try await until { room.playback?.skipVoters == [] }
            try await room.unvoteToSkip()
            try await room.voteToSkip()
            server.perform(.voteSkip(entry: entry), by: others[0])
            try await until { room.playback == nil }
            #expect(room.countedSkipVotes == 0)
            #expect(room.history.first?.end == .skipped)
        }
    }

    @Test func `a refusal takes back what was shown, and names the reason`() async throws {
        addSongs(1)
        let client = try client()
        let room = client.room(server.reference)
        try await running(client) {
            try await until { room.phase == .live }
            do throws(ClientError) {
                try await room.send(.dequeue(EntryID(rawValue: 99)))
                Issue.record("there is no such entry")
            } catch {
                #expect(error.code == .notFound)
            }
        }
    }

    @Test func `commands without a connection are shown, and sent when it is back`() async throws {
        addSongs(2)
        let client = try client()
        let room = client.room(server.reference)
        try await running(client) {
            try await until { room.phase == .live }
            server.setReachable(false)
            try await until { if case .offline = room.phase { true } else { false } }
            let pending = try room.post(.vote(for: room.pool[0].id))
            #expect(room.pool[0].isMine && room.pool[0].isPending)
            #expect(room.pending.map(\.id) == [pending.id])
            server.setReachable(true)
            client.wake()
            let receipt = try await pending.answer()
            #expect(receipt.sequence == server.seq)
            try await until { room.phase == .live && room.pending.isEmpty }
            #expect(room.pool[0].votes == 1)
            #expect(server.state.withLock { $0.targets.last?.contains("epoch=e1&seq=") } == true, "it resumes")
        }
    }

    @Test func `kept commands and rooms survive a restart of the app`() async throws {
        addSongs(2)
        do {
            let client = try client()
            let room = client.room(server.reference)
            try await running(client) { try await until { room.phase == .live } }
            try await running(client) {
                try await until { room.phase == .live }
                server.setReachable(false)
                try await until { if case .offline = room.phase { true } else { false } }
                try room.post(.vote(for: TrackID(rawValue: 2)))
                await client.suspend()
            }
        }
        let client = try client()
        let room = client.room(server.reference)
        try await running(client) {
            try await until { !room.pool.isEmpty }
            #expect(room.track(TrackID(rawValue: 2))?.isMine == true, "shown again before there is a connection")
            #expect(room.pending.map(\.command.name) == ["vote"])
            server.setReachable(true)
            client.wake()
            try await until { room.phase == .live && room.pending.isEmpty }
            #expect(room.track(TrackID(rawValue: 2))?.votes == 1)
            let targets = server.state.withLock { $0.targets }
            #expect(targets.last?.hasSuffix("/socket?epoch=e1&seq=3") == true, "it resumes from what was kept")
        }
        #expect(await store.load().outbox.isEmpty)
    }

    @Test func `a follower without a main actor gets everything in order`() async throws {
        addSongs(5)
        let client = try client()
        let reference = server.reference
        let server = server
        try await running(client) {
            let updates = client.follow(reference)
            var iterator = updates.makeAsyncIterator()
            guard case .reset(let position)? = try await iterator.next() else {
                Issue.record("a room begins with a reset")
                return
            }
            var reached = position.sequence
            for number in 1...5 { server.perform(.vote(track: RoomDomain.TrackID(rawValue: number))) }
            var voted: [RoomClient::TrackID] = []
            while voted.count < 5, let update = try await iterator.next() {
                guard case .changed(let changes, let through) = update else { continue }
                #expect(through.sequence >= reached)
                reached = through.sequence
                for change in changes { if case .votes(let track, 1, _) = change { voted.append(track) } }
            }
            #expect(voted.map(\.rawValue) == [1, 2, 3, 4, 5])
            #expect(client.snapshot(of: reference)?.requests.count == 5)
        }
    }

    @Test func `a follower is told that the connection is back, also where nothing has changed`() async throws {
        addSongs(1)
        let client = try client()
        let reference = server.reference
        let server = server
        try await running(client) {
            let updates = client.follow(reference)
            var iterator = updates.makeAsyncIterator()
            for round in 1...3 {
                try await until { server.openSockets == 1 && client.snapshot(of: reference) != nil }
                server.drop()
                client.wake()
                try await until { server.openSockets == 1 }
                server.perform(round == 2 ? .unvote(track: .init(rawValue: 1)) : .vote(track: .init(rawValue: 1)))
                var told: [String] = []
                while told.last != "voted", let update = try await iterator.next() {
                    switch update {
                    case .offline: told.append("offline")
                    case .changed(let changes, _):
                        for change in changes {
                            if case .membership = change { told.append("back") }
                            if case .votes = change { told.append("voted") }
                        }
                    case .reset, .ended: told.append("read anew")
                    }
                }
                #expect(Array(told.drop { $0 != "offline" }) == ["offline", "back", "voted"])
            }
        }
    }

    @Test func `a command for a room that was just let go is carried out`() async throws {
        addSongs(3)
        let client = try client()
        let reference = server.reference
        try await running(client) {
            for number in 1...3 {
                for try await update in client.follow(reference) { if case .reset = update { break } }
                try await client.send(.vote(for: TrackID(rawValue: number)), to: reference)
            }
        }
    }

    @Test func `followers that are let go while they are told something do no harm`() async throws {
        addSongs(1)
        let client = try client()
        let (server, reference) = (server, server.reference)
        try await running(client) {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    for _ in 0..<500 {
                        server.perform(.vote(track: RoomDomain.TrackID(rawValue: 1)))
                        server.perform(.unvote(track: RoomDomain.TrackID(rawValue: 1)))
                        await Task.yield()
                    }
                }
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<200 {
                            var iterator = client.follow(reference).makeAsyncIterator()
                            _ = try? await iterator.next()
                        }
                    }
                }
            }
        }
        #expect(client.roomsHeld == 0)
    }

    @Test(arguments: TestSeed.several(6))
    func `after random use a room shows what the server has`(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        addSongs(20)
        let client = try client()
        let room = client.room(server.reference)
        try await running(client) {
            try await until { room.phase == .live }
            for step in 1...200 {
                let track = RoomDomain.TrackID(rawValue: Int.random(in: 1...25, using: &random))
                switch Int.random(in: 0..<12, using: &random) {
                case 0:
                    server.perform(.addTracks([.init(source: "f", sourceID: "n\(step)", title: "T\(step * 7 % 50)")]))
                case 1: server.perform(.removeTracks([track]))
                case 2: server.perform(.enqueue(track: track, index: nil))
                case 3: server.perform(.play(entry: nil))
                case 4: server.perform(.skip(entry: nil))
                case 5: server.perform(.join(name: "Guest \(step)"), by: .session(SessionID(UUID()), name: "G"))
                case 6: server.drop()
                case 7: client.wake()
                case 8: _ = try? room.post(.vote(for: RoomClient::TrackID(rawValue: track.rawValue)))
                case 9: _ = try? room.post(.unvote(RoomClient::TrackID(rawValue: track.rawValue)))
                default: server.perform(.vote(track: track))
                }
                if step % 10 == 0 { await Task.yield() }
            }
            client.wake()
            try await until { room.phase == .live && room.pending.isEmpty && room.position?.sequence == server.seq }
            let truth = server.state.withLock { $0.room }
            let shown = try StateJSON.decode(StateJSON.encode(truth))
            #expect(room.pool.map(\.id.rawValue) == shown.pool.map(\.id.rawValue))
            #expect(room.pool.map(\.votes) == shown.pool.map(\.votes))
            #expect(room.requests.map(\.id.rawValue) == shown.requests.map(\.rawValue))
            #expect(room.queue.map(\.id.rawValue) == shown.queue.map(\.id.rawValue))
            #expect(room.history.map(\.id.rawValue) == shown.history.map(\.entry.rawValue))
            #expect(room.members.count == shown.members.count)
            #expect(room.playback?.entry.rawValue == shown.playback?.entry.rawValue)
        }
    }

    @Test func `suspended and woken a hundred times, there is one socket at most`() async throws {
        let client = try client()
        let room = client.room(server.reference)
        try await running(client) {
            for round in 1...100 {
                client.wake()
                if round % 10 == 0 { client.wake() }
                try await until { room.phase == .live }
                #expect(server.openSockets == 1)
                await client.suspend()
                try await until { server.openSockets == 0 }
            }
        }
        #expect(server.openSockets == 0)
    }

    @Test func `ten thousand rooms that were opened and let go leave no object`() async throws {
        let client = try client()
        weak var last: Room?
        try await running(client) {
            for number in 1...10_000 {
                let digits = String(1_000_000_000_000 + number).dropFirst()
                let id = "00000000-0000-7000-8000-\(digits)"
                let room = client.room(try #require(RoomReference(id)))
                last = room
                if number % 100 == 0 { await Task.yield() }
            }
        }
        #expect(last == nil)
        #expect(client.roomsHeld == 0)
    }

    @Test func `one client runs once at a time`() async throws {
        let client = try client()
        let room = client.room(server.reference)
        try await running(client) {
            try await until { room.phase == .live }
            await #expect(throws: ClientError.self) { try await client.run() }
        }
    }

    /// In a process of its own: other tests need the main actor.
    @Test func `nothing is read for a main actor that stands still`() async {
        await #expect(processExitsWith: .success) { try await Self.standStill() }
    }

    private static func standStill() async throws {
        let tests = RoomTests()
        tests.addSongs(1)
        let (server, client) = (tests.server, try tests.client())
        let room = client.room(server.reference)
        try await running(client) {
            try await until { room.phase == .live }
            let socket = try #require(server.state.withLock { $0.sockets.last })
            for round in 1...3_000 {
                server.perform(round % 2 == 1 ? .vote(track: .init(rawValue: 1)) : .unvote(track: .init(rawValue: 1)))
            }
            blockThread { socket.waiting <= 3_000 - 1_024 }
            // One more may be on its way.
            guard socket.waiting >= 3_000 - 1_024 - 2 else { throw CancellationError() }
            try await until { room.position?.sequence == server.seq }
        }
    }

    /// Blocks the main actor until a condition holds, and a little longer.
    private static func blockThread(until condition: () -> Bool) {
        let end = ContinuousClock.now + .seconds(600)
        while !condition(), ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.001) }
        Thread.sleep(forTimeInterval: 0.05)
    }

    @Test func `a follower that takes nothing has a bounded queue, and is told to read anew`() async throws {
        addSongs(1)
        let client = try client()
        let reference = server.reference
        let updates = client.follow(reference)
        try await running(client) {
            try await until { client.snapshot(of: reference) != nil }
            for round in 1...400 {
                server.perform(round % 2 == 1 ? .vote(track: .init(rawValue: 1)) : .unvote(track: .init(rawValue: 1)))
            }
            try await until { client.snapshot(of: reference)?.position.sequence == server.seq }
            for _ in 1...20 {
                server.drop()
                // Once it has noticed the loss, it connects at once and waits for nothing.
                try await until {
                    client.wake()
                    return server.openSockets == 1
                }
            }
            var iterator = updates.makeAsyncIterator()
            guard case .reset(let position)? = try await iterator.next() else {
                Issue.record("what waited is older than what is to be read")
                return
            }
            #expect(position.sequence == server.seq)
        }
    }
}
