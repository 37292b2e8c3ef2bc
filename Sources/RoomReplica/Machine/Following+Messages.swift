import RoomDomain
package import RoomWire

/// What the server tells of the room.
extension Following {
    /// A whole room, asked for or not.
    package mutating func take(_ snapshot: ServerMessage.Received.Snapshot) -> [Step] {
        guard isConnected, !hasEnded else { return [] }
        let isAnswer = awaits(snapshot.re) || (snapshot.re == nil && question == .opening)
        let isOther = replica?.position.epoch != snapshot.position.epoch
        let changes = replica?.take(snapshot) ?? [.reset]
        if replica == nil { replica = Replica(snapshot) }
        var steps: [Step] = (isOther ? [.began] : []) + [.changed(changes)]
        if isAnswer {
            question = .none
            steps.append(.answered(keyed: snapshot.keyed))
        }
        return steps + turn(to: .live) + toldMembership()
    }

    /// The answer to a question from the replica's position.
    package mutating func take(_ resumed: ServerMessage.Received.Resumed) -> [Step] {
        guard isConnected, !hasEnded, awaits(resumed.re) || (resumed.re == nil && question == .opening) else {
            return []
        }
        question = .none
        do throws(WrongResumption) {
            guard let changes = try replica?.take(resumed) else { return [.ask(nil)] }
            return [.changed(changes), .answered(keyed: resumed.keyed)] + reached(atLeast: resumed.position.seq)
                + toldMembership()
        } catch {
            // A server must not send it: begin anew.
            return [.ask(nil)]
        }
    }

    /// Events; after a hole, the room is asked from the replica's position.
    package mutating func take(_ events: [ShownEvent]) -> [Step] {
        guard isConnected, !hasEnded, let before = replica?.position else { return [] }
        do throws(EventHole) {
            let changes = try replica?.take(events) ?? []
            // Where no event changes anything, the position has: what was acknowledged up to it is here.
            return (replica?.position == before ? [] : [.changed(changes)]) + reached()
        } catch {
            return ask()
        }
    }

    /// Who is online, or the device that plays.
    package mutating func take(_ change: (inout Replica) -> [RoomChange]) -> [Step] {
        guard isConnected, !hasEnded, replica != nil else { return [] }
        return [.changed(learn(change))]
    }

    /// A beat tells the room's position: if it is ahead with nothing in flight, something was lost.
    package mutating func beat(_ seq: Int) -> [Step] {
        guard phase == .live, let replica, replica.position.seq < seq else { return [] }
        return ask()
    }

    /// The server has ended the subscription, or refused it.
    package mutating func refused(_ refusal: Refusal, at now: ClientMoment) -> [Step] {
        guard !hasEnded else { return [] }
        switch refusal.code.code {
        case .rateLimited, .unavailable, .outcomeUnknown, .internal, .limitReached:
            question = .again(at: now.afterWait(ofMs: refusal.retryAfterMs, usualMs: Self.askAgainMs))
            return turn(to: replica == nil ? .connecting : .offline)
        case .badRequest, .methodNotAllowed, .notAcceptable, .unsupportedMediaType, .unauthorized, .forbidden, .banned,
            .notFound, .notMember, .conflict, .roomClosed, .tooLarge, nil:
            question = .none
            return turn(to: .ended(refusal.ending))
        }
    }

    // MARK: Parts

    /// The client's own `join` was acknowledged.
    mutating func joined(as member: MemberID, seq: Int) -> [Step] {
        joinedAs = member
        guard let replica, replica.me?.member != member else { return [] }
        // Events after the join may be the member's own votes: the room tells.
        guard replica.position.seq <= seq else { return ask() }
        return [.changed(learn { $0.joined(as: member) })]
    }

    /// The room has shown who the client is.
    ///
    /// The answer to the own `join` overtakes what the room shows, also the beginning of the epoch that the join is of.
    /// What is shown then is from before the join, and the join's event does not say whose it is: the room is asked
    /// again, once, because the membership may as well have ended.
    private mutating func toldMembership() -> [Step] {
        guard let joinedAs, replica?.me?.member != joinedAs else { return [] }
        let steps = ask()
        // A question that is open may be answered from before the join as well.
        if !steps.isEmpty { self.joinedAs = nil }
        return steps
    }

    /// Learns something from the answer to a command.
    package mutating func learn(_ change: (inout Replica) -> [RoomChange]) -> [RoomChange] {
        guard var room = replica else { return [] }
        replica = nil
        let changes = change(&room)
        replica = room
        return changes
    }

    /// The replica has what was on its way, or not yet all of it.
    private mutating func reached(atLeast seq: Int? = nil) -> [Step] {
        var target = seq ?? 0
        if case .catchingUp(let end) = phase { target = max(target, end) }
        guard let replica, seq != nil || phase != .live else { return [] }
        if replica.position.seq < target { return turn(to: .catchingUp(to: target)) }
        // A question that is open may still bring what is missing.
        return turn(to: .live)
    }

    mutating func turn(to phase: Phase) -> [Step] {
        guard phase != self.phase else { return [] }
        self.phase = phase
        return [.phase(phase)]
    }
}
