import RoomDomain
import RoomReplica
import RoomWire
import Testing

@Suite struct CommandsTests {
    private let room = RoomReference.code(.zero)
    private let known = OutboxCommand.Sending(epoch: "e1", keyed: 100)

    private func command(
        _ number: Int, _ command: RoomCommand, isKept: Bool = false, sending: OutboxCommand.Sending? = nil,
        expiresAt: Int64 = 86_400_000
    ) -> OutboxCommand {
        OutboxCommand(
            number: CommandNumber(rawValue: number), room: room, key: "k\(number)", command: command,
            expiresAt: Timestamp(milliseconds: 3_600_000 + expiresAt), isKept: isKept, sending: sending)
    }

    /// A room that has answered, with these commands.
    private func line(_ commands: [OutboxCommand]) -> Commands {
        var line = Commands()
        for command in commands { _ = line.add(command, at: .at(0)) }
        _ = line.roomAnswered(epoch: "e1", keyed: 100, at: .at(0))
        return line
    }

    /// The numbers of the commands that are sent, after `ids`.
    private func sent(_ line: inout Commands, at now: Int64 = 0, ids: Int64 = 0) -> [Int] {
        var ids = ids
        return line.send(at: .at(now), knowing: known, ids: &ids).compactMap { step in
            if case .send(_, let command, _) = step { command.number.rawValue } else { nil }
        }
    }

    private func refuse(
        _ line: inout Commands, _ re: Int64, _ code: ErrorCode, retryAfterMs: Int? = nil, at now: Int64 = 0
    ) -> [Commands.Step]? {
        line.refused(re, Refusal(ErrorName(code), "no", retryAfterMs: retryAfterMs), at: .at(now))
    }

    /// Adds a command where the own vote was shown before the command `voted`.
    private func add(_ line: inout Commands, _ command: OutboxCommand, voted: Int) -> [Commands.Step] {
        line.add(command, at: .at(0)) { $0.rawValue == voted }
    }

    private func refusal(_ code: ErrorCode) -> CommandAnswer {
        .refused(Refusal(ErrorName(code), "no"))
    }

    // MARK: Sending

    @Test func `nothing is sent before the room has answered on this connection`() {
        var commands = Commands()
        _ = commands.add(command(1, .skip), at: .at(0))
        #expect(sent(&commands) == [])
        _ = commands.roomAnswered(epoch: "e1", keyed: 100, at: .at(0))
        #expect(sent(&commands) == [1])
        #expect(sent(&commands) == [])
    }

