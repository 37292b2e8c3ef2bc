import GeoSearch
import RoomDomain
import RoomReplica
import RoomWire
import Testing

/// The machine as a whole: how its parts meet.
@Suite struct ClientMachineTests {
    private let served = ServedRoom.kitchen([
        .voteCast(track: .two, by: .one, votes: 1, requestedSeq: 6),
        .voteWithdrawn(track: .two, by: .one, votes: 0, requestedSeq: nil),
    ])
    private let kitchen = RoomReference.id(ServedRoom.kitchenID)

    /// A client that follows the room and has its snapshot of event 5.
    private func live(_ seq: Int = 5) throws -> ScriptedClient {
        var client = ScriptedClient()
        try client.perform(client.machine.follow(kitchen, at: client.moment))
        try client.perform(client.machine.start(at: client.moment))
        try client.open()
        try client.receive(welcome)
        try client.receive(served.snapshot(at: seq))
        _ = client.take()
        return client
    }

    /// It begins a burst of exchanges of clocks, whose first message has the id 1.
    private var welcome: [UInt8] {
        ServerMessage.welcome(
            sessionID: .hidden, name: "Ana", version: "1", node: "n", beatMs: 25_000,
            time: Timestamp(milliseconds: 77_000))
    }

    private func reconnect(_ client: inout ScriptedClient) throws {
        try client.lose()
        try client.open()
    }

    private func refusal(_ re: Int64, _ code: ErrorCode, retryAfterMs: Int? = nil) -> [UInt8] {
        ServerMessage.error(re: re, code: code, message: "no", retryAfterMs: retryAfterMs)
    }

    @Test func `what is acknowledged is confirmed also by an event that changes nothing`() throws {
        var client = try live()
        let command = try client.post(.rename(name: "Anna"), to: kitchen, key: "a")
        guard case .command(let id?, _, _, _, _)? = client.sent().last else { throw UnfitMessage() }
        try client.receive(ServerMessage.ack(re: id, seq: 6, keyed: 101, result: nil))
        #expect(client.machine.room(kitchen)?.shown?.members.first?.name == "Anna")
        let room = ServedRoom.kitchenID.description
        try client.receive(
            Array(
                #"{"type":"delta","room":"\#(room)","from":6,"seq":6,"events":[{"seq":6,"at":0,"type":"later"}]}"#.utf8)
        )
        #expect(client.machine.room(kitchen)?.shown?.members.first?.name == "Ana")
        #expect(client.steps().last.map { if case .changed = $0 { true } else { false } } == true)
        #expect(command.rawValue == 1)
    }

    // MARK: Connecting and following

    @Test func `nothing connects before the start`() throws {
        var client = ScriptedClient()
        try client.perform(client.machine.follow(kitchen, at: client.moment))
        try client.perform(client.machine.wake(at: client.moment))
        #expect(client.take() == [])
        #expect(client.wakeAt == nil)
    }

    @Test func `the only room is the socket's path, and its snapshot comes without a question`() throws {
        var client = ScriptedClient()
        try client.perform(client.machine.follow(.code(.zero), at: client.moment))
        try client.perform(client.machine.start(at: client.moment))
        #expect(client.take() == [.step(.connect(attempt: 1, afterMs: 0, .room(.code(.zero), nil)))])
        try client.open()
        #expect(client.take() == [])
        try client.receive(served.snapshot(at: 5))
        #expect(client.steps() == [.changed(.code(.zero), [.reset]), .phase(.code(.zero), .live)])
        try client.lose()
        let position = Position(epoch: ServedRoom.epoch, seq: 5)
        #expect(client.path == .room(.code(.zero), position))
        _ = client.take()
        try client.open()
        try client.receive(served.resumed(at: 7))
        try client.receive(served.delta(6, 7))
        #expect(client.steps().last == .phase(.code(.zero), .live))
        #expect(client.machine.room(.code(.zero))?.replica?.position.seq == 7)
    }

    @Test func `several rooms are asked for on one socket, each from its position`() throws {
        var client = try live()
        let other = RoomReference.code(.zero)
        try client.perform(client.machine.follow(other, at: client.moment))
        #expect(client.sent() == [.subscribe(id: 2, room: other, position: nil)])
        try reconnect(&client)
        #expect(client.path == .any)
        #expect(
            client.sent() == [
                .subscribe(id: 3, room: kitchen, position: Position(epoch: ServedRoom.epoch, seq: 5)),
                .subscribe(id: 4, room: other, position: nil),
            ])
    }

