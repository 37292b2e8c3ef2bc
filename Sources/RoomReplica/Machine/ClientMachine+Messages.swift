import RoomDomain
package import RoomWire

/// Reads messages, and gives each to the part that it is for.
extension ClientMachine {
    /// A message has arrived on the socket of an attempt.
    package mutating func received(_ bytes: [UInt8], on attempt: Int, at now: ClientMoment) -> [ClientStep] {
        received(try? ServerMessage.Received.parse(bytes), on: attempt, at: now)
    }

    /// A message has arrived that was read elsewhere; nil if it could not be read.
    package mutating func received(
        _ message: ServerMessage.Received?, on attempt: Int, at now: ClientMoment
    ) -> [ClientStep] {
        guard connecting.isOpen, connecting.attempt == attempt else { return finish(at: now) }
        liveness.arrived(at: now.instant)
        if let message {
            take(message, at: now)
        } else {
            // A later release's message; or one that shows as a hole in the numbers of events.
            unreadable += 1
        }
        return finish(at: now)
    }

    /// A ping or a pong has arrived, which is no message.
    package mutating func pinged(on attempt: Int, at now: ClientMoment) -> [ClientStep] {
        if connecting.attempt == attempt { liveness.arrived(at: now.instant) }
        return finish(at: now)
    }

    private mutating func take(_ message: ServerMessage.Received, at now: ClientMoment) {
        switch message {
        case .welcome(let welcome):
            session = welcome.session
            liveness.learned(beatMs: welcome.beatMs)
            clock.hint(welcome.time, at: now.instant)
            measure(at: now)
        case .snapshot(let snapshot): take(snapshot, at: now)
        case .resumed(let resumed):
            guard !leaves(resumed.room) else { return }
            each(of: resumed.room, re: resumed.re, at: now) { $0.following.take(resumed) }
        case .delta(let room, let events):
            each(of: room, at: now) { room in
                if !room.overlay.isEmpty, let replica = room.replica {
                    for event in events where event.seq > replica.position.seq {
                        room.overlay.sees(event, of: replica.me?.member)
                    }
                }
                return room.following.take(events)
            }
        case .presence(let room, let online, let change):
            each(of: room, at: now) { $0.following.take { $0.take(online: online, change) } }
        case .deck(let room, let deck): each(of: room, at: now) { $0.following.take { $0.take(deck) } }
        case .reaction(let room, let from, let emoji):
            steps += references(of: room).map { .reaction($0, from: from, emoji: emoji) }
        case .signal(let room, let from, let data):
            steps += references(of: room).map { .signal($0, from: from, data) }
        case .ok(let re): if let re { agreed(re) }
        case .ack(let re, let seq, let keyed, let result):
            if let re { acknowledged(re, seq: seq, keyed: keyed, result: result, at: now) }
        case .error(let re, let code, let message, let retryAfterMs, let reason):
            guard let re else { break }
            refused(re, Refusal(code, message, retryAfterMs: retryAfterMs, reason: reason), at: now)
        case .ended(let room, let code):
            each(of: room, at: now) { $0.following.refused(Refusal(code), at: now) }
        case .time(let re, let t1, let t2, let t3):
            guard clock.take(re, t1: t1, t2: t2, t3: t3, at: now.instant) else { return }
            ids += 1
            clock.asks(ids)
            send(.time(id: ids, t1: now.instant.milliseconds))
        case .nearby(let re, let rooms): carry(circles.take(re, rooms: rooms), at: now)
        case .nearbyDelta(let sub, let entered, let changed, let left):
            carry(circles.take(sub: sub, entered: entered, changed: changed, left: left), at: now)
        // It subscribes to none of these.
        case .statistics, .statisticsDelta, .statisticsEnd, .trending, .trendingDelta: break
        case .goaway: connecting.goingAway()
        case .beat(let time, let seqs):
            if clock.isContradicted(byBeat: time, at: now.instant) { measure(at: now) }
            for beat in seqs { each(of: beat.room, at: now) { $0.following.beat(beat.seq) } }
        }
    }

    /// Gives a message to the rooms that it is for: an answer to the one that asked, any other to all of that room.
    private mutating func each(
        of room: RoomID, re: Int64? = nil, at now: ClientMoment, _ take: (inout ClientRoom) -> [Following.Step]
    ) {
        for index in rooms.indices {
            guard re == nil ? rooms[index].id == room : rooms[index].following.awaits(re) else { continue }
            carry(take(&rooms[index]), index, at: now)
        }
    }

    private mutating func take(_ snapshot: ServerMessage.Received.Snapshot, at now: ClientMoment) {
        clock.hint(snapshot.time, at: now.instant)
        let id = snapshot.state.id
        guard snapshot.re == nil else {
            return each(of: id, re: snapshot.re, at: now) { $0.following.take(snapshot) }
        }
        // The room of a code is known by its first snapshot.
        let opened = rooms.firstIndex { room in
            guard room.id == nil, case .room(room.reference, _) = path else { return false }
            return true
        }
        if let opened { return carry(rooms[opened].following.take(snapshot), opened, at: now) }
        guard !leaves(id) else { return }
        each(of: id, at: now) { $0.following.take(snapshot) }
    }

    private func references(of room: RoomID) -> [RoomReference] { rooms.filter { $0.id == room }.map(\.reference) }

    /// The most rooms that are left on one connection because a server sends them unasked.
    private static let mostLeavings = 16

    /// Whether nobody follows this room any more: its socket was asked for earlier.
    private mutating func leaves(_ room: RoomID) -> Bool {
        guard !rooms.contains(where: { $0.id == room }) else { return false }
        // A socket is asked for one room only: a server that sends more of them gets no answer for each.
        guard leavings < Self.mostLeavings else { return true }
        leavings += 1
        ids += 1
        send(.unsubscribe(id: ids, room: .id(room)))
        return true
    }

    private mutating func acknowledged(
        _ re: Int64, seq: Int, keyed: Int?, result: CommandResult?, at now: ClientMoment
    ) {
        for index in rooms.indices {
            guard let done = rooms[index].commands.acknowledged(re, seq: seq, result: result) else { continue }
            _ = rooms[index].following.learn { room in
                room.note(keyed: keyed)
                return []
            }
            return carry(done, index, at: now)
        }
    }

    private mutating func agreed(_ re: Int64) {
        for index in rooms.indices { rooms[index].claim.agreed(re) }
        if let number = tellings.removeValue(forKey: re) { steps.append(.told(number, nil)) }
    }

    private mutating func refused(_ re: Int64, _ refusal: Refusal, at now: ClientMoment) {
        let isForNow = [.rateLimited, .unavailable, .outcomeUnknown].contains(refusal.code.code)
        let again = isForNow ? now.afterWait(ofMs: refusal.retryAfterMs, usualMs: Following.askAgainMs) : nil
        for index in rooms.indices { rooms[index].claim.refused(re, until: again) }
        if let number = tellings.removeValue(forKey: re) { return steps.append(.told(number, refusal)) }
        if let done = circles.refused(re, refusal.code, retryAfterMs: refusal.retryAfterMs, at: now) {
            return carry(done, at: now)
        }
        for index in rooms.indices {
            if rooms[index].following.awaits(re) {
                return carry(rooms[index].following.refused(refusal, at: now), index, at: now)
            }
            if let done = rooms[index].commands.refused(re, refusal, at: now) { return carry(done, index, at: now) }
        }
    }
}