    @Test func `a command is kept with what is known before it is sent`() {
        var commands = line([])
        let posted = command(1, .skip, isKept: true)
        #expect(commands.add(posted, at: .at(0)) == [.keep(posted)])
        let marked = command(1, .skip, isKept: true, sending: known)
        var ids: Int64 = 4
        #expect(
            commands.send(at: .at(0), knowing: known, ids: &ids) == [.keep(marked), .send(id: 5, marked, after: nil)])
    }

    @Test func `each names the one in flight before it`() {
        func order(_ steps: [Commands.Step]) -> [[Int64?]] {
            steps.compactMap { step in
                guard case .send(let id, _, let earlier) = step else { return nil }
                return [id, earlier]
            }
        }
        var commands = line((1...3).map { command($0, .skip) })
        var ids: Int64 = 0
        #expect(order(commands.send(at: .at(0), knowing: known, ids: &ids)) == [[1, nil], [2, 1], [3, 2]])
        // The first is put off, and the second not yet answered.
        _ = commands.refused(1, Refusal(ErrorName(.rateLimited), "no", retryAfterMs: 50), at: .at(0))
        _ = commands.add(command(4, .skip), at: .at(0))
        #expect(order(commands.send(at: .at(49), knowing: known, ids: &ids)) == [])
        #expect(order(commands.send(at: .at(50), knowing: known, ids: &ids)) == [[4, nil], [5, 3]])
        _ = commands.acknowledged(4, seq: 9, result: nil)
        _ = commands.add(command(5, .skip), at: .at(0))
        #expect(order(commands.send(at: .at(50), knowing: known, ids: &ids)) == [[6, 5]])
    }

    @Test func `sixteen are in flight, in the order of the calls`() {
        var commands = line((1...20).map { command($0, .skip) })
        #expect(sent(&commands) == Array(1...16))
        #expect(
            commands.acknowledged(1, seq: 9, result: nil)
                == [.answered(command(1, .skip, sending: known), .acknowledged(seq: 9, nil))])
        #expect(sent(&commands, ids: 16) == [17])
    }

    @Test func `an answer that is no command's is none`() {
        var commands = line([command(1, .skip)])
        #expect(commands.acknowledged(1, seq: 9, result: nil) == nil)
        #expect(refuse(&commands, 1, .forbidden) == nil)
    }

    // MARK: Lost connections

    @Test func `after a lost connection all are sent again under their keys, in order, before newer ones`() {
        var commands = line((1...3).map { command($0, .skip) })
        #expect(sent(&commands) == [1, 2, 3])
        _ = commands.acknowledged(2, seq: 9, result: nil)
        commands.connectionLost()
        _ = commands.add(command(4, .pause), at: .at(0))
        #expect(sent(&commands) == [])
        #expect(commands.roomAnswered(epoch: "e1", keyed: 600, at: .at(0)) == [])
        #expect(sent(&commands, ids: 10) == [1, 3, 4])
        #expect(commands.unanswered.map(\.key) == ["k1", "k3", "k4"])
        #expect(commands.unanswered.map(\.sending) == [known, known, known])
    }

    @Test(arguments: [
        (epoch: "e1", keyed: 600, isSent: true), ("e1", 601, false), ("e2", 100, false),
    ])
    func `a command is repeated while the room must know its key`(epoch: String, keyed: Int, isSent: Bool) {
        var commands = line([command(1, .skip)])
        _ = sent(&commands)
        commands.connectionLost()
        let steps = commands.roomAnswered(epoch: epoch, keyed: keyed, at: .at(0))
        let unknown = Commands.Step.answered(command(1, .skip, sending: known), .outcomeUnknown)
        #expect(steps == (isSent ? [] : [unknown]))
        #expect(sent(&commands, ids: 5) == (isSent ? [1] : []))
    }

    @Test func `a command without a known count is repeated only if that does no harm`() {
        var commands = Commands()
        let unknown = OutboxCommand.Sending(epoch: "e1", keyed: nil)
        _ = commands.add(command(1, .vote(track: .seven), sending: unknown), at: .at(0))
        _ = commands.add(command(2, .skip, sending: unknown), at: .at(0))
        #expect(
            commands.roomAnswered(epoch: "e1", keyed: 100, at: .at(0))
                == [.answered(command(2, .skip, sending: unknown), .outcomeUnknown)])
        #expect(sent(&commands) == [1])
    }

    @Test(arguments: [
        RoomCommand.vote(track: .seven), .unvote(track: .seven), .voteSkip(entry: EntryID(rawValue: 3)),
        .finish(entry: EntryID(rawValue: 3)), .dequeue(entry: EntryID(rawValue: 3)), .removeTracks([.seven]),
        .rename(name: "Ana"), .leave, .syncDeck(Deck(queue: [], playback: .stopped)),
        .unvoteSkip(entry: EntryID(rawValue: 3)), .setDuration(track: .seven, durationMs: 1), .setMissing([.seven]),
        .skip(entry: EntryID(rawValue: 3)),
    ])
    func `what does no harm is repeated in another epoch too`(harmless: RoomCommand) {
        var commands = line([command(1, harmless)])
        _ = sent(&commands)
        commands.connectionLost()
        #expect(commands.roomAnswered(epoch: "e2", keyed: 9_000, at: .at(0)) == [])
        #expect(sent(&commands, ids: 5) == [1])
    }

    @Test func `a room that cannot tell its count is asked again before anything is sent`() {
        var commands = line([command(1, .skip)])
        _ = sent(&commands)
        commands.connectionLost()
        #expect(commands.roomAnswered(epoch: "e1", keyed: nil, at: .at(10_000)) == [])
        _ = commands.add(command(2, .leave), at: .at(10_000))
        #expect(sent(&commands, at: 10_000) == [])
        #expect(commands.asksAt == .at(11_000))
        commands.asked()
        #expect(commands.roomAnswered(epoch: "e1", keyed: 130, at: .at(11_000)) == [])
        #expect(sent(&commands, at: 11_000) == [1, 2])
    }

    // MARK: Refusals

    @Test func `a refused command is not sent again`() {
        var commands = line([command(1, .skip, isKept: true), command(2, .pause)])
        _ = sent(&commands)
        #expect(
            refuse(&commands, 1, .forbidden)
                == [
                    .forget(CommandNumber(rawValue: 1)),
                    .answered(command(1, .skip, isKept: true, sending: known), refusal(.forbidden)),
                ])
        commands.connectionLost()
        _ = commands.roomAnswered(epoch: "e1", keyed: 100, at: .at(0))
        #expect(sent(&commands, ids: 5) == [2])
    }

    @Test func `a rate limit puts the room's commands off, in their order`() {
        var commands = line([command(1, .skip), command(2, .pause)])
        _ = sent(&commands)
        #expect(refuse(&commands, 1, .rateLimited, retryAfterMs: 700, at: 1_000) == [])
        _ = commands.add(command(3, .resume), at: .at(1_100))
        #expect(sent(&commands, at: 1_699, ids: 5) == [])
        #expect(commands.due == .at(1_700))
        #expect(sent(&commands, at: 1_700, ids: 5) == [1, 3])
    }

    @Test func `no server puts commands off for longer than an hour`() {
        for code in [ErrorCode.rateLimited, .unavailable, .outcomeUnknown] {
            var commands = line([command(1, .vote(track: .two))])
            _ = sent(&commands)
            #expect(refuse(&commands, 1, code, retryAfterMs: RoomLimits.largestNumber) == [])
            #expect(commands.due == .at(3_600_000), "\(code)")
        }
    }

    @Test(arguments: [ErrorCode.unavailable, .outcomeUnknown])
    func `a command that an unreachable log may have carried out waits for the room's count`(code: ErrorCode) {
        var commands = line([command(1, .skip)])
        _ = sent(&commands)
        #expect(refuse(&commands, 1, code, retryAfterMs: 1_000, at: 5) == [])
        #expect(commands.asksAt == .at(1_005))
        #expect(sent(&commands, at: 9_000, ids: 5) == [])
        commands.asked()
        #expect(
            commands.roomAnswered(epoch: "e1", keyed: 700, at: .at(9_000))
                == [.answered(command(1, .skip, sending: known), .outcomeUnknown)])
    }

    @Test func `a refusal behind a command that was put off is void`() {
        var commands = line([command(1, .join(name: nil)), command(2, .vote(track: .seven))])
        _ = sent(&commands)
        // The member that votes has not joined.
        #expect(refuse(&commands, 1, .rateLimited, retryAfterMs: 10) == [])
        #expect(refuse(&commands, 2, .notMember) == [])
        #expect(sent(&commands, at: 10, ids: 5) == [1, 2])
        _ = commands.acknowledged(6, seq: 8, result: .member(.one))
        #expect(
            refuse(&commands, 7, .notFound)
                == [.answered(command(2, .vote(track: .seven), sending: known), refusal(.notFound))])
    }

    @Test func `a refusal is told when all earlier commands are answered, and is void if one of them is put off`() {
        var commands = line([command(1, .join(name: nil)), command(2, .vote(track: .seven))])
        _ = sent(&commands)
        var other = commands
        #expect(refuse(&commands, 2, .notMember) == [])
        #expect(
            commands.acknowledged(1, seq: 8, result: nil)
                == [
                    .answered(command(1, .join(name: nil), sending: known), .acknowledged(seq: 8, nil)),
                    .answered(command(2, .vote(track: .seven), sending: known), refusal(.notMember)),
                ])
        #expect(refuse(&other, 2, .notMember) == [])
        #expect(refuse(&other, 1, .rateLimited, retryAfterMs: 10) == [])
        #expect(sent(&other, at: 10, ids: 5) == [1, 2])
    }

    // MARK: Time

    @Test func `a live control is good for ten seconds, and anything else for a day`() {
        var machine = ClientMachine(at: .at(0))
        for (control, lifetime) in [(RoomCommand.pause, 10_000), (.leave, 86_400_000)] as [(RoomCommand, Int64)] {
            let posted = machine.post(control, to: room, key: "k", isKept: true, at: .at(0))
            guard case .keep(.command(let kept))? = posted.steps.first else {
                Issue.record("\(posted.steps)")
                continue
            }
            #expect(kept.expiresAt.milliseconds == 3_600_000 + lifetime)
        }
    }

    @Test func `a command that was never sent expires, and one that was has an unknown outcome`() {
        var commands = line([command(1, .pause, expiresAt: 10_000)])
        _ = sent(&commands)
        _ = commands.add(command(2, .skip, expiresAt: 12_000), at: .at(2_000))
        #expect(commands.expire(at: .at(11_000)) == [], "in flight")
        commands.connectionLost()
        #expect(commands.due == .at(10_000))
        #expect(
            commands.expire(at: .at(12_000))
                == [
                    .answered(command(1, .pause, sending: known, expiresAt: 10_000), .outcomeUnknown),
                    .answered(command(2, .skip, expiresAt: 12_000), .expired),
                ])
    }

    @Test func `a command of an earlier life of the program keeps what is left of its time`() {
        var commands = Commands()
        _ = commands.add(command(1, .pause, expiresAt: 10_000), at: .at(7_000))
        #expect(commands.due == .at(10_000))
        _ = commands.add(command(2, .skip, expiresAt: -5_000), at: .at(7_000))
        #expect(commands.due == .at(7_000))
    }

    // MARK: Votes that cancel out

    @Test func `a vote and its opposite that were not sent cancel out`() {
        var commands = Commands()
        _ = commands.add(command(1, .vote(track: .seven)), at: .at(0))
        _ = commands.add(command(2, .vote(track: .eight)), at: .at(0))
        #expect(
            commands.add(command(3, .unvote(track: .seven)), at: .at(0))
                == [
                    .answered(command(1, .vote(track: .seven)), .superseded),
                    .answered(command(3, .unvote(track: .seven)), .superseded),
                ])
        #expect(commands.unanswered.map(\.number.rawValue) == [2])
    }

    @Test func `where the vote was there before, its withdrawal stays`() {
        var commands = Commands()
        _ = commands.add(command(1, .vote(track: .seven)), at: .at(0))
        #expect(
            add(&commands, command(2, .unvote(track: .seven)), voted: 1)
                == [.answered(command(1, .vote(track: .seven)), .superseded)])
        #expect(commands.unanswered.map(\.number.rawValue) == [2])
    }

    @Test func `a vote that was sent does not cancel out`() {
        var commands = line([command(1, .vote(track: .seven))])
        _ = sent(&commands)
        #expect(commands.add(command(2, .unvote(track: .seven)), at: .at(0)) == [])
        commands.connectionLost()
        #expect(add(&commands, command(3, .vote(track: .seven)), voted: 2).count == 2)
        #expect(commands.unanswered.map(\.number.rawValue) == [1])
    }

    @Test func `votes do not cancel out across another command`() {
        var commands = Commands()
        _ = commands.add(command(1, .vote(track: .seven)), at: .at(0))
        _ = commands.add(command(2, .enqueue(track: .seven, index: nil)), at: .at(0))
        #expect(commands.add(command(3, .unvote(track: .seven)), at: .at(0)) == [])
        #expect(commands.unanswered.count == 3)
    }

    // MARK: Entries under way

    @Test func `a command for an entry that is on its way waits for the entry's number`() {
        let enqueue = command(5, .enqueue(track: .seven, index: nil))
        var commands = line([enqueue, command(6, .dequeue(entry: enqueue.number.entry)), command(7, .skip)])
        #expect(enqueue.number.entry == EntryID(rawValue: -5))
        #expect(sent(&commands) == [5])
        _ = commands.acknowledged(1, seq: 9, result: .entry(EntryID(rawValue: 30)))
        #expect(sent(&commands, ids: 1) == [6, 7])
        #expect(commands.unanswered.first?.command == .dequeue(entry: EntryID(rawValue: 30)))
        _ = commands.add(command(8, .play(entry: enqueue.number.entry)), at: .at(0))
        #expect(commands.unanswered.last?.command == .play(entry: EntryID(rawValue: 30)))
    }

    @Test func `a command for an entry that never came is refused`() {
        let enqueue = command(5, .enqueue(track: .seven, index: nil))
        var commands = line([enqueue, command(6, .dequeue(entry: enqueue.number.entry))])
        _ = sent(&commands)
        let steps = refuse(&commands, 1, .notFound) ?? []
        #expect(steps.count == 2)
        #expect(commands.isEmpty)
        let late = commands.add(command(7, .dequeue(entry: enqueue.number.entry)), at: .at(0))
        guard case .answered(_, .refused(let refusal))? = late.first, refusal.code.code == .notFound else {
            Issue.record("\(late)")
            return
        }
    }
}