    @Test func `a command asks for a room that nobody follows, also where the connection is open`() throws {
        var client = try live()
        try client.perform(client.machine.unfollow(kitchen, at: client.moment))
        #expect(client.machine.room(kitchen) == nil)
        _ = client.take()
        try client.post(.vote(track: .two), to: kitchen, key: "a")
        guard case .subscribe? = client.sent().first else { throw UnfitMessage() }
    }

    @Test func `a room that nobody follows any more is left`() throws {
        var client = try live()
        try client.perform(client.machine.unfollow(kitchen, at: client.moment))
        #expect(client.sent() == [.unsubscribe(id: 2, room: kitchen)])
        #expect(client.machine.room(kitchen) == nil)
    }

    @Test func `a circle is watched and left on the open connection, under ids of its own`() throws {
        var client = try live()
        let query = NearbyQuery(origin: try #require(Coordinate(latitude: 52.5, longitude: 13.4)))
        for _ in 1...2 { try client.perform(client.machine.watch(1, query, at: client.moment)) }
        try client.perform(client.machine.unwatch(1, at: client.moment))
        try client.perform(client.machine.unwatch(1, at: client.moment))
        #expect(
            client.sent() == [
                .nearby(id: 2, query: query), .nearbyStop(id: 3, sub: 2), .nearby(id: 4, query: query),
                .nearbyStop(id: 5, sub: 4),
            ])
        try reconnect(&client)
        #expect(!client.sent().contains { if case .nearby = $0 { true } else { false } })
        try client.lose()
        try client.perform(client.machine.watch(1, query, at: client.moment))
        try client.perform(client.machine.unwatch(1, at: client.moment))
        #expect(client.sent() == [])
    }

    @Test func `messages of an earlier socket are ignored`() throws {
        var client = try live()
        try client.lose()
        try client.perform(client.machine.received(served.delta(6, 6), on: 1, at: client.moment))
        #expect(client.machine.room(kitchen)?.replica?.position.seq == 5)
        _ = client.take()
        try client.perform(client.machine.closed(1, at: client.moment))
        #expect(client.take() == [])
    }

