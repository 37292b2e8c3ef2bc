import Observation
import RoomClient
import RoomDomain
import RoomTestSupport
import Testing

/// What is told of a room, and when it is there.
@MainActor @Suite struct FollowingTests {
    let server = PocketServer()

    private func client() throws -> RoomClient {
        let address = try #require(ServerAddress("https://party.example"))
        return RoomClient(address, as: .guest(name: "Ana"), transport: server)
    }

    private func addSongs(_ count: Int) {
        let songs = (1...count).map { RoomDomain.TrackInfo(source: "file", sourceID: "\($0)", title: "Song \($0)") }
        server.perform(.addTracks(songs))
    }

    @Test func `a follower is not told twice what is shown and then confirmed`() async throws {
        addSongs(2)
        let client = try client()
        let reference = server.reference
        let song = RoomClient::TrackID(rawValue: 1)
        try await running(client) {
            var iterator = client.follow(reference).makeAsyncIterator()
            guard case .reset? = try await iterator.next() else {
                Issue.record("a room begins with a reset")
                return
            }
            try await client.send(.vote(for: song), to: reference)
            try await client.send(.unvote(song), to: reference)
            try await client.send(.vote(for: song), to: reference)
            // The last thing that is told.
            server.perform(.rename(name: "Anna"))
            var votes: [[Int]] = []
            reading: while let update = try await iterator.next() {
                guard case .changed(let changes, _) = update else { continue }
                for change in changes {
                    if case .votes(song, let count, let isMine) = change { votes.append([count, isMine ? 1 : 0]) }
                    if case .member(let member) = change, member.name == "Anna" { break reading }
                }
            }
            #expect(votes == [[1, 1], [0, 0], [1, 1]])
        }
    }

    @Test func `a program waits until a room is live, and for others that do`() async throws {
        addSongs(1)
        let client = try client()
        let room = client.room(server.reference)
        server.setReachable(false)
        try await running(client) {
            async let first: Void = room.live()
            async let second: Void = room.live()
            try await until { client.fault != nil }
            #expect(room.phase != .live)
            server.setReachable(true)
            client.wake()
            _ = try await (first, second)
            #expect(room.phase == .live)
            #expect(room.pool.count == 1)
            // At once where it is live already.
            try await room.live()
        }
    }

    @Test func `a task that waits for a room can be cancelled`() async throws {
        let room = try client().room(server.reference)
        let task = Task { try await room.live() }
        task.cancel()
        guard case .failure(let error) = await task.result else {
            Issue.record("the room is not live")
            return
        }
        #expect((error as? ClientError)?.code == .cancelled)
    }

    @Test func `a room can be observed without SwiftUI`() async throws {
        addSongs(1)
        let client = try client()
        let room = client.room(server.reference)
        try await running(client) {
            try await room.live()
            server.perform(.vote(track: RoomDomain.TrackID(rawValue: 1)))
            for await requests in Observations({ room.requests.map(\.id) }) where !requests.isEmpty {
                #expect(requests == [RoomClient::TrackID(rawValue: 1)])
                break
            }
        }
    }

    @Test func `a room is read from what people paste`() throws {
        for row in try RoomLinks.all().texts {
            #expect(RoomClient::RoomReference(row.text)?.description == row.room, "\(row)")
        }
    }
}
