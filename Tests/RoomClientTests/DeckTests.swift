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
            server.perform(.resume(entry: nil))
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

    /// A room whose queue is empty, whose first song is on air, and which chooses by itself; songs 4 and 5 are asked for.
    private func prepareRequests(_ mode: RoomDomain.QueueMode) {
        prepare()
        var settings = SettingsUpdate()
        settings.queueMode = mode
        var update = RoomDomain.RoomUpdate()
        update.settings = settings
        server.perform(.updateRoom(update))
        server.perform(.dequeue(entry: RoomDomain.EntryID(rawValue: 2)))
        server.perform(.play(entry: nil))
        for track in [4, 5] { server.perform(.vote(track: RoomDomain.TrackID(rawValue: track))) }
    }

    /// Plays a deck with the first song on air.
    private func withDeck(
        _ mode: RoomDomain.QueueMode, _ body: (RoomClient, Room, RoomClient::Deck) async throws -> Void
    ) async throws {
        prepareRequests(mode)
        let client = try client()
        let room = client.room(server.reference)
        try await running(client) {
            try await until { room.phase == .live }
            let deck = try room.takeDeck()
            #expect(deck.song?.item.track == song(1))
            try await body(client, room, deck)
        }
    }

    @Test(arguments: [RoomDomain.QueueMode.votes, .fair])
    func `at the end of the queue the room chooses among its requests`(_ mode: RoomDomain.QueueMode) async throws {
        try await withDeck(mode) { _, room, deck in
            deck.finish()
            try await until { deck.song?.item.track == song(4) }
            #expect(room.playback?.track == song(4))
            #expect(room.playback?.startedBy == nil)
            #expect(room.history.first?.end == .ended)
            deck.skip()
            try await until { deck.song?.item.track == song(5) }
            #expect(room.history.first?.end == .skipped)
            #expect(room.requests.isEmpty)
            deck.finish()
            try await until { room.playback == nil && deck.song == nil }
            #expect(!deck.isUnsent)
        }
    }

    @Test func `what is done while the room chooses does not stop it`() async throws {
        try await withDeck(.votes) { _, room, deck in
            deck.finish()
            #expect(deck.song == nil)
            deck.pause()
            deck.enqueue(song(3))
            try await until { room.queue.map(\.track) == [song(3)] && !deck.isUnsent }
            #expect(deck.song?.item.track == song(4))
            #expect(room.playback?.track == song(4))
        }
    }

    @Test func `two devices that end one song end one`() async throws {
        try await withDeck(.votes) { _, room, deck in
            // The deck has not heard of it yet.
            server.perform(.finish(entry: RoomDomain.EntryID(rawValue: 1), isMissing: false))
            deck.finish()
            try await until { deck.song?.item.track == song(4) && room.history.count == 1 }
            #expect(room.requests.map(\.id) == [song(5)])
        }
    }

    @Test func `two devices that skip one song skip one`() async throws {
        try await withDeck(.votes) { _, room, deck in
            server.perform(.skip(entry: RoomDomain.EntryID(rawValue: 1)))
            deck.skip()
            try await until { deck.song?.item.track == song(4) && room.history.count == 1 }
            #expect(room.requests.map(\.id) == [song(5)])
        }
    }

    @Test func `a song that another DJ skips while this one pauses it stays ended`() async throws {
        try await withDeck(.votes) { _, room, deck in
            // The deck has not heard of it yet.
            server.perform(.skip(entry: RoomDomain.EntryID(rawValue: 1)))
            deck.pause()
            deck.enqueue(song(3))
            try await until { deck.song?.item.track == song(4) && !deck.isUnsent && room.pending.isEmpty }
            #expect(room.playback?.track == song(4))
            #expect(room.playback?.isPaused == false)
            #expect(room.history.map(\.track) == [song(1)])
        }
    }

    /// What an app does to the song that it shows on air.
    enum Control: CaseIterable { case pause, resume, seek, skip }

    @Test(arguments: Control.allCases)
    func `what is meant for a song is not done to the next one`(_ control: Control) async throws {
        try await withDeck(.votes) { _, room, _ in
            // The room has not been heard of it yet.
            server.perform(.skip(entry: RoomDomain.EntryID(rawValue: 1)))
            if control == .resume { server.perform(.pause(entry: nil)) }
            let before = server.seq
            switch control {
            case .pause: try await room.pause()
            case .resume: try await room.resume()
            case .seek: try await room.seek(to: .seconds(30))
            case .skip: try await room.skip()
            }
            #expect(server.seq == before)
            try await until { room.playback?.track == song(4) && room.pending.isEmpty }
            #expect(room.playback?.isPaused == (control == .resume))
        }
    }

    @Test func `what the deck lacks is not chosen, with a connection and without one`() async throws {
        try await withDeck(.votes) { client, room, deck in
            deck.setMissing([song(4)])
            try await until { room.track(song(4))?.isMissing == true }
            deck.finish()
            try await until { room.playback?.track == song(5) && deck.song?.item.track == song(5) }
            #expect(room.requests.map(\.id) == [song(4)])
            server.setReachable(false)
            try await until { if case .offline = room.phase { true } else { false } }
            deck.finish()
            #expect(deck.song == nil)
            server.setReachable(true)
            client.wake()
            try await until { room.phase == .live && room.playback == nil && !deck.isUnsent }
            deck.setMissing([])
            try await until { room.track(song(4))?.isMissing == false }
        }
    }

    @Test func `the length that a deck has measured is the room's`() async throws {
        try await withDeck(.votes) { client, room, deck in
            deck.setDuration(.seconds(200), of: song(1))
            try await until { room.track(song(1))?.duration == .seconds(200) }
            #expect(client.snapshot(of: server.reference)?.pool.first?.info.duration == .seconds(200))
        }
    }

    @Test func `without a connection the first request follows the queue, and the room is told`() async throws {
        try await withDeck(.votes) { client, room, deck in
            server.setReachable(false)
            try await until { if case .offline = room.phase { true } else { false } }
            deck.finish()
            #expect(deck.song?.item.track == song(4))
            deck.finish()
            // The votes of the song before are spent here, and still stand in the room.
            #expect(deck.song?.item.track == song(5))
            server.setReachable(true)
            client.wake()
            try await until { room.playback?.track == song(5) && !deck.isUnsent }
            #expect(room.history.prefix(2).map(\.track) == [song(4), song(1)])
            #expect(room.requests.isEmpty)
        }
    }

    @Test func `a deck whose question is lost with the connection goes on by itself`() async throws {
        try await withDeck(.votes) { client, room, deck in
            server.state.withLock { $0.isMute = true }
            deck.finish()
            #expect(deck.song == nil)
            server.setReachable(false)
            try await until { deck.song?.item.track == song(4) }
            #expect(deck.isUnsent)
            server.state.withLock { $0.isMute = false }
            server.setReachable(true)
            client.wake()
            try await until { room.playback?.track == song(4) && !deck.isUnsent }
            #expect(room.history.map(\.track) == [song(1)])
            #expect(deck.song?.item.track == song(4))
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

    @Test func `a new room is led over a line that is slower than the room is old`() async throws {
        prepare()
        server.state.withLock { $0.lag = 60_000 }
        let client = try client()
        let room = client.room(server.reference)
        try await running(client) {
            try await until { room.phase == .live }
            let deck = try room.takeDeck()
            deck.play()
            try await until { !deck.isUnsent && (deck.song == nil || room.playback != nil) }
            #expect(room.playback?.track == song(1) && deck.song?.item.track == song(1))
            deck.skip()
            try await until { room.playback?.track == song(2) || deck.song == nil }
            #expect(room.history.map(\.track) == [song(1)])
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
