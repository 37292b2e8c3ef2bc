package import RoomDomain
package import RoomWire

/// Events that do not follow those that a replica has.
package struct EventHole: Error, Equatable {
    /// The number of the last event that the replica has.
    package let reached: Int
    /// The number of the event that came.
    package let found: Int

    package init(reached: Int, found: Int) {
        self.reached = reached
        self.found = found
    }
}

/// A resumption that does not fit the replica: a server must not send it.
package struct WrongResumption: Error, Equatable {
    /// The position of the replica.
    package let reached: Position
    /// The position that the answer names.
    package let resumed: Position

    package init(reached: Position, resumed: Position) {
        self.reached = reached
        self.resumed = resumed
    }
}

extension Replica {
    /// Takes the events of a delta in; those that the replica has already change nothing, and after a hole none does.
    ///
    /// - Returns: What has changed, in order.
    package mutating func take(_ events: [ShownEvent]) throws(EventHole) -> [RoomChange] {
        var reached = position.seq
        for event in events where event.seq > reached {
            guard event.seq == reached &+ 1 else { throw EventHole(reached: reached, found: event.seq) }
            reached = event.seq
        }
        var changes: [RoomChange] = []
        for event in events where event.seq > position.seq {
            position.seq = event.seq
            if case .known(let recorded) = event { fold(recorded, &changes) }
        }
        if hasOtherQueue { changes.append(.queue(queue)) }
        hasOtherQueue = false
        return changes
    }

    /// Takes the answer to a `subscribe` with the replica's position; the missing events follow.
    package mutating func take(_ resumed: ServerMessage.Received.Resumed) throws(WrongResumption) -> [RoomChange] {
        guard resumed.position.epoch == position.epoch, resumed.position.seq >= position.seq else {
            throw WrongResumption(reached: position, resumed: resumed.position)
        }
        let before = ownVotes
        set(resumed.you)
        set(resumed.presence)
        deck = resumed.deck
        note(keyed: resumed.keyed)
        return ownVotes.symmetricDifference(before).sorted().compactMap { votes(of: $0).map { .votes($0) } }
            + [.membership(me), .online(online ?? 0, onlineMembers), .deck(deck)]
    }

    /// Takes a whole room in, of the same or another epoch.
    package mutating func take(_ snapshot: ServerMessage.Received.Snapshot) -> [RoomChange] {
        let known = position.epoch == snapshot.position.epoch ? keyed : nil
        self = Replica(snapshot)
        note(keyed: known)
        return [.reset]
    }

    /// Takes a change of who is online; without a list, it is not known who is.
    package mutating func take(
        online count: Int, _ change: ServerMessage.Received.PresenceChange?
    ) -> [RoomChange] {
        online = count
        if let change {
            // After a frame without lists, the first one with them names everybody who is online.
            onlineMembers = (onlineMembers ?? []).union(change.on).subtracting(change.off)
        } else {
            onlineMembers = nil
        }
        return [.online(count, onlineMembers)]
    }

    /// Takes the device that plays.
    package mutating func take(_ deck: ShownDeck?) -> [RoomChange] {
        self.deck = deck
        return [.deck(deck)]
    }

    /// Learns from the answer to the client's own `join` which member it is.
    package mutating func joined(as member: MemberID) -> [RoomChange] {
        guard me?.member != member else { return [] }
        me = OwnMembership(member: member, role: members[member]?.role ?? .guest)
        ownVotes = []
        return [.membership(me)]
    }

    /// Learns of a count of keyed commands, of this epoch; an older one changes nothing.
    package mutating func note(keyed count: Int?) {
        guard let count else { return }
        keyed = max(keyed ?? count, count)
    }

    /// The votes of a track; nil if there is no such track.
    package func votes(of id: TrackID) -> TrackVotes? {
        guard let rank = tracks.rank(of: id) else { return nil }
        return TrackVotes(
            track: id, votes: rank.votes, requestedSeq: rank.votes > 0 ? rank.requestedSeq : nil,
            isMine: ownVotes.contains(id))
    }
}
