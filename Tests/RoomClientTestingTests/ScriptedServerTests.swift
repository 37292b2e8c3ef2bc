import RoomClient
import Testing

@testable import RoomClientTesting

/// How long a test waits: other tests may take all processors meanwhile.
let patience = Duration.seconds(600)

/// Clients of a scripted server, as tests of apps have them.
@MainActor @Suite struct ScriptedServerTests {
    let server = ScriptedServer()
    /// By the system's clock, a client that gets no thread for a minute would take its connection for dead.
    let clock = ManualClock()

    /// Runs a test with a client; ends it once the conversation has failed, unless it is to fail.
    private func withClient(
        isToFail: Bool = false, _ body: @escaping @MainActor @Sendable (RoomClient, Room) async throws -> Void
    ) async throws {
        let address = try #require(ServerAddress("http://localhost:1"))
        let client = RoomClient(address, as: .guest(name: "Ana"), transport: server, clock: clock)
        let room = client.room(try #require(RoomReference("7K3M9Q")))
        try await withThrowingTaskGroup { group in
            group.addTask { try await client.run() }
            try await withThrowingTaskGroup { [server] group in
                group.addTask { try await body(client, room) }
                if !isToFail { group.addTask { try await server.failed() } }
                try await group.next()
                group.cancelAll()
            }
            group.cancelAll()
        }
    }

    /// Lets the time pass in which a client without a connection waits, until a condition holds.
    ///
    /// With a connection it stands still: a client looks for a sign of life after a minute.
    private func passTime(until isMet: () -> Bool) async {
        while !isMet(), !Task.isCancelled {
            if !server.isConnected { clock.advance(by: .seconds(1)) }
            await Task.yield()
        }
    }

    @Test func `a vote is shown at once, and stays`() async throws {
        server.serves("7K3M9Q", Kitchen.snapshot)
        server.expects(#"{"type":"command","id":"$id","room":"\#(Kitchen.id)","command":{"type":"vote","track":2}}"#)
        try await withClient { _, room in
            try await room.until(within: patience) { $0.phase == .live }
            let track = try #require(room.track(TrackID(rawValue: 2)))
            async let vote: Void = room.vote(for: track)
            try await room.until(within: patience) { $0.requests.last?.isMine == true }
            #expect(track.isPending)
            try await server.finished(within: patience)
            server.sends(#"{"type":"ack","re":"$id","seq":8,"keyed":4}"#)
            server.sends(Kitchen.delta(8, #""type":"voteCast","track":2,"by":1,"votes":1,"requestedSeq":8"#))
            try await vote
            try await room.until(within: patience) { $0.position?.sequence == 8 && $0.pending.isEmpty }
            #expect(track.votes == 1)
        }
        try await server.finished(within: patience)
    }

    @Test func `a lost command is sent again under its key, after the position was told`() async throws {
        server.serves("7K3M9Q", Kitchen.snapshot)
        server.expects(#"{"type":"command","key":"$key","command":{"type":"pause"}}"#)
        server.loses()
        server.expectsConnection(to: "/v1/rooms/7K3M9Q/socket?epoch=e1&seq=7")
        server.sends(Kitchen.resumed)
        server.expects(#"{"type":"command","id":"$again","key":"$key","command":{"type":"pause"}}"#)
        server.sends(#"{"type":"ack","re":"$again","seq":7,"keyed":4}"#)
        try await withClient { _, room in
            try await room.until(within: patience) { $0.phase == .live }
            async let answer = room.send(.pause())
            await passTime { server.transcript.contains { $0.contains(#""type":"ack""#) } }
            #expect(try await answer.sequence == 7)
            try await server.finished(within: patience)
        }
    }

    @Test func `who waits for a room that does not exist is told so`() async throws {
        server.refuses(404, #"{"type":"about:blank","title":"x","status":404,"code":"not_found","detail":"no"}"#)
        try await withClient { _, room in
            let error = await #expect(throws: ClientError.self) { try await room.live() }
            #expect(error?.code == .notFound)
            #expect(error?.message == "there is no such room")
            // And who comes later.
            await #expect(throws: ClientError.self) { try await room.live() }
        }
    }

    @Test func `a client comes back after a close and after a refusal`() async throws {
        server.serves("7K3M9Q", Kitchen.snapshot)
        server.closes(1_012)
        server.refuses(503)
        server.refuses(429, #"{"type":"about:blank","title":"x","status":429,"code":"rate_limited","detail":"slow"}"#)
        server.expectsConnection(to: "/v1/rooms/7K3M9Q/socket")
        server.sends(Kitchen.resumed)
        server.sends(Kitchen.delta(8, #""type":"roomClosed""#))
        try await withClient { _, room in
            await passTime { room.details?.closedAt != nil }
            try await server.finished(within: patience)
        }
        #expect(server.transcript.contains("-- closed with 1012"))
        #expect(server.transcript.contains("-- POST /v1/sessions: 201"))
    }

    // MARK: Failures in words

    @Test func `a message that does not fit is told with its place`() async throws {
        server.serves("7K3M9Q", Kitchen.snapshot)
        server.expects(#"{"type":"command","command":{"type":"vote","track":1}}"#)
        server.sends("never")
        try await withClient(isToFail: true) { _, room in
            try await room.until(within: patience) { $0.phase == .live }
            let track = try #require(room.track(TrackID(rawValue: 2)))
            let vote = Task { try await room.vote(for: track) }
            let failure = await #expect(throws: WaitFailure.self) { try await server.finished(within: patience) }
            let text = try #require(failure?.description)
            #expect(text.contains("the message does not fit: at .command.track, 2 is not 1"))
            #expect(text.contains("the next step, at RoomClientTestingTests/ScriptedServerTests.swift:"))
            #expect(text.contains(#"<- {"type":"command","id":"#))
            // The client tries on, and gets nowhere.
            try await room.until(within: patience) { if case .offline = $0.phase { true } else { false } }
            vote.cancel()
            await #expect(throws: ClientError.self) { try await vote.value }
        }
    }

    @Test func `who connects again by itself, and would wait for ever, is told at once`() async throws {
        server.serves("7K3M9Q", Kitchen.snapshot)
        let failure = await #expect(throws: WaitFailure.self) {
            try await withClient { _, room in
                try await room.until(within: patience) { $0.phase == .live }
                while !Task.isCancelled {
                    clock.advance(by: .seconds(120))
                    await Task.yield()
                }
            }
        }
        let text = try #require(failure?.description)
        #expect(text.contains("the client has connected again by itself, and no step answers it"))
        #expect(text.contains("-- the client has closed"))
    }

    @Test func `a conversation that stands still is told`() async throws {
        server.expects(#"{"type":"subscribe"}"#)
        let failure = await #expect(throws: WaitFailure.self) { try await server.finished(within: .milliseconds(20)) }
        let text = try #require(failure?.description)
        #expect(text.contains("it stands still after 0.02 seconds"))
        #expect(text.contains(#"the client sends {"type":"subscribe"}"#))
        #expect(text.hasSuffix("said so far:\n    nothing"))
    }

    @Test func `a wrong path, a name without a value and a pattern that is no JSON are told`() async throws {
        let address = try #require(ServerAddress("http://localhost:1"))
        let request = ClientRequest("GET", "/v1/socket", at: address)
        server.expectsConnection(to: "/v1/rooms/7K3M9Q/socket")
        await #expect(throws: TransportFault.self) { try await server.connect(request) }
        await #expect(throws: TransportFault.self) { try await server.send(request) }
        let first = await #expect(throws: WaitFailure.self) { try await server.finished(within: patience) }
        #expect(first?.description.contains("a connection to /v1/socket does not fit") == true)

        let other = ScriptedServer()
        other.sends(#"{"type":"ack","re":"$id"}"#)
        let socket = try await other.connect(request)
        let second = await #expect(throws: WaitFailure.self) { try await other.finished(within: patience) }
        #expect(second?.description.contains("nothing was captured as $id") == true)
        #expect(try await socket.receive() != nil, "the welcome")
        await #expect(throws: TransportFault.self) { try await socket.receive() }

        let third = ScriptedServer(welcomes: false)
        third.expects("no JSON")
        try await third.connect(request).send(Array("{}".utf8))
        let fault = await #expect(throws: WaitFailure.self) { try await third.finished(within: patience) }
        #expect(fault?.description.contains("the pattern is no JSON") == true)
    }

    @Test func `a room is served to a subscription and to its own socket, and each once`() async throws {
        let address = try #require(ServerAddress("http://localhost:1"))
        let server = ScriptedServer(welcomes: false)
        for number in 1...3 { server.serves("7K3M9Q", #"{"n":\#(number)}"#) }
        let own = try await server.connect(ClientRequest("GET", "/v1/rooms/7K3M9Q/socket?epoch=e&seq=1", at: address))
        try await own.send(Array(#"{"type":"subscribe","id":5,"room":"7K3M9Q"}"#.utf8))
        #expect(try await own.receive() == Array(#"{"n":1}"#.utf8))
        #expect(try await own.receive() == Array(#"{"n":2,"re":5}"#.utf8))
        let other = try await server.connect(ClientRequest("GET", "/v1/rooms/7K3M9QX/socket", at: address))
        try await other.send(Array(#"{"type":"subscribe","id":6,"room":"7K3M9QX"}"#.utf8))
        let failure = await #expect(throws: WaitFailure.self) { try await server.finished(within: patience) }
        #expect(failure?.description.contains(#"at .room, "7K3M9QX" is not "7K3M9Q""#) == true)
    }

    @Test func `a socket gives what was sent before it was closed, and then its code`() async throws {
        let address = try #require(ServerAddress("http://localhost:1"))
        server.sends("one")
        server.closes(4_401)
        let socket = try await server.connect(ClientRequest("GET", "/v1/socket", at: address))
        _ = try await socket.receive()
        #expect(await socket.closing == nil)
        #expect(try await socket.receive() == Array("one".utf8))
        #expect(try await socket.receive() == nil)
        #expect(await socket.closing == 4_401)
        await #expect(throws: TransportFault.self) { try await socket.send([1]) }
        await socket.close(1_000)
    }

    @Test(arguments: [
        (#"{"a":1}"#, #"{"b":2,"a":1.0}"#, nil),
        (#"{"a":null}"#, #"{}"#, nil),
        (#"{"a":"$x","b":"$x"}"#, #"{"a":[1],"b":[1]}"#, nil),
        (#"{"a":"$x","b":"$x"}"#, #"{"a":1,"b":2}"#, "at .b, 2 is not 1"),
        (#"{"a":"$x"}"#, #"{}"#, "there is nothing at .a"),
        (#"{"a":[1,{"b":true}]}"#, #"{"a":[1,{"b":false}]}"#, "at .a[1].b, false is not true"),
        (#"{"a":[1]}"#, #"{"a":[1,2]}"#, "at .a, [1,2] is not [1]"),
        (#"[]"#, #"{}"#, "at its root, {} is not []"),
    ])
    func `patterns fit what has their members`(pattern: String, message: String, difference: String?) async throws {
        let address = try #require(ServerAddress("http://localhost:1"))
        server.expects(pattern)
        try await server.connect(ClientRequest("GET", "/", at: address)).send(Array(message.utf8))
        do {
            try await server.finished(within: patience)
            #expect(difference == nil)
        } catch {
            #expect(error.description.contains("the message does not fit: \(difference ?? "never")\n"))
        }
    }

    // MARK: Waiting for a room

    @Test func `a wait that fails describes the room`() async throws {
        server.serves("7K3M9Q", Kitchen.snapshot)
        try await withClient { _, room in
            try await room.until(within: patience) { $0.phase == .live }
            let failure = await #expect(throws: WaitFailure.self) {
                try await room.until(within: .milliseconds(20)) { $0.requests.count > 1 }
            }
            let text = try #require(failure?.description)
            #expect(
                text.split(separator: "\n").dropFirst().joined(separator: "\n") == """
                        phase: live
                        position: 7 of epoch e1
                        room: "Kitchen", code 7K3M9Q
                        me: member 1, owner
                        online: [1]
                        members: 1 "Ana" owner, 2 "Bob" guest
                        pool: 1 "Amber" (3 votes), 2 "Blue" (0 votes)
                        requests: 1 "Amber" (3 votes)
                        queue: none
                        playback: playing entry 1 of track 2 at 5.0 seconds
                        history: none
                        pending: none
                    """)
            #expect(text.hasPrefix("RoomClientTestingTests/ScriptedServerTests.swift:"))
        }
    }

    @Test func `a wait sees changes of tracks, and ends with its task`() async throws {
        server.serves("7K3M9Q", Kitchen.snapshot)
        try await withClient { _, room in
            try await room.until(within: patience) { $0.phase == .live }
            let track = try #require(room.track(TrackID(rawValue: 1)))
            async let wait: Void = room.until(within: patience) { _ in track.votes == 4 }
            server.sends(Kitchen.delta(8, #""type":"voteCast","track":1,"by":2,"votes":4,"requestedSeq":5"#))
            try await wait
            let waiting = Task { try await room.until(within: patience) { _ in track.votes == 5 } }
            waiting.cancel()
            let failure = await #expect(throws: WaitFailure.self) { try await waiting.value }
            #expect(failure?.description.contains("the task was cancelled") == true)
        }
    }
}

/// A room with two tracks, as the server sends it.
enum Kitchen {
    static let id = "0193503f-1234-7abc-8def-0123456789ab"

    static let snapshot = """
        {"type":"snapshot","room":"\(id)","epoch":"e1","seq":7,"keyed":3,"time":1732200000000,"state":{"id":"\(id)",\
        "code":"7K3M9Q","name":"Kitchen","createdAt":1,"visibility":"unlisted","settings":{"queueMode":"dj",\
        "skipRatio":0.5,"maxWaitingPerMember":0,"repeatAfterPlays":0},"members":[\
        {"member":1,"name":"Ana","role":"owner","joinedAt":1},{"member":2,"name":"Bob","role":"guest","joinedAt":2}],\
        "pool":[{"track":1,"source":"s","sourceId":"1","title":"Amber","addedBy":1,"votes":3,"requestedSeq":5},\
        {"track":2,"source":"s","sourceId":"2","title":"Blue","addedBy":1,"votes":0}],"requests":[1],"queue":[],\
        "playback":{"status":"playing","entry":1,"track":2,"startedBy":1,"startedAt":3,"startedSeq":6,\
        "positionMs":5000,"atMs":4,"skipVotes":0},"history":[]},"you":{"member":1,"role":"owner","votes":[]},\
        "presence":{"online":1,"members":[1]}}
        """

    static let resumed =
        #"{"type":"resumed","room":"\#(id)","epoch":"e1","seq":7,"keyed":3,"presence":{"online":1,"members":[1]}}"#

    static func delta(_ seq: Int, _ event: String) -> String {
        #"{"type":"delta","room":"\#(id)","from":\#(seq),"seq":\#(seq),"events":[{"seq":\#(seq),"at":9,\#(event)}]}"#
    }
}
