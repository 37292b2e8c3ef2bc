import FoundationEssentials
import RoomClient
import RoomDomain
import Synchronization
import Testing

@MainActor @Suite struct DeckTests {
    let server = PocketServer()

    func client() throws -> RoomClient {
        let address = try #require(ServerAddress("https://party.example"))
        return RoomClient(address, as: .token("bls_ana"), transport: server)
    }

    private func song(_ number: Int) -> RoomClient::TrackID { RoomClient::TrackID(rawValue: number) }

    private func prepare() {
        let songs = (1...5).map { RoomDomain.TrackInfo(source: "file", sourceID: "\($0)", title: "Song \($0)") }
        server.perform(.addTracks(songs))
        server.perform(.enqueue(track: RoomDomain.TrackID(rawValue: 1), index: nil))
        server.perform(.enqueue(track: RoomDomain.TrackID(rawValue: 2), index: nil))
    }

    @Test func `changes of a deck reach the room, and the room's changes the deck`() async throws {
        prepare()
        let client = try client()
        let room = client.room(server.reference)
        try await running(client) {
            try await until { room.phase == .live }
            let deck = try room.takeDeck()
            #expect(deck.queue.map(\.track) == [song(1), song(2)])
            deck.play()
            #expect(deck.song?.item.track == song(1))
            try await until { room.playback?.track == song(1) && !deck.isUnsent }
            deck.enqueue(song(3))
            deck.pause()
            try await until { room.playback?.isPaused == true && room.queue.map(\.track) == [song(2), song(3)] }
            // Another device of the DJ changes the room.
            server.perform(.resume)
            server.perform(.enqueue(track: RoomDomain.TrackID(rawValue: 4), index: 0))
            try await until { deck.queue.map(\.track) == [song(4), song(2), song(3)] && deck.song?.isPaused == false }
            deck.skip()
            try await until { room.playback?.track == song(4) && room.history.first?.track == song(1) }
            #expect(room.history.first?.end == .skipped)
        }
    }

    @Test func `what was played without a connection is told in one command afterwards`() async throws {
        prepare()
        let client = try client()
        let room = client.room(server.reference)
        try await running(client) {
            try await until { room.phase == .live }
            let deck = try room.takeDeck()
            deck.play()
            try await until { room.playback?.track == song(1) && !deck.isUnsent }
            server.setReachable(false)
            try await until { if case .offline = room.phase { true } else { false } }
            let before = server.seq
            deck.finish()
            deck.enqueue(song(5))
            deck.finish()
            #expect(deck.song?.item.track == song(5))
            #expect(deck.isUnsent)
            #expect(server.seq == before)
            server.setReachable(true)
            client.wake()
            try await until { room.playback?.track == song(5) && !deck.isUnsent }
            #expect(room.history.prefix(2).map(\.track) == [song(2), song(1)])
            #expect(room.history.prefix(2).map(\.end) == [.ended, .ended])
            #expect(room.queue.isEmpty)
        }
    }

    @Test func `a deck ends with the role, and a guest has none`() async throws {
        prepare()
        let client = try client()
        let room = client.room(server.reference)
        try await running(client) {
            try await until { room.phase == .live }
            let deck = try room.takeDeck()
            let bob = Actor.session(SessionID(UUID()), name: "Bob")
            guard case .member(let member)? = server.perform(.join(name: nil), by: bob) else {
                Issue.record("nobody has joined")
                return
            }
            server.perform(.transferOwnership(member: member))
            server.perform(.setRole(member: RoomDomain.MemberID(rawValue: 1), role: .guest), by: bob)
            deck.play()
            try await until { deck.ending?.code == .forbidden }
            try await until { room.me?.role == .guest }
            #expect(throws: ClientError.self) { try room.takeDeck() }
        }
    }

    @Test func `a deck leads its room also where nobody else holds it`() async throws {
        prepare()
        let client = try client()
        try await running(client) {
            let deck = try await {
                let room = client.room(server.reference)
                try await until { room.phase == .live }
                return try room.takeDeck()
            }()
            deck.play()
            try await until { server.state.withLock { $0.room.onAir?.track.rawValue } == 1 }
            #expect(client.roomsHeld > 0)
        }
    }
}
