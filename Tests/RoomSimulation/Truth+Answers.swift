import EventStorage
import FoundationEssentials
import RoomDomain
import RoomService
import RoomWire

extension Truth {
    /// An answer to a command, with the log's head when the command was sent and when the answer came.
    struct Answer {
        var wish: Int
        var command: RoomCommand
        var actor: Actor
        var key: String?
        var room: RoomID
        var outcome: CommandOutcome
        /// The head when this command was sent, and when the same wish was first sent.
        var head: (asked: Int, firstAsked: Int, answered: Int)
    }

    /// The most events that one command causes.
    private static let eventsPerCommand = 96

    /// Complains about an answer that contradicts the log.
    ///
    /// An acknowledgement names the last of the events that the command causes in the state before them, or a state in
    /// which it causes none. A refusal is the result of deciding on some state. That state must lie between the command
    /// and the answer. It may be the refusal of a command `earlier` behind which the command was put off, although that
    /// one was decided anew since.
    func judge(_ answer: Answer, behind earlier: RoomCommand? = nil) {
        switch answer.outcome {
        case .acknowledged(let seq, let keyed, let result):
            if let problem = problem(of: answer, acknowledgedWith: seq, keyed, result) {
                complain("wish \(answer.wish), \(answer.command), is acknowledged with \(seq): \(problem)")
            }
            show(answer.room, seq)
            check(keyed: keyed, of: answer.room, atLeast: 0, mustBeKnown: true)
        case .failed(.refused(let refusal)):
            guard let room = room(answer.room) else { return complain("wish \(answer.wish) is refused by no room") }
            let isRight = (answer.head.asked...max(answer.head.asked, answer.head.answered)).contains { seq in
                guard room.states.indices.contains(seq) else { return false }
                return [answer.command, earlier].compactMap { $0 }.contains {
                    Self.says(room.states[seq], refusal, of: $0, by: answer.actor)
                }
            }
            if !isRight {
                complain(
                    "wish \(answer.wish), \(answer.command), is refused with \(refusal), as no state says from "
                        + "\(answer.head.asked) to \(answer.head.answered)")
            }
        case .keyReused, .failed(.noSuchRoom), .failed(.busy), .failed(.internalFault):
            complain("wish \(answer.wish), \(answer.command), is answered \(answer.outcome)")
        case .failed(.unavailable), .failed(.outcomeUnknown):
            break
        }
    }

    /// Whether a state gives this refusal, now or after temporary conditions have ended.
    private static func says(
        _ state: RoomState, _ refusal: RoomRefusal, of command: RoomCommand, by actor: Actor
    ) -> Bool {
        let times = [Timestamp(milliseconds: 0), Timestamp(milliseconds: .max)] + command.deckTimes
        return times.contains { now in
            do throws(RoomRefusal) {
                _ = try state.decide(command, by: actor, at: now)
                return false
            } catch {
                switch (refusal, error) {
                case (.banned(let wait?, let told), .banned(let longest?, let given)):
                    return told == given && (1...longest).contains(wait)
                case (.rateLimited(_, let wait), .rateLimited(_, let longest)):
                    return (1...longest).contains(wait)
                default: return error == refusal
                }
            }
        }
    }

    /// Whether a state of a room from the event `first` to the one before `end` refuses a command for good.
    func refuses(_ command: RoomCommand, by actor: Actor, in id: RoomID, from first: Int, before end: Int) -> Bool {
        guard let states = room(id)?.states, first < end, states.indices.contains(end) else { return false }
        return states[first..<end].contains { state in
            // A ban may be over by then.
            [Timestamp(milliseconds: 0), Timestamp(milliseconds: .max)].contains { now in
                do throws(RoomRefusal) {
                    _ = try state.decide(command, by: actor, at: now)
                    return false
                } catch {
                    // That is put off, and all behind it.
                    if case .rateLimited = error { return false }
                    return true
                }
            }
        }
    }

    /// Whether a room has ever banned a session.
    func hasBanned(_ session: SessionID, from room: RoomID) -> Bool {
        (self.room(room)?.states ?? []).contains { $0.bans[session] != nil }
    }

    /// Whether a failure says that a room has banned a session, and this is true.
    func hasBanned(_ session: SessionID, from room: RoomID, as failure: RoomFailure) -> Bool {
        if case .refused(.banned) = failure { hasBanned(session, from: room) } else { false }
    }

    private func problem(of answer: Answer, acknowledgedWith seq: Int, _ keyed: Int, _ result: CommandResult?)
        -> String?
    {
        guard let room = room(answer.room) else { return "there is no such room" }
        guard seq <= answer.head.answered else { return "that is not durable" }
        if let key = answer.key, case .session(let session, _) = answer.actor {
            guard let row = room.keys[KeyName(session: session.uuid, key: key)] else { return "its key is not kept" }
            guard row.seq == seq else { return "its key is kept with \(row.seq)" }
            guard row.ordinal == keyed else { return "it is keyed command \(row.ordinal), not \(keyed)" }
        }
        if case .addTracks(let tracks) = answer.command, tracks.first?.source == Self.markSource {
            let times = mark(tracks[0].sourceID)
            if times != 1 { return "it is in the log \(times) times" }
        }
        guard seq >= answer.head.firstAsked else { return "that was before it was asked for" }
        // A state that already holds may have been caused by anybody.
        if explains(answer, from: room.states[seq], [], result) { return nil }
        for count in 1...Self.eventsPerCommand where seq - count >= answer.head.firstAsked {
            let events = room.events[(seq - count)..<seq]
            if explains(answer, from: room.states[seq - count], Array(events), result) {
                let isFirst = claim((seq - count + 1)...seq, of: answer.room, by: answer.wish)
                return isFirst ? nil : "that is what another wish has caused"
            }
        }
        return "that is neither what it causes nor nothing"
    }

    /// Whether a command causes these events and this result in a state.
    private func explains(
        _ answer: Answer, from state: RoomState, _ events: [RecordedEvent], _ result: CommandResult?
    ) -> Bool {
        // A deck that changes nothing was compared with the room at a time that is not known: at any time after it.
        let at = events.first?.at ?? answer.command.deckTimes.last ?? Timestamp(milliseconds: 0)
        let expected = events.map(\.event)
        // How many members are online, and how many of those vote to skip, decides a skip, and it is not in any log.
        let voters = state.onAir?.skipVoters.filter { state.members[$0] != nil } ?? []
        let others = state.onAir == nil ? [] : state.members.keys.filter { !voters.contains($0) }
        return (0...voters.count).contains { voting in
            (0...others.count).contains { watching in
                let online = Set(voters.prefix(voting)).union(others.prefix(watching))
                guard let decided = try? state.decide(answer.command, by: answer.actor, at: at, online: online)
                else { return false }
                return decided == expected
                    && state.result(of: answer.command, by: answer.actor, causing: decided) == result
            }
        }
    }
}

extension RoomCommand {
    /// The times that a deck tells; the last one is that of its position, if it plays.
    fileprivate var deckTimes: [Timestamp] {
        guard case .syncDeck(let deck) = self else { return [] }
        let heard = deck.played.flatMap { [$0.startedAt, $0.endedAt ?? $0.startedAt] }
        guard case .onAir(_, _, _, let at, _, _) = deck.playback else { return heard }
        return heard + [at]
    }
}
