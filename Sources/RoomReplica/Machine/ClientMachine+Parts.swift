import RoomDomain
import RoomWire

/// Turns the steps of the parts into those of the machine.
extension ClientMachine {
    mutating func carry(_ connects: [Connecting.Step], at now: ClientMoment) {
        for step in connects {
            switch step {
            case .connect(let attempt, let wait):
                path = nextPath
                // An attempt that hangs is noticed as a silent connection is.
                liveness.begin(at: now.instant.advanced(byMs: wait))
                steps.append(.connect(attempt: attempt, afterMs: wait, path))
            case .close(let attempt, let code): steps.append(.close(attempt: attempt, code: code))
            }
        }
    }

    /// The room's own socket where there is one room: it answers without being asked.
    private var nextPath: SocketPath {
        let followed = rooms.filter { !$0.following.hasEnded }
        guard followed.count == 1, let room = followed.first else { return .any }
        return .room(room.reference, room.replica?.position)
    }

    mutating func carry(_ asked: [NearbyWatches.Step], at now: ClientMoment) {
        for step in asked {
            switch step {
            case .ask(let watch, let query):
                guard connecting.isOpen else { continue }
                ids += 1
                circles.asked(watch, id: ids)
                send(.nearby(id: ids, query: query))
            case .changed(let watch, let rooms): steps.append(.nearby(watch: watch, rooms))
            case .ended(let watch, let code): steps.append(.nearbyEnded(watch: watch, code))
            }
        }
    }

    mutating func carry(_ followed: [Following.Step], _ index: Int, at now: ClientMoment) {
        let reference = rooms[index].reference
        for step in followed {
            switch step {
            case .ask(let position):
                ids += 1
                rooms[index].following.asked(ids)
                rooms[index].commands.asked()
                let room = rooms[index].id.map { RoomReference.id($0) } ?? reference
                send(.subscribe(id: ids, room: room, position: position))
            case .began: rooms[index].overlay.began()
            case .changed(let changes):
                rooms[index].isUnsaved = true
                guard let reached = rooms[index].replica?.position.seq else { continue }
                let touched = rooms[index].overlay.reached(reached)
                rooms[index].claim.told(rooms[index].replica?.deck, me: rooms[index].replica?.me?.member)
                show(changes.withoutDeck, touched: touched, index, isMoved: true)
            case .answered(let keyed):
                guard let epoch = rooms[index].replica?.position.epoch else { continue }
                carry(rooms[index].commands.roomAnswered(epoch: epoch, keyed: keyed, at: now), index, at: now)
            case .phase(let phase):
                steps.append(.phase(reference, phase))
                guard case .ended(let refusal) = phase else { continue }
                carry(rooms[index].commands.end(.refused(refusal)), index, at: now)
            }
        }
    }

    mutating func carry(_ commanded: [Commands.Step], _ index: Int, at now: ClientMoment) {
        for step in commanded {
            switch step {
            case .keep(let command): steps.append(.keep(.command(command)))
            case .forget(let number): steps.append(.keep(.answered(number)))
            case .send(let id, let command, let earlier):
                let room = rooms[index].id.map { RoomReference.id($0) } ?? rooms[index].reference
                send(.command(id: id, room: room, key: command.key, command: command.command, after: earlier))
            case .answered(let command, let answer): answered(command, answer, index, at: now)
            }
        }
    }

    private mutating func answered(
        _ command: OutboxCommand, _ answer: CommandAnswer, _ index: Int, at now: ClientMoment
    ) {
        let touched: Overlay.Touched
        if case .acknowledged(let seq, let result) = answer {
            var entry: EntryID?
            if case .entry(let given)? = result { entry = given }
            touched = rooms[index].overlay.acknowledged(
                command.number, seq: seq, entry: entry, reached: rooms[index].replica?.position.seq ?? 0)
            if case .join = command.command, case .member(let member)? = result {
                carry(rooms[index].following.joined(as: member, seq: seq), index, at: now)
            }
        } else {
            touched = rooms[index].overlay.remove(command.number)
        }
        show([], touched: touched, index)
        if rooms[index].deck.answered(command.number) {
            steps.append(.deckAnswered(rooms[index].reference, key: command.key, answer))
            if case .refused(let refusal) = answer, [.forbidden, .notMember, .roomClosed].contains(refusal.code.code) {
                rooms[index].deck.end()
                steps.append(.deckEnded(rooms[index].reference, refusal.code))
            }
        } else {
            steps.append(.answered(command.number, answer))
        }
    }

