package import RoomDomain
package import RoomWire

/// What an app asks for.
extension ClientMachine {
    /// The room of a reference; nil if it is not followed.
    ///
    /// While the value is held, the next change of the room copies what it touches.
    package func room(_ reference: RoomReference) -> ClientRoom? { rooms.first { $0.reference == reference } }

    /// The server's time; nil before the server has told any.
    package func time(at now: ClientInstant) -> Timestamp? { clock.time(at: now) }

    /// By how much ``time(at:)`` may be wrong, in milliseconds; nil if nobody can say.
    package var timeErrorMs: Double? { clock.errorMs }

    // MARK: Rooms

    /// Follows a room, from what was kept of it.
    package mutating func follow(
        _ reference: RoomReference, stored: StoredRoom? = nil, at now: ClientMoment
    ) -> [ClientStep] {
        let isNew = !rooms.contains { $0.reference == reference }
        if !isNew, rooms.contains(where: { $0.reference == reference && $0.following.hasEnded }) {
            // Somebody asks again: a ban may be over.
            rooms.removeAll { $0.reference == reference }
            return follow(reference, stored: stored, at: now)
        }
        let index = place(of: reference)
        rooms[index].isHeld = true
        if let stored { carry(rooms[index].following.adopt(stored), index, at: now) }
        if isNew, connecting.isOpen { carry(rooms[index].following.connected(isAsked: false), index, at: now) }
        return finish(at: now)
    }

    /// Follows a room no more; it stays until its commands are answered.
    package mutating func unfollow(_ reference: RoomReference, at now: ClientMoment) -> [ClientStep] {
        if let index = rooms.firstIndex(where: { $0.reference == reference }) {
            save(index, at: nil)
            rooms[index].isHeld = false
        }
        return finish(at: now)
    }

    // MARK: Commands

    /// Gives a command for a room, and shows it at once where that can be.
    ///
    /// `key` is one that this session gives to no other command. A command that is kept survives the end of the
    /// program. The number names the command in what follows; for an `enqueue`, ``CommandNumber/entry`` is the number of
    /// the entry until the room has given its own.
    package mutating func post(
        _ command: RoomCommand, to reference: RoomReference, key: String, isKept: Bool, at now: ClientMoment
    ) -> (number: CommandNumber, steps: [ClientStep]) {
        let isNew = !rooms.contains { $0.reference == reference }
        let index = place(of: reference)
        // The room's answer lets its commands go.
        if isNew, connecting.isOpen { carry(rooms[index].following.connected(isAsked: false), index, at: now) }
        let posted = newCommand(command, to: reference, key: key, isKept: isKept, now)
        if case .ended(let refusal) = rooms[index].phase {
            steps.append(.answered(posted.number, .refused(refusal)))
            return (posted.number, finish(at: now))
        }
        let room = rooms[index]
        let added = rooms[index].commands.add(posted, at: now) { earlier in
            guard let track = command.votedTrack, let replica = room.replica else { return false }
            return room.overlay.isVoted(track, before: earlier, in: replica)
        }
        if let newest = rooms[index].commands.newest, newest.number == posted.number {
            let touched = rooms[index].overlay.add(newest, at: clock.time(at: now.instant))
            show([], touched: touched, index)
        }
        carry(added, index, at: now)
        return (posted.number, finish(at: now))
    }

    /// The device's own deck has changed: a `syncDeck` names what was played since the last one that was answered, a
    /// `finish` or `skip` ends the song that the room has on air.
    ///
    /// Off line nothing is sent, and the newest `syncDeck` when the room is back. The end of a song is worth telling at
    /// once only: it is answered as expired, and the next `syncDeck` names the song with its times.
    package mutating func lead(
        _ command: RoomCommand, in reference: RoomReference, key: String, at now: ClientMoment
    ) -> [ClientStep] {
        if let index = rooms.firstIndex(where: { $0.reference == reference }) {
            let isWhole = if case .syncDeck = command { true } else { false }
            if case .offline = rooms[index].phase, !isWhole {
                steps.append(.deckAnswered(reference, key: key, .expired))
            } else {
                rooms[index].deck.changed(command, key: key)
            }
        }
        return finish(at: now)
    }

    // MARK: Live messages

    /// Shows a reaction to everybody in a room; without a connection, to nobody.
    package mutating func react(_ emoji: String, in reference: RoomReference, at now: ClientMoment) -> [ClientStep] {
        if let id = liveRoom(reference) { send(.react(id: nil, room: .id(id), emoji: emoji)) }
        return finish(at: now)
    }

    /// Sends data to one member.
    package mutating func signal(
        _ data: RelayedJSON, to member: MemberID, in reference: RoomReference, at now: ClientMoment
    ) -> (number: TellingNumber, steps: [ClientStep]) {
        tell(reference, at: now) { .signal(id: $1, room: .id($2), to: member, data: data) }
    }

    /// Makes this device the room's deck, or ends that.
    ///
    /// After a reconnect it is the deck again, unless another member has claimed that meanwhile.
    package mutating func claimDeck(
        _ isOn: Bool, in reference: RoomReference, at now: ClientMoment
    ) -> (number: TellingNumber, steps: [ClientStep]) {
        let index = rooms.firstIndex { $0.reference == reference }
        if let index, !isOn { rooms[index].claim.release() }
        if !isOn, liveRoom(reference) == nil {
            // The claim at the server has ended with the connection.
            lastTelling += 1
            let number = TellingNumber(rawValue: lastTelling)
            steps.append(.told(number, nil))
            return (number, finish(at: now))
        }
        return tell(reference, at: now) { room, number, id in
            if isOn { room.claim.asked(id: number) }
            return .deck(id: number, room: .id(id), isOn: isOn)
        }
    }

    private mutating func tell(
        _ reference: RoomReference, at now: ClientMoment, _ message: (inout ClientRoom, Int64, RoomID) -> ClientMessage
    ) -> (number: TellingNumber, steps: [ClientStep]) {
        lastTelling += 1
        let number = TellingNumber(rawValue: lastTelling)
        if let room = liveRoom(reference), let index = rooms.firstIndex(where: { $0.reference == reference }) {
            ids += 1
            tellings[ids] = number
            let message = message(&rooms[index], ids, room)
            send(message)
        } else {
            steps.append(.told(number, Refusal(ErrorName(.unavailable), "there is no connection")))
        }
        return (number, finish(at: now))
    }

    private func liveRoom(_ reference: RoomReference) -> RoomID? {
        guard connecting.isOpen, let room = room(reference), !room.following.hasEnded else { return nil }
        return room.id
    }

    // MARK: Nearby

    /// Watches the rooms near a point, under a number of the app's; a watch of this number ends.
    package mutating func watch(_ number: Int, _ query: NearbyQuery, at now: ClientMoment) -> [ClientStep] {
        if let sub = circles.remove(number) { stopWatching(sub) }
        carry(circles.add(number, query), at: now)
        return finish(at: now)
    }

    /// Watches them no more.
    package mutating func unwatch(_ number: Int, at now: ClientMoment) -> [ClientStep] {
        if let sub = circles.remove(number) { stopWatching(sub) }
        return finish(at: now)
    }

    private mutating func stopWatching(_ sub: Int64) {
        guard connecting.isOpen else { return }
        ids += 1
        send(.nearbyStop(id: ids, sub: sub))
    }
}