    @Test func `a message of an unknown type is counted and changes nothing`() throws {
        var client = try live()
        try client.receive(Array(#"{"type":"confetti"}"#.utf8))
        try client.receive(Array("not JSON".utf8))
        #expect(client.take() == [])
        #expect(client.machine.unreadable == 2)
    }

    @Test func `4401 ends everything, and 4403 ends the socket's room`() throws {
        var client = try live()
        try client.post(.pause, to: kitchen, key: "k")
        try client.lose(4_401)
        let steps = client.steps()
        let over = Refusal(ErrorName(.unauthorized), "the session is over")
        #expect(steps.contains(.phase(kitchen, .ended(over))))
        #expect(steps.last == .ended(over))
        #expect(!steps.contains { if case .connect = $0 { true } else { false } })
        var banned = try live()
        try banned.lose(4_403)
        let ban = Refusal(ErrorName(.banned), "you are banned from the room")
        #expect(banned.steps().first == .phase(kitchen, .ended(ban)))
        #expect(banned.path == .any && banned.attempt == 2)
    }

    @Test func `the end of a room has the reason of its own refusal, and of no other`() throws {
        var client = ScriptedClient()
        try client.perform(client.machine.follow(kitchen, at: client.moment))
        try client.perform(client.machine.start(at: client.moment))
        _ = client.take()
        let ban = Refusal(ErrorName(.banned), "no", retryAfterMs: 9, reason: "Too loud")
        try client.perform(client.machine.failed(1, ban, at: client.moment))
        let sentence = "you are banned from the room"
        let told = Refusal(ban.code, sentence, retryAfterMs: 9, reason: "Too loud")
        #expect(client.steps().contains(.phase(kitchen, .ended(told))))
        // Where a command waited for the room, it is told the same.
        let number = try client.post(.pause, to: kitchen, key: "k")
        #expect(client.steps().contains(.answered(number, .refused(told))))
        var other = try live()
        let command = try other.post(.pause, to: kitchen, key: "k")
        guard case .command(let id?, _, _, _, _)? = other.sent().last else { throw UnfitMessage() }
        try other.receive(ServerMessage.error(re: id, code: .banned, message: "no", reason: "Too loud"))
        #expect(other.steps().contains(.answered(command, .refused(Refusal(ban.code, "no", reason: "Too loud")))))
        try other.receive(ServerMessage.ended(room: ServedRoom.kitchenID, code: .banned))
        #expect(other.steps().contains(.phase(kitchen, .ended(Refusal(ban.code, sentence)))))
    }

    @Test func `a handshake that is refused for now is repeated after the server's time`() throws {
        var client = ScriptedClient()
        try client.perform(client.machine.start(at: client.moment))
        let refusal = Refusal(ErrorName(.rateLimited), retryAfterMs: 4_000)
        _ = client.take()
        try client.perform(client.machine.failed(1, refusal, at: client.moment))
        #expect(client.take() == [.step(.connect(attempt: 2, afterMs: 4_000, .any))])
    }

    @Test func `silence closes the connection, and a probe finds a dead one in three seconds`() throws {
        var client = try live()
        try client.pass(200_000)
        #expect(client.steps().contains(.close(attempt: 1, code: 1_001)))
        #expect(client.machine.room(kitchen)?.phase == .offline)
        var woken = try live()
        try woken.perform(woken.machine.wake(at: woken.moment))
        try woken.pass(3_000)
        #expect(
            woken.steps().prefix(3) == [
                .phase(kitchen, .offline), .close(attempt: 1, code: 1_001),
                .connect(attempt: 2, afterMs: 0, .room(kitchen, Position(epoch: ServedRoom.epoch, seq: 5))),
            ])
    }

    @Test func `suspended, it keeps the room, closes and waits for nothing, and waking connects`() throws {
        var client = try live()
        try client.receive(served.delta(6, 6))
        _ = client.take()
        try client.perform(client.machine.suspend(at: client.moment))
        let steps = client.steps()
        #expect(steps.first == .close(attempt: 1, code: 1_001))
        guard case .keep(.room(kitchen, let stored))? = steps.last else {
            Issue.record("\(steps)")
            return
        }
        #expect(stored.position.seq == 6)
        #expect(StateJSON.encode(stored.state) == StateJSON.encode(served.states[6]))
        #expect(client.wakeAt == nil)
        try client.perform(client.machine.wake(at: client.moment))
        #expect(client.attempt == 2)
    }

    @Test func `a room that changes is kept at most once a minute`() throws {
        var client = try live()
        try client.receive(served.delta(6, 6))
        #expect(!client.steps().contains { if case .keep = $0 { true } else { false } })
        client.now = 60_000
        try client.receive(served.delta(7, 7))
        guard case .keep(.room(kitchen, let stored))? = client.steps().last else {
            Issue.record("not kept")
            return
        }
        #expect(stored.position.seq == 7)
    }

    @Test func `five idle minutes with a server that beats take few moments`() throws {
        var client = try live()
        var woken = 0
        while client.now < 300_000 {
            let next = client.now / 25_000 * 25_000 + 25_000
            if let due = client.wakeAt, due < .at(next) {
                client.now = due.nanoseconds / 1_000_000
                woken += 1
                try client.perform(client.machine.woken(at: client.moment))
            } else {
                client.now = next
                try client.receive(ServerMessage.beat(time: Timestamp(milliseconds: next), rooms: []))
            }
        }
        #expect(woken <= 10)
    }

    // MARK: Commands

    @Test func `a kept command is kept before it is sent, and forgotten when it is answered`() throws {
        var client = try live()
        let number = try client.post(.vote(track: .two), to: kitchen, key: "k", isKept: true)
        let sent = client.take()
        guard case .step(.changed(kitchen, let changes))? = sent.first,
            case .step(.keep(.command(let posted)))? = sent.dropFirst().first,
            case .step(.keep(.command(let marked)))? = sent.dropFirst(2).first
        else {
            Issue.record("\(sent)")
            return
        }
        #expect(changes == [.votes(TrackVotes(track: .two, votes: 1, requestedSeq: nil, isMine: true))])
        #expect(posted.sending == nil)
        #expect(marked.sending == OutboxCommand.Sending(epoch: ServedRoom.epoch, keyed: 5))
        #expect(sent.last == .sent(.command(id: 2, room: kitchen, key: "k", command: .vote(track: .two))))
        try client.receive(ServerMessage.ack(re: 2, seq: 6, keyed: 6, result: nil))
        #expect(client.steps() == [.keep(.answered(number)), .answered(number, .acknowledged(seq: 6, nil))])
        #expect(client.machine.room(kitchen)?.votes(of: .two)?.isMine == true, "the delta has not come")
        try client.receive(served.delta(6, 6))
        #expect(client.machine.room(kitchen)?.replica?.keyed == 6)
        #expect(client.machine.room(kitchen)?.votes(of: .two)?.votes == 1)
    }

    @Test func `commands off line are shown, and sent in order when the room is back`() throws {
        var client = try live()
        try client.lose()
        _ = client.take()
        try client.post(.vote(track: .two), to: kitchen, key: "k1")
        try client.post(.rename(name: "Anna"), to: kitchen, key: "k2")
        let shown = try #require(client.machine.room(kitchen)?.shown)
        #expect(shown.requests == [.one, .three, .two])
        #expect(shown.members.map(\.name) == ["Anna"])
        #expect(client.sent() == [])
        try client.open()
        #expect(client.sent() == [])
        try client.receive(served.resumed(at: 5))
        #expect(
            client.sent() == [
                .command(id: 2, room: kitchen, key: "k1", command: .vote(track: .two)),
                .command(id: 3, room: kitchen, key: "k2", command: .rename(name: "Anna"), after: 2),
            ])
    }

