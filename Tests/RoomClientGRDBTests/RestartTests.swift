import RoomClient
import RoomClientGRDB
import RoomClientTesting
import Testing

/// Clients that end and begin again with one file.
@MainActor @Suite struct RestartTests {
    @Test func `a kept command is sent under its key after a restart, and the room is shown before`() async throws {
        try await withScratchPath { path in
            let server = ScriptedServer()
            server.serves("7K3M9Q", Kitchen.snapshot)
            server.expects(#"{"type":"command","id":"$id","key":"$key","command":{"type":"vote","track":2}}"#)
            try await run(server, try DatabaseStore(path: path)) { room in
                try await room.until(within: .seconds(600)) { $0.phase == .live }
                try room.post(.vote(for: TrackID(rawValue: 2)))
                try await server.finished()
            }

            // There is no network.
            let store = try DatabaseStore(path: path)
            let silent = ScriptedServer()
            silent.refuses(503)
            try await run(silent, store) { room in
                try await room.until(within: .seconds(600)) { $0.position?.sequence == 7 && $0.pending.count == 1 }
                #expect(room.track(TrackID(rawValue: 2))?.isMine == true)
                #expect(room.track(TrackID(rawValue: 2))?.votes == 1)
                try await silent.finished()
            }
            #expect(!silent.transcript.contains { $0.contains("POST") }, "the session was kept")

            server.expectsConnection()
            server.serves("7K3M9Q", Kitchen.snapshot)
            server.expects(#"{"type":"command","id":"$again","key":"$key","command":{"type":"vote","track":2}}"#)
            server.sends(#"{"type":"ack","re":"$again","seq":8,"keyed":4}"#)
            server.sends(Kitchen.vote)
            try await run(server, store) { room in
                try await room.until(within: .seconds(600)) { $0.position?.sequence == 8 && $0.pending.isEmpty }
            }
            let left = try await store.load()
            #expect(left.outbox.isEmpty)
            #expect(left.lastOrdinal == 1)
            #expect(try await store.room(try reference("7K3M9Q"))?.sequence == 8)
            #expect(server.transcript.count { $0.contains("POST /v1/sessions") } == 1)
        }
    }

    private func run(
        _ server: ScriptedServer, _ store: DatabaseStore, _ body: (Room) async throws -> Void
    ) async throws {
        let address = try #require(ServerAddress("http://localhost:1"))
        let client = RoomClient(address, as: .guest(name: "Ana"), transport: server, store: store)
        let room = client.room(try reference("7K3M9Q"))
        try await withThrowingTaskGroup { group in
            group.addTask { try await client.run() }
            try await body(room)
            group.cancelAll()
        }
        #expect(client.storeFault == nil)
    }
}

/// A room with a member and two tracks, as the server sends it.
private enum Kitchen {
    private static let id = "0193503f-1234-7abc-8def-0123456789ab"

    static let snapshot = """
        {"type":"snapshot","room":"\(id)","epoch":"e1","seq":7,"keyed":3,"time":1732200000000,"state":{"id":"\(id)",\
        "code":"7K3M9Q","name":"Kitchen","createdAt":1,"visibility":"unlisted","settings":{"queueMode":"dj",\
        "skipRatio":0.5,"maxWaitingPerMember":0,"repeatAfterPlays":0},"members":[\
        {"member":1,"name":"Ana","role":"owner","joinedAt":1}],\
        "pool":[{"track":1,"source":"s","sourceId":"1","title":"Amber","addedBy":1,"votes":0},\
        {"track":2,"source":"s","sourceId":"2","title":"Blue","addedBy":1,"votes":0}],"requests":[],"queue":[],\
        "playback":{"status":"stopped"},"history":[]},"you":{"member":1,"role":"owner","votes":[]},\
        "presence":{"online":1,"members":[1]}}
        """

    static let vote = """
        {"type":"delta","room":"\(id)","from":8,"seq":8,"events":[{"seq":8,"at":9,"type":"voteCast","track":2,"by":1,\
        "votes":1,"requestedSeq":8}]}
        """
}