    /// Tells what has changed as it is shown; nothing may have, where only the position is another.
    mutating func show(_ changes: [RoomChange], touched: Overlay.Touched, _ index: Int, isMoved: Bool = false) {
        guard let replica = rooms[index].replica else { return }
        let shown = rooms[index].overlay.shown(changes, touched: touched, in: replica)
        if isMoved || !shown.isEmpty { steps.append(.changed(rooms[index].reference, shown)) }
    }

    /// Makes this device the deck of a room again, where it was before the connection was lost, and tells who is.
    private mutating func lookAfterDeck(_ index: Int, at now: ClientMoment) {
        if connecting.isOpen, rooms[index].following.isAnswered, let replica = rooms[index].replica,
            rooms[index].claim.isDueAgain(replica.deck, at: now.instant)
        {
            ids += 1
            rooms[index].claim.asked(id: ids)
            send(.deck(id: ids, room: .id(replica.id), isOn: true))
        }
        let deck = rooms[index].shownDeck
        guard deck != rooms[index].toldDeck else { return }
        rooms[index].toldDeck = deck
        show([.deck(deck)], touched: .nothing, index)
    }

    /// Does what is due in one room.
    mutating func work(_ index: Int, at now: ClientMoment) {
        if connecting.isOpen, let due = rooms[index].commands.asksAt, due <= now.instant {
            // An answer that is on its way tells the count as well.
            rooms[index].commands.asked()
            carry(rooms[index].following.ask(), index, at: now)
        }
        carry(rooms[index].commands.expire(at: now.instant), index, at: now)
        lookAfterDeck(index, at: now)
        if case .live = rooms[index].phase, let next = rooms[index].deck.next() {
            let command = newCommand(
                next.command, to: rooms[index].reference, key: next.key, isKept: false, now)
            rooms[index].deck.sent(as: command.number)
            carry(rooms[index].commands.add(command, at: now), index, at: now)
        }
        if connecting.isOpen, let replica = rooms[index].replica {
            let known = OutboxCommand.Sending(epoch: replica.position.epoch, keyed: replica.keyed)
            carry(rooms[index].commands.send(at: now.instant, knowing: known, ids: &ids), index, at: now)
        }
        save(index, at: now.instant)
    }

    /// A command with the next number.
    mutating func newCommand(
        _ command: RoomCommand, to room: RoomReference, key: String, isKept: Bool, _ now: ClientMoment
    ) -> OutboxCommand {
        lastCommand += 1
        return OutboxCommand(
            number: CommandNumber(rawValue: lastCommand), room: room, key: key, command: command,
            expiresAt: Timestamp(milliseconds: now.wall.milliseconds &+ command.lifetimeMs), isKept: isKept)
    }

    /// Follows rooms no more.
    mutating func leave(_ done: [ClientRoom]) {
        for room in done {
            rooms.removeAll { $0.reference == room.reference }
            guard connecting.isOpen, !room.following.hasEnded, let id = room.id,
                !rooms.contains(where: { $0.id == id })
            else { continue }
            ids += 1
            send(.unsubscribe(id: ids, room: .id(id)))
        }
    }
}

extension [RoomChange] {
    /// The changes but for the deck, which the machine tells as it is shown; a copy only where there is one.
    fileprivate var withoutDeck: Self {
        func isDeck(_ change: RoomChange) -> Bool { if case .deck = change { true } else { false } }
        return contains(where: isDeck) ? filter { !isDeck($0) } : self
    }
}