    @Test func `a refusal takes back what was shown`() throws {
        var client = try live()
        let number = try client.post(.vote(track: .two), to: kitchen, key: "k")
        _ = client.take()
        try client.receive(refusal(2, .roomClosed))
        #expect(
            client.steps() == [
                .changed(kitchen, [.votes(TrackVotes(track: .two, votes: 0, requestedSeq: nil, isMine: false))]),
                .answered(number, .refused(Refusal(ErrorName(.roomClosed), "no"))),
            ])
    }

    @Test func `the commands of an earlier life are sent when their room has answered`() throws {
        let kept = OutboxCommand(
            number: CommandNumber(rawValue: 4), room: kitchen, key: "k4", command: .vote(track: .two),
            expiresAt: Timestamp(milliseconds: 3_700_000), isKept: true,
            sending: .init(epoch: ServedRoom.epoch, keyed: 1))
        var client = ScriptedClient(outbox: [kept])
        try client.perform(client.machine.start(at: client.moment))
        try client.open()
        #expect(client.sent() == [])
        try client.receive(served.snapshot(at: 5))
        #expect(client.sent() == [.command(id: 1, room: kitchen, key: "k4", command: .vote(track: .two))])
        #expect(try client.post(.leave, to: kitchen, key: "k5").rawValue == 5)
        _ = client.take()
        try client.receive(ServerMessage.ack(re: 1, seq: 6, keyed: 6, result: nil))
        try client.receive(ServerMessage.ack(re: 2, seq: 7, keyed: 7, result: nil))
        #expect(client.sent() == [.unsubscribe(id: 3, room: kitchen)], "nobody follows the room")
    }

    @Test func `a room that was kept is resumed, also where kept commands wait for it`() throws {
        let stored = try Replica(receiving: served.snapshot(at: 5)).stored
        let kept = OutboxCommand(
            number: CommandNumber(rawValue: 4), room: kitchen, key: "k4", command: .vote(track: .two),
            expiresAt: Timestamp(milliseconds: 3_700_000), isKept: true)
        var client = ScriptedClient(outbox: [kept])
        try client.perform(client.machine.follow(kitchen, stored: stored, at: client.moment))
        #expect(client.steps() == [.changed(kitchen, [.reset]), .phase(kitchen, .offline)])
        #expect(client.machine.room(kitchen)?.votes(of: .two)?.isMine == true)
        try client.perform(client.machine.start(at: client.moment))
        #expect(client.path == .room(kitchen, stored.position))
    }

    @Test func `kept votes that cancel out are forgotten after a restart`() throws {
        func kept(_ number: Int, _ command: RoomCommand) -> OutboxCommand {
            OutboxCommand(
                number: CommandNumber(rawValue: number), room: kitchen, key: "k\(number)", command: command,
                expiresAt: Timestamp(milliseconds: 3_700_000), isKept: true)
        }
        let both = [kept(1, .vote(track: .two)), kept(2, .unvote(track: .two))]
        var client = ScriptedClient(outbox: both)
        try client.perform(client.machine.start(at: client.moment))
        let forgotten = client.steps().compactMap { step in
            if case .keep(.answered(let number)) = step { number.rawValue } else { nil }
        }
        #expect(forgotten == [1, 2])
    }

    @Test func `a kept command for an entry of a command that was not kept is refused after a restart`() throws {
        let kept = OutboxCommand(
            number: CommandNumber(rawValue: 4), room: kitchen, key: "k4",
            command: .dequeue(entry: CommandNumber(rawValue: 3).entry),
            expiresAt: Timestamp(milliseconds: 3_700_000), isKept: true)
        var client = ScriptedClient(outbox: [kept])
        try client.perform(client.machine.start(at: client.moment))
        let refusal = CommandAnswer.refused(
            Refusal(ErrorName(.notFound), "the entry was not added to the queue"))
        #expect(client.steps().prefix(2) == [.keep(.answered(kept.number)), .answered(kept.number, refusal)])
    }

    @Test func `what cannot be repeated is told, and what it showed is taken back`() throws {
        var client = try live()
        let number = try client.post(.enqueue(track: .one, index: nil), to: kitchen, key: "k")
        #expect(client.machine.room(kitchen)?.shown?.queue.map(\.id) == [number.entry])
        try reconnect(&client)
        _ = client.take()
        try client.receive(served.resumed(at: 5))
        #expect(
            client.take().contains(
                .sent(.command(id: 3, room: kitchen, key: "k", command: .enqueue(track: .one, index: nil)))))
        try reconnect(&client)
        let late = ServerMessage.resumed(
            re: nil, room: ServedRoom.kitchenID, epoch: ServedRoom.epoch, seq: 5, keyed: 506, you: nil,
            presence: .nobody)
        _ = client.take()
        try client.receive(late)
        #expect(client.steps().suffix(2) == [.answered(number, .outcomeUnknown), .phase(kitchen, .live)].suffix(2))
        #expect(client.machine.room(kitchen)?.shown?.queue == [])
    }

    @Test func `a join makes the client a member, also where its events came first`() throws {
        let room = ServedRoom(events: Array(served.events.prefix(5)), session: .hidden)
        var client = ScriptedClient()
        try client.perform(client.machine.follow(kitchen, at: client.moment))
        try client.perform(client.machine.start(at: client.moment))
        try client.open()
        try client.receive(room.snapshot(at: 5))
        try client.post(.join(name: nil), to: kitchen, key: "k")
        var late = client
        try client.receive(ServerMessage.ack(re: 1, seq: 6, keyed: 6, result: .member(.two)))
        #expect(client.machine.room(kitchen)?.replica?.me == OwnMembership(member: .two, role: .guest))
        try late.receive(served.delta(6, 7))
        _ = late.take()
        try late.receive(ServerMessage.ack(re: 1, seq: 6, keyed: 6, result: .member(.two)))
        let position = Position(epoch: ServedRoom.epoch, seq: 7)
        #expect(late.sent() == [.subscribe(id: 2, room: kitchen, position: position)])
    }

    @Test func `what is shown from before a join, after its answer, makes the client ask once who it is`() throws {
        let room = ServedRoom(events: Array(served.events.prefix(5)), session: .hidden)
        var joined = ScriptedClient()
        try joined.perform(joined.machine.follow(kitchen, at: joined.moment))
        try joined.perform(joined.machine.start(at: joined.moment))
        try joined.open()
        try joined.receive(room.snapshot(at: 5))
        try joined.post(.join(name: nil), to: kitchen, key: "k")
        try joined.receive(ServerMessage.ack(re: 1, seq: 6, keyed: 6, result: .member(.two)))
        _ = joined.take()

        // The join may be of an epoch whose beginning comes later.
        var begun = joined
        try begun.receive(room.snapshot(at: 5, epoch: "another"))
        #expect(begun.machine.room(kitchen)?.replica?.me == nil)
        #expect(
            begun.sent() == [.subscribe(id: 2, room: kitchen, position: Position(epoch: "another", seq: 5))])
        try begun.receive(
            ServerMessage.resumed(
                re: 2, room: ServedRoom.kitchenID, epoch: "another", seq: 6, keyed: 6,
                you: Array(#"{"member":2,"role":"guest","votes":[]}"#.utf8), presence: .nobody))
        #expect(begun.machine.room(kitchen)?.replica?.me == OwnMembership(member: .two, role: .guest))
        #expect(begun.sent() == [])

        // Who is no member any more asks once, and takes the answer as it is.
        try joined.receive(room.snapshot(at: 5))
        #expect(joined.sent().count == 1)
        try joined.receive(room.snapshot(at: 5, re: 2))
        try joined.receive(room.snapshot(at: 5))
        #expect(joined.sent() == [])
        #expect(joined.machine.room(kitchen)?.replica?.me == nil)
    }

    @Test func `a question that is open as a join is answered may be answered from before it`() throws {
        let room = ServedRoom(events: Array(served.events.prefix(5)), session: .hidden)
        var client = ScriptedClient()
        try client.perform(client.machine.follow(kitchen, at: client.moment))
        try client.perform(client.machine.start(at: client.moment))
        try client.open()
        try client.receive(room.snapshot(at: 5))
        try client.post(.join(name: nil), to: kitchen, key: "k")
        try client.receive(ServerMessage.beat(time: Timestamp(milliseconds: 0), rooms: [(ServedRoom.kitchenID, 6)]))
        _ = client.take()
        try client.receive(ServerMessage.ack(re: 1, seq: 6, keyed: 6, result: .member(.two)))
        #expect(client.sent() == [])
        try client.receive(room.resumed(at: 5, re: 2))
        #expect(client.sent().count == 1)
    }

    @Test func `a log out of reach makes the room be asked for its count before a command is repeated`() throws {
        var client = try live()
        try client.post(.pause, to: kitchen, key: "k")
        _ = client.take()
        try client.receive(refusal(2, .unavailable, retryAfterMs: 1_000))
        #expect(client.take() == [])
        try client.pass(1_000)
        let position = Position(epoch: ServedRoom.epoch, seq: 5)
        #expect(client.sent() == [.subscribe(id: 3, room: kitchen, position: position)])
        try client.receive(served.resumed(at: 5, re: 3))
        #expect(client.sent() == [.command(id: 4, room: kitchen, key: "k", command: .pause)])
    }

    // MARK: Decks, signals, circles

    @Test func `one deck is in flight, one waits, and the newest wins`() throws {
        var client = try live()
        func deck(_ track: Int) -> Deck { Deck(queue: [.track(TrackID(rawValue: track))], playback: .stopped) }
        for number in 1...3 {
            try client.perform(
                client.machine.lead(.syncDeck(deck(number)), in: kitchen, key: "d\(number)", at: client.moment))
        }
        #expect(client.sent() == [.command(id: 2, room: kitchen, key: "d1", command: .syncDeck(deck(1)))])
        try client.receive(ServerMessage.ack(re: 2, seq: 5, keyed: 6, result: nil))
        #expect(client.sent() == [.command(id: 3, room: kitchen, key: "d3", command: .syncDeck(deck(3)))])
        try client.lose()
        for number in 4...5 {
            try client.perform(
                client.machine.lead(.syncDeck(deck(number)), in: kitchen, key: "d\(number)", at: client.moment))
        }
        try client.open()
        #expect(client.sent() == [])
        try client.receive(served.resumed(at: 5))
        #expect(client.sent() == [.command(id: 4, room: kitchen, key: "d3", command: .syncDeck(deck(3)))])
        try client.receive(ServerMessage.ack(re: 4, seq: 5, keyed: 7, result: nil))
        #expect(client.sent() == [.command(id: 5, room: kitchen, key: "d5", command: .syncDeck(deck(5)))])
        try client.receive(refusal(5, .forbidden))
        let told = client.steps().suffix(2)
        guard case .deckAnswered(kitchen, key: "d5", .refused)? = told.first else {
            Issue.record("the deck was not answered: \(told)")
            return
        }
        #expect(told.last == .deckEnded(kitchen, ErrorName(.forbidden)))
    }

    @Test func `the end of a song is not told when the connection is back`() throws {
        var client = try live()
        try client.lose()
        _ = client.take()
        let ending = RoomCommand.finish(entry: EntryID(rawValue: 1))
        try client.perform(client.machine.lead(ending, in: kitchen, key: "f", at: client.moment))
        #expect(client.steps().contains(.deckAnswered(kitchen, key: "f", .expired)))
        try client.open()
        try client.receive(served.resumed(at: 5))
        #expect(client.sent() == [])
    }

    @Test func `a signal is answered once, and a lost connection answers it too`() throws {
        var client = try live()
        let data = try #require(RelayedJSON(Array("1".utf8)))
        let first = client.machine.signal(data, to: .two, in: kitchen, at: client.moment)
        let second = client.machine.signal(data, to: .two, in: kitchen, at: client.moment)
        try client.perform(first.steps + second.steps)
        try client.receive(ServerMessage.ok(re: 2))
        try client.lose()
        let told = client.steps().filter { if case .told = $0 { true } else { false } }
        let lost = Refusal(ErrorName(.unavailable), "the connection is lost")
        #expect(told == [.told(first.number, nil), .told(second.number, lost)])
    }

    @Test func `reactions go to a room that is followed on line`() throws {
        var client = try live()
        try client.perform(client.machine.react("🎉", in: kitchen, at: client.moment))
        #expect(client.sent() == [.react(id: nil, room: kitchen, emoji: "🎉")])
        try client.receive(ServerMessage.reaction(room: ServedRoom.kitchenID, from: .two, emoji: "🎉"))
        #expect(client.steps() == [.reaction(kitchen, from: .two, emoji: "🎉")])
        try client.lose()
        _ = client.take()
        try client.perform(client.machine.react("🎉", in: kitchen, at: client.moment))
        #expect(client.take() == [])
    }

    @Test func `clocks are compared in bursts of eight, after the welcome and again when it is time`() throws {
        var client = ScriptedClient()
        try client.perform(client.machine.start(at: client.moment))
        try client.open()
        try client.receive(welcome)
        #expect(client.machine.time(at: .at(0)) == Timestamp(milliseconds: 77_000))
        var exchanges = 0
        while case .sent(.time(let id, let t1))? = client.take().last {
            exchanges += 1
            client.now += 2
            try client.receive(ServerMessage.time(re: id, t1: t1, t2: t1 + 80_001, t3: t1 + 80_001))
        }
        #expect(exchanges == 8)
        #expect(client.machine.timeErrorMs == 1)
        #expect(client.machine.time(at: .at(1_000)) == Timestamp(milliseconds: 81_000))
        // Nobody hears a song: the beats show that the estimate holds, and then that it does not.
        for _ in 1...60 {
            try client.pass(50_000)
            try client.receive(ServerMessage.beat(time: Timestamp(milliseconds: client.now + 80_000), rooms: []))
        }
        #expect(client.take() == [])
        try client.receive(ServerMessage.beat(time: Timestamp(milliseconds: client.now + 80_500), rooms: []))
        guard case .sent(.time)? = client.take().last else {
            Issue.record("no burst")
            return
        }
    }
}
