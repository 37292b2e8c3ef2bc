import RoomDomain
import RoomWire
import Testing

/// Every message, event and body, compared with its text in `Fixtures` byte for byte.
@Suite struct GoldenTests {
    private static let you = Array(#"{"member":2,"role":"guest","votes":[2,3]}"#.utf8)
    private static let everybody = Presence(online: 2, members: [Sample.member(1), Sample.member(2)])

    private static let nearby = [
        RoomSummary(
            id: Sample.room, code: Sample.code, name: "Kitchen", location: Sample.location, listeners: 12,
            djName: "Ana", nowPlaying: .init(title: "Beta", artist: "Ann"), createdAt: Sample.time(0),
            distanceMeters: 12.5)
    ]

    private static let serverMessages: [(name: String, bytes: [UInt8])] = [
        (
            "welcome",
            ServerMessage.welcome(
                sessionID: Sample.session(1), name: "Ana", version: "0.1.0", node: "a1", beatMs: 25_000,
                time: Sample.time(0))
        ),
        (
            "snapshot",
            ServerMessage.snapshot(
                re: 1, room: Sample.room, epoch: "e1", seq: 57, keyed: 1_204, time: Sample.time(0),
                state: StateJSON.encode(Sample.closed), you: you, presence: everybody,
                deck: ShownDeck(member: Sample.member(3), isHere: false))
        ),
        (
            "snapshot-collapsed",
            ServerMessage.snapshot(
                re: nil, room: Sample.room, epoch: "e1", seq: 131, keyed: nil, time: Sample.time(0),
                state: StateJSON.encode(Sample.closed), you: nil, presence: Presence(online: 1_500, members: nil),
                collapsed: 58...131)
        ),
        (
            "resumed",
            ServerMessage.resumed(
                re: -1, room: Sample.room, epoch: "e1", seq: 57, keyed: 1_204, you: you, presence: everybody,
                deck: ShownDeck(member: Sample.member(1), isHere: true))
        ),
        (
            "resumed-watching",
            ServerMessage.resumed(
                re: 1, room: Sample.room, epoch: "e1", seq: 57, keyed: nil, you: nil,
                presence: Presence(online: 0, members: []))
        ),
        (
            "delta",
            ServerMessage.delta(
                room: Sample.room,
                events: [
                    RecordedEvent(
                        seq: 58, at: Sample.time(0),
                        event: .memberJoined(
                            member: Sample.member(2), name: "Bob", role: .guest, session: Sample.session(2))),
                    RecordedEvent(
                        seq: 59, at: Sample.time(0),
                        event: .voteCast(track: Sample.track(1), by: Sample.member(2), votes: 1, requestedSeq: 59)),
                    RecordedEvent(
                        seq: 60, at: Timestamp(milliseconds: Sample.start + 1), event: .roomClosed),
                ])
        ),
        (
            "presence",
            ServerMessage.presence(
                room: Sample.room, online: 3, change: ([Sample.member(1), Sample.member(3)], [Sample.member(2)]))
        ),
        ("presence-nobody", ServerMessage.presence(room: Sample.room, online: 0, change: ([], [Sample.member(3)]))),
        ("presence-many", ServerMessage.presence(room: Sample.room, online: 1_001, change: nil)),
        ("reaction", ServerMessage.reaction(room: Sample.room, from: Sample.member(2), emoji: "👍")),
        (
            "signal",
            ServerMessage.signal(
                room: Sample.room, from: Sample.member(1),
                data: Sample.relayed(#"{ "a" : [1.0,12345678901234567890123] }"#))
        ),
        ("deck", ServerMessage.deck(room: Sample.room, ShownDeck(member: Sample.member(3), isHere: false))),
        ("deck-here", ServerMessage.deck(room: Sample.room, ShownDeck(member: Sample.member(1), isHere: true))),
        ("deck-nobody", ServerMessage.deck(room: Sample.room, nil)),
        ("ok", ServerMessage.ok(re: 2)),
        ("ack", ServerMessage.ack(re: 3, seq: 58, keyed: 1_205, result: nil)),
        ("ack-member", ServerMessage.ack(re: .max, seq: 58, keyed: 0, result: .member(Sample.member(3)))),
        (
            "ack-tracks",
            ServerMessage.ack(re: nil, seq: 58, keyed: 1_205, result: .tracks([Sample.track(7), Sample.track(8)]))
        ),
        ("ack-entry", ServerMessage.ack(re: 0, seq: 58, keyed: 1, result: .entry(Sample.entry(9)))),
        (
            "ack-waveform",
            ServerMessage.ack(re: 3, seq: 58, keyed: 1_205, result: .waveform(Sample.waveform.name))
        ),
        ("error", ServerMessage.error(MessageViolation(re: 3, code: .notFound, message: "no track 7"))),
        (
            "error-retry",
            ServerMessage.error(
                re: nil, code: .unavailable, message: "the event log is out of reach", retryAfterMs: 1_000)
        ),
        (
            "error-banned",
            ServerMessage.error(
                re: 3, code: .banned, message: RoomRefusal.banned(retryAfterMs: 3_600_000).detail,
                retryAfterMs: RoomRefusal.banned(retryAfterMs: 3_600_000).retryAfterMs, reason: "too loud")
        ),
        ("ended", ServerMessage.ended(room: Sample.room, code: .banned)),
        (
            "time",
            ServerMessage.time(re: 9, t1: 1_732_200_000_000.25, t2: 1_732_200_000_001, t3: 1_732_200_000_001.5)
        ),
        ("nearby", ServerMessage.nearby(re: 5, rooms: nearby)),
        ("nearby-none", ServerMessage.nearby(re: 5, rooms: [])),
        (
            "nearbyDelta",
            ServerMessage.nearbyDelta(
                sub: 5, entered: nearby, changed: [], left: [Sample.room, RoomID(Sample.session(1).uuid)])
        ),
        (
            "statistics",
            ServerMessage.statistics(
                re: 7, room: Sample.room,
                counts(
                    through: 812,
                    [
                        StatisticsBucket(
                            at: Sample.time(0),
                            counts: [
                                .starts: 1, .plays: 2, .skips: 1, .playedMs: 431_000, .votes: 12, .unvotes: 1,
                                .requests: 4, .joins: 3, .leaves: 1, .tracksAdded: 40,
                            ]),
                        StatisticsBucket(at: Sample.time(60), counts: [.votes: 1]),
                    ], today: [.plays: 11, .votes: 96]))
        ),
        (
            "statisticsDelta",
            ServerMessage.statisticsDelta(
                sub: 7,
                counts(
                    through: 815,
                    [
                        StatisticsBucket(at: Sample.time(60), counts: [.votes: 2]),
                        StatisticsBucket(at: Sample.time(120), counts: [:]),
                    ], today: [.plays: 11, .votes: 97]), isWhole: false)
        ),
        (
            "statisticsDelta-whole",
            ServerMessage.statisticsDelta(sub: 7, counts(in: "e2", through: 3, [], today: [:]), isWhole: true)
        ),
        ("statisticsEnd", ServerMessage.statisticsEnd(sub: 7, code: .banned)),
        (
            "trending",
            ServerMessage.trending(
                re: 9,
                top(
                    at: 0, [("One More Time", "Daft Punk", plays: 9, rooms: 6), ("Untitled", nil, plays: 5, rooms: 5)]))
        ),
        ("trendingDelta", ServerMessage.trendingDelta(sub: 9, top(at: 10, []))),
        ("goaway", ServerMessage.goaway(reason: "restart", reconnectInMs: 1_500)),
        (
            "beat",
            ServerMessage.beat(
                time: Sample.time(0), rooms: [(Sample.room, 60), (RoomID(Sample.session(1).uuid), 1)])
        ),
        ("beat-idle", ServerMessage.beat(time: Sample.time(0), rooms: [])),
    ]

    private static func counts(
        in epoch: String = "e1", through seq: Int, _ minutes: [StatisticsBucket], today: [StatisticsMetric: Int]
    ) -> RoomCounts {
        RoomCounts(
            position: Position(epoch: epoch, seq: seq), minutes: minutes,
            today: StatisticsBucket(at: Sample.time(-52_800), counts: today))
    }

    private static func top(
        at seconds: Int64, _ songs: [(title: String, artist: String?, plays: Int, rooms: Int)]
    ) -> TopAnswer {
        TopAnswer(
            window: .hour, from: Sample.time(seconds - 3_600), to: Sample.time(seconds), minimumRooms: 5,
            songs: songs.map { song in
                RankedSong(
                    song: CountedSong(
                        track: nil, source: nil, sourceID: nil, title: song.title, artist: song.artist, addedBy: nil),
                    plays: song.plays, rooms: song.rooms)
            })
    }

    private static let bodies: [(name: String, bytes: [UInt8])] = [
        (
            "room",
            HTTPBody.room(
                epoch: "e1", seq: 57, keyed: 1_204, time: Sample.time(0), state: StateJSON.encode(Sample.closed),
                presence: everybody, you: you)
        ),
        (
            "room-past",
            HTTPBody.room(
                epoch: "e1", seq: 57, keyed: nil, time: Sample.time(0), state: StateJSON.encode(Sample.closed),
                presence: nil, you: nil)
        ),
        (
            "events",
            HTTPBody.events(
                epoch: "e1",
                events: [
                    Sample.recorded(.memberRenamed(member: Sample.member(2), name: "Bobby"), seq: 2, seconds: 0)
                ], seq: 60)
        ),
        ("events-none", HTTPBody.events(epoch: "e1", events: [], seq: 60)),
        (
            "pool",
            HTTPBody.pool(
                PoolPage(
                    tracks: [
                        Track(
                            id: Sample.track(7),
                            info: TrackInfo(
                                source: "shelf", sourceID: "s-7", title: "Été", artist: "Ann", album: "A/B",
                                durationMs: 200_000, artworkURL: "https://example.org/7.png"),
                            addedBy: Sample.member(1), votes: 2, requestedSeq: 41),
                        Track(
                            id: Sample.track(2), info: TrackInfo(source: "shelf", sourceID: "s-2", title: "Zoo"),
                            addedBy: Sample.member(2)),
                    ], next: .title(Array("zoo".utf8), Sample.track(2))),
                at: Position(epoch: "e1", seq: 57))
        ),
        ("pool-none", HTTPBody.pool(PoolPage(), at: Position(epoch: "e1", seq: 57))),
        ("command", HTTPBody.command(seq: 58, keyed: 0, result: nil)),
        ("command-result", HTTPBody.command(seq: 58, keyed: 1_205, result: .tracks([Sample.track(7)]))),
        (
            "rooms",
            HTTPBody.rooms(
                [
                    RoomSummary(
                        id: Sample.room, code: Sample.code, name: "Kitchen", location: Sample.location, listeners: 12,
                        djName: "Ana", nowPlaying: .init(title: "Beta", artist: "Ann"), createdAt: Sample.time(0),
                        distanceMeters: 12.5),
                    RoomSummary(
                        id: Sample.room, code: .zero, name: "Cellar", location: nil, listeners: 0, djName: nil,
                        nowPlaying: .init(title: "alpha", artist: nil), createdAt: Sample.time(0)),
                ], next: "c2")
        ),
        ("rooms-none", HTTPBody.rooms([])),
        (
            "session",
            HTTPBody.session(
                id: Sample.session(1), name: "Ana", createdAt: Sample.time(0), expiresAt: Sample.time(2_592_000))
        ),
        (
            "session-token",
            HTTPBody.sessionWithToken(
                id: Sample.session(1), name: "Ana", createdAt: Sample.time(0), expiresAt: Sample.time(2_592_000),
                token: "bls_abc")
        ),
        ("problem", HTTPBody.problem(code: .notFound, detail: "no such room")),
        (
            "problem-banned",
            HTTPBody.problem(code: .banned, detail: RoomRefusal.banned.detail, reason: "too loud")
        ),
        (
            "problem-retry",
            HTTPBody.problem(
                status: 503, code: .unavailable, title: "Service Unavailable",
                detail: "the event log is out of reach", retryAfterMs: 1_000)
        ),
    ]

    private static let clientMessages: [(name: String, message: ClientMessage)] = [
        ("subscribe", .subscribe(id: 1, room: .id(Sample.room), position: nil)),
        ("subscribe-code", .subscribe(id: nil, room: .code(Sample.code), position: nil)),
        ("subscribe-resume", .subscribe(id: 1, room: .id(Sample.room), position: Position(epoch: "e1", seq: 41))),
        ("unsubscribe", .unsubscribe(id: 2, room: .id(Sample.room))),
        ("command", .command(id: 3, room: .id(Sample.room), key: "k-1", command: .vote(track: Sample.track(7)))),
        (
            "command-after",
            .command(id: 4, room: .id(Sample.room), key: "k-2", command: .unvote(track: Sample.track(7)), after: 3)
        ),
        ("command-unkeyed", .command(id: nil, room: .id(Sample.room), key: nil, command: .skip)),
        ("react", .react(id: 7, room: .id(Sample.room), emoji: "👩🏻‍❤️‍💋‍👨🏿")),
        (
            "signal",
            .signal(
                id: 8, room: .code(Sample.code), to: Sample.member(2),
                data: Sample.relayed(#"{"sdp":"v=0\r\n", "n":[1.0]}"#))
        ),
        (
            "signal-null",
            .signal(id: nil, room: .id(Sample.room), to: Sample.member(2), data: Sample.relayed("null"))
        ),
        ("deck", .deck(id: 8, room: .id(Sample.room), isOn: true)),
        ("deck-off", .deck(id: nil, room: .id(Sample.room), isOn: false)),
        ("time", .time(id: 9, t1: 1_732_200_000_000.25)),
        ("nearbyStop", .nearbyStop(id: 6, sub: 5)),
        ("statistics", .statistics(id: 7, room: .id(Sample.room), offset: 60)),
        ("statistics-usual", .statistics(id: 7, room: .id(Sample.room), offset: 0)),
        ("statisticsStop", .statisticsStop(id: 8, sub: 7)),
        ("trending-usual", .trending(id: 9, query: TrendingQuery())),
        ("trendingStop", .trendingStop(id: 10, sub: 9)),
    ]

    private static let nearbyMessages: [(name: String, message: ClientMessage)] =
        Sample.point.map { place in
            [
                ("nearby", .nearby(id: 5, query: NearbyQuery(origin: place, radiusMeters: 20_037_508, limit: 200))),
                ("nearby-usual", .nearby(id: 5, query: NearbyQuery(origin: place))),
                (
                    "trending",
                    .trending(
                        id: 9,
                        query: TrendingQuery(
                            window: .hour, place: NearbyQuery(origin: place, radiusMeters: 1_000, limit: 10), limit: 10)
                    )
                ),
            ]
        } ?? []

    @Test func `server messages are written as the protocol has them`() throws {
        for (name, bytes) in Self.serverMessages { try expect(bytes, is: "server-" + name) }
    }

    @Test func `HTTP bodies are written as the protocol has them`() throws {
        for (name, bytes) in Self.bodies { try expect(bytes, is: "http-" + name) }
    }

    @Test func `client messages are read as the protocol has them`() throws {
        for (name, message) in Self.clientMessages + Self.nearbyMessages {
            let text = try Fixture.bytes("client-" + name)
            #expect(try ClientMessage.parse(text) == message, "\(name)")
            #expect(try ClientMessage.parse(text.span) == message, "\(name)")
        }
    }

    @Test func `client messages are written as the protocol has them`() throws {
        // Texts that a server accepts and never writes: with white space, in another order, in lower case.
        let unusual: Set = ["signal", "signal-null", "subscribe-code"]
        for (name, message) in Self.clientMessages + Self.nearbyMessages where !unusual.contains(name) {
            try expect(message.encoded(), is: "client-" + name)
        }
    }

    @Test func `commands are read and written as the protocol has them`() throws {
        for (name, command) in Sample.commands {
            let value = try JSONValue(parsing: Fixture.bytes("command-" + name))
            #expect(try CommandJSON.parse(value) == command, "\(name)")
            try expect(CommandJSON.encode(command), is: "command-" + name)
        }
    }

    @Test func `events are shown to clients without anything private`() throws {
        for (name, event) in Sample.events {
            var writer = JSONWriter()
            EventJSON.write(Sample.recorded(event), for: .clients, to: &writer)
            try expect(writer.bytes, is: "event-" + name)
        }
    }

    @Test func `events are kept in the log without their place and with their sessions`() throws {
        for (name, event) in Sample.events {
            var writer = JSONWriter()
            EventJSON.write(Sample.recorded(event), for: .log, to: &writer)
            try expect(writer.bytes, is: "log-" + name)
            try expect(EventJSON.encodeLog(event), is: "log-" + name)
        }
    }

    @Test func `events in the log are read back as they were`() throws {
        for (name, event) in Sample.events {
            let type = event.kind.rawValue
            #expect(type == String(name.prefix { $0 != "-" }))
            let read = try EventJSON.decodeLog(
                type: type, seq: 8, at: Sample.time(8).milliseconds, payload: Fixture.bytes("log-" + name))
            #expect(read == Sample.recorded(event), "\(name)")
        }
    }

    @Test func `a room's state is written as the protocol has it`() throws {
        try expect(StateJSON.encode(Sample.state), is: "state")
        try expect(StateJSON.encode(Sample.closed), is: "state-closed")
        try expect(StoredStateJSON.encode(Sample.state), is: "stored-state")
        #expect(try StoredStateJSON.decode(Fixture.bytes("stored-state")) == Sample.state)
    }

    @Test func `a session's own membership is written as the protocol has it`() throws {
        try expect(try #require(YouJSON.encode(Sample.state, Sample.session(2))), is: "you")
        #expect(YouJSON.encode(Sample.state, Sample.session(4)) == nil)
    }

    @Test func `request bodies are read and written as the protocol has them`() throws {
        #expect(try SessionRequest.parse(Fixture.bytes("request-session")).name == "Ana")
        try expect(SessionRequest(name: "Ana").encoded(), is: "request-session")
        #expect(try CommandJSON.parse(body: Fixture.bytes("request-command")) == .skip)
        try expect(CommandJSON.encode(body: .skip), is: "request-command")
        let room = try CreateRoomRequest.parse(Fixture.bytes("request-room"))
        #expect(room.name == "Kitchen")
        #expect(room.location == Sample.point)
        #expect(room.visibility == .unlisted)
        var settings = SettingsUpdate()
        settings.skipRatio = 0.25
        #expect(room.settings == settings)
        let bare = try CreateRoomRequest.parse(Fixture.bytes("request-room-bare"))
        #expect(bare.name == "Kitchen")
        #expect(bare.location == nil)
        #expect(bare.visibility == nil)
        #expect(bare.settings == SettingsUpdate())
        try expect(room.encoded(), is: "request-room")
        try expect(bare.encoded(), is: "request-room-bare")
    }

    @Test func `every fixture is the text of something`() throws {
        var names: Set<String> = [
            "state", "state-closed", "stored-state", "you", "request-session", "request-command", "request-room",
            "request-room-bare",
        ]
        names.formUnion(Self.serverMessages.map { "server-" + $0.name })
        names.formUnion(Self.bodies.map { "http-" + $0.name })
        names.formUnion((Self.clientMessages + Self.nearbyMessages).map { "client-" + $0.name })
        names.formUnion(Sample.commands.map { "command-" + $0.name })
        names.formUnion(Sample.events.flatMap { ["event-" + $0.name, "log-" + $0.name] })
        #expect(try Fixture.names() == names)
    }

    @Test func `a delta with a hole cannot be written`() async {
        await #expect(processExitsWith: .failure) {
            _ = ServerMessage.delta(
                room: Sample.room,
                events: [Sample.recorded(.roomClosed, seq: 1), Sample.recorded(.playbackStopped, seq: 3)])
        }
        await #expect(processExitsWith: .failure) {
            _ = ServerMessage.delta(room: Sample.room, events: [])
        }
    }
}
