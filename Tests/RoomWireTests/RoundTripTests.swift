import RandomTestSupport
import RoomDomain
import RoomTestSupport
import RoomWire
import Testing

/// Every value that is written reads back unchanged.
@Suite struct RoundTripTests {
    private static let rounds = 200

    /// Gives random values to `body` in many rounds, from a seed that is printed.
    private func rounds(_ test: String, _ body: (inout RandomValues) throws -> Void) throws {
        var values = RandomValues(random: .fresh(test))
        for _ in 0..<Self.rounds { try body(&values) }
    }

    @Test func `commands`() throws {
        try rounds("commands") { (values: inout RandomValues) throws in
            for kind in RoomCommand.Kind.allCases where !RoomCommand.Kind.servers.contains(kind) {
                let command = values.command(kind)
                let read = try CommandJSON.parse(JSONValue(parsing: CommandJSON.encode(command)))
                #expect(read == command)
                #expect(read.kind == kind)
                #expect(CommandJSON.fingerprint(read) == CommandJSON.fingerprint(command))
                #expect(try CommandJSON.parse(body: CommandJSON.encode(body: command)) == command)
            }
        }
    }

    @Test func `a command that only the server asks for is written and not read`() throws {
        try rounds("server's commands") { (values: inout RandomValues) throws in
            for kind in RoomCommand.Kind.servers {
                let value = try JSONValue(parsing: CommandJSON.encode(values.command(kind)))
                #expect(value.object?["type"] == .string(kind.rawValue))
                #expect(throws: MessageViolation(message: "command.type must be a command that this server supports")) {
                    try CommandJSON.parse(value)
                }
            }
        }
    }

    @Test func `messages of clients`() throws {
        try rounds("client messages") { (values: inout RandomValues) throws in
            for kind in ClientMessage.Kind.allCases {
                let message = values.message(kind)
                #expect(message.kind == kind)
                #expect(try ClientMessage.parse(message.encoded()) == message)
            }
        }
    }

    @Test func `messages of servers`() throws {
        try rounds("server messages") { (values: inout RandomValues) throws in
            for kind in ServerMessage.Kind.allCases {
                let (message, text) = { ($0, $0.encoded()) }(values.received(kind))
                #expect(try JSONValue(parsing: text).object?["type"] == .string(kind.rawValue))
                let read = try ServerMessage.Received.parse(text)
                #expect(read == message)
                #expect(read.encoded() == text)
            }
        }
    }

    @Test func `events in the log and as clients are shown them`() throws {
        try rounds("events") { (values: inout RandomValues) throws in
            for kind in RoomEvent.Kind.allCases {
                let recorded = RecordedEvent(seq: values.seq(), at: values.instant(), event: values.event(kind))
                #expect(recorded.event.kind == kind)
                let stored = try EventJSON.decodeLog(
                    type: kind.rawValue, seq: recorded.seq, at: recorded.at.milliseconds,
                    payload: EventJSON.encodeLog(recorded.event))
                #expect(stored == recorded)
                var writer = JSONWriter()
                EventJSON.write(recorded, for: .clients, to: &writer)
                let shown = try EventJSON.decodeShown(writer.bytes)
                let expected = RecordedEvent(
                    seq: recorded.seq, at: recorded.at, event: recorded.event.withoutSessions)
                #expect(shown == .known(expected))
                var again = JSONWriter()
                EventJSON.write(shown, to: &again)
                #expect(again.bytes == writer.bytes)
            }
        }
    }

    @Test func `states`() throws {
        try rounds("states") { (values: inout RandomValues) throws in
            let state = values.state()
            #expect(try StateJSON.decode(StateJSON.encode(state)) == state)
            guard let you = values.you() else { return }
            #expect(try YouJSON.decode(YouJSON.encode(you)) == you)
        }
    }

    @Test func `the states of rooms that are used at random`() throws {
        for round in 0..<20 {
            var input = RandomInput(random: SeededRandom(seed: TestSeed.fixed(UInt64(round))))
            var room = Sample.state
            for _ in 0..<60 {
                let command = input.command(for: room)
                let actor = input.actor(for: command, in: room)
                let (now, online) = (input.instant(after: room.lastEventAt), input.online(in: room))
                let events = try? room.decide(command, by: actor, at: now, online: online, within: PoolBudget())
                for event in room.recorded(events ?? [], at: now) { room.evolve(event) }
                let text = StateJSON.encode(room)
                let shown = try StateJSON.decode(text)
                #expect(shown == ShownState(of: room), "round \(round)")
                #expect(StateJSON.encode(shown) == text, "round \(round)")
                #expect(try StoredStateJSON.decode(StoredStateJSON.encode(room)) == room, "round \(round)")
                for session in room.memberOfSession.keys {
                    let you = try YouJSON.decode(try #require(YouJSON.encode(room, session)))
                    #expect(you == You(of: room, for: session), "round \(round)")
                }
            }
        }
    }

    @Test func `bodies of HTTP answers`() throws {
        try rounds("answers") { (values: inout RandomValues) throws in
            let room = HTTPBody.RoomAnswer(
                position: values.position(), keyed: values.maybe { $0.count() }, time: values.instant(),
                state: values.state(), presence: values.maybe { $0.presence() }, you: values.you())
            #expect(try HTTPBody.RoomAnswer.parse(room.encoded()) == room)
            let events = HTTPBody.EventsAnswer(position: values.position(), events: values.shownEvents(atLeast: 0))
            #expect(try HTTPBody.EventsAnswer.parse(events.encoded()) == events)
            let pool = HTTPBody.PoolAnswer(
                position: values.position(), tracks: values.several { $0.track() }, next: values.maybe { $0.text() })
            #expect(try HTTPBody.PoolAnswer.parse(pool.encoded()) == pool)
            let command = HTTPBody.CommandAnswer(
                seq: values.count(), keyed: values.maybe { $0.count() }, result: values.result())
            #expect(try HTTPBody.CommandAnswer.parse(command.encoded()) == command)
            let rooms = HTTPBody.RoomsAnswer(
                rooms: values.several { $0.summary() }, next: values.maybe { $0.text() })
            #expect(try HTTPBody.RoomsAnswer.parse(rooms.encoded()) == rooms)
            let session = HTTPBody.SessionAnswer(
                id: values.session(), name: values.text(), createdAt: values.instant(), expiresAt: values.instant(),
                token: values.maybe { $0.text() })
            #expect(try HTTPBody.SessionAnswer.parse(session.encoded()) == session)
            let problem = HTTPBody.Problem(
                title: values.text(), status: values.count(), code: values.errorName(), detail: values.text(),
                retryAfterMs: values.maybe { $0.count() })
            #expect(try HTTPBody.Problem.parse(problem.encoded()) == problem)
        }
    }

    @Test func `bodies and queries of HTTP requests`() throws {
        try rounds("requests") { (values: inout RandomValues) throws in
            let session = SessionRequest(name: values.text())
            #expect(try SessionRequest.parse(session.encoded()) == session)
            let room = CreateRoomRequest(
                name: values.text(), location: values.location(), visibility: values.maybe { $0.choice() },
                settings: values.settingsUpdate())
            #expect(try CreateRoomRequest.parse(room.encoded()) == room)
            let query = values.nearbyQuery()
            let parameters = query.parameters
            #expect(try NearbyQuery { name in parameters.filter { $0.name == name }.map(\.text) } == query)
        }
    }

    @Test func `results and error codes`() throws {
        try rounds("results") { (values: inout RandomValues) throws in
            guard let result = values.result() else { return }
            #expect(try ResultJSON.decode(ResultJSON.encode(result)) == result)
        }
        for code in ErrorCode.allCases {
            let text = ServerMessage.error(re: nil, code: code, message: "")
            let read = ServerMessage.Received.error(
                re: nil, code: ErrorName(code), message: "", retryAfterMs: nil)
            #expect(try ServerMessage.Received.parse(text) == read)
            #expect(ErrorName(code).code == code)
            #expect(try HTTPBody.Problem.parse(HTTPBody.problem(code: code, detail: "")).code.code == code)
        }
    }

    @Test func `notices between servers`() throws {
        try rounds("notices") { (values: inout RandomValues) throws in
            let notices: [NodeNotice] = [
                .moved([values.room(): values.count(), values.room(): values.count()]),
                .sessionEnded(values.session()),
                .presenceChanged(
                    values.several { values in
                        MemberChanges(
                            room: values.room(), on: values.several { $0.id() }, off: values.several { $0.id() })
                    }),
                .presenceList(
                    part: values.count(), isLast: values.bool(),
                    values.several { values in
                        OnlineMembers(room: values.room(), members: values.several { $0.id() })
                    }),
                .presenceBeat(sum: values.integer()), .presenceWanted, .presenceEnded,
                .reaction(values.room(), from: values.id(), emoji: values.text()),
                .signal(values.room(), from: values.id(), to: values.id(), values.relayed()),
            ]
            let text = NodeEnvelope.encode(sender: "a", notices: notices.map { $0.encoded() })
            #expect(NodeEnvelope(parsing: text) == NodeEnvelope(sender: "a", notices: notices))
        }
    }
}
