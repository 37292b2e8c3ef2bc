import FoundationEssentials
import RoomDomain
import RoomService
import RoomWire

extension Truth {
    /// Complains about a delta that differs from the log.
    func check(_ update: PublishedEvents) {
        guard let room = room(update.room), update.from >= 1, update.from <= update.seq, update.seq <= room.head else {
            return complain("events \(update.from)…\(update.seq) of \(update.room) are shown, and not durable")
        }
        show(update.room, update.seq)
        let events = Array(room.events[(update.from - 1)..<update.seq])
        // Events that became durable together with a later clearing are shown without their locations.
        let deltas = [room.states[update.seq].redaction, room.state.redaction].map {
            ServerMessage.delta(room: update.room, events: $0.shown(events))
        }
        if !deltas.contains(update.message) {
            complain("events \(update.from)…\(update.seq) of \(update.room) are not shown as the log has them")
        }
    }

    /// Complains about a subscription that begins with neither the fold of the log nor all missing events.
    ///
    /// Returns the epoch that the client receives.
    ///
    /// With `mustResume`, a client that may resume must get its deltas, and no snapshot.
    func check(
        _ subscription: Subscription, for request: SubscriptionRequest, at now: Timestamp,
        resumableEvents: Int, mustResume: Bool
    ) -> String {
        let (id, seq) = (subscription.room, subscription.seq)
        guard let room = room(id), room.states.indices.contains(seq), seq > 0 else {
            complain("a subscription to \(id) begins at \(seq), which is not durable")
            return ""
        }
        show(id, seq)
        let (state, none) = (room.states[seq], Presence(online: 0, members: nil))
        let you = YouJSON.encode(state, request.session)
        let first = subscription.messages.first?.bytes ?? []
        let keyed = (try? JSONValue(parsing: first).object)?["keyed"]?.integer.map(Int.init)
        // A server may not know yet that the log has a new epoch.
        for epoch in room.epochs.reversed() {
            let resumed = ServerMessage.resumed(
                re: request.wish.id, room: id, epoch: epoch, seq: seq, keyed: keyed, you: you, presence: none)
            if first.starts(with: resumed.beforePresence) {
                if let asked = request.wish.position?.seq, request.wish.position?.epoch == epoch {
                    checkDeltas(subscription, of: room, after: asked)
                } else {
                    complain("a client resumes \(id) in \(epoch) that has nothing of it")
                }
                return epoch
            }
            // A snapshot encoded outside the event loop is followed by the events since then.
            guard let shown = subscription.messages.first?.state?.seq, (1...seq).contains(shown) else { continue }
            let then = room.states[shown]
            let snapshot = ServerMessage.snapshot(
                re: request.wish.id, room: id, epoch: epoch, seq: shown, keyed: keyed, time: now,
                state: StateJSON.encode(then), you: YouJSON.encode(then, request.session), presence: none)
            guard first.starts(with: snapshot.beforePresence) else { continue }
            checkDeltas(subscription, of: room, after: shown)
            if let asked = request.wish.position?.seq, request.wish.position?.epoch == epoch {
                if seq < asked { complain("a snapshot of \(id) goes back from \(asked) to \(seq)") }
                if mustResume, asked <= seq, seq - asked <= resumableEvents {
                    complain("a snapshot of \(id) at \(seq) for a client at \(asked)")
                }
            }
            return epoch
        }
        complain("the subscription to \(id) at \(seq) does not show the fold of its log")
        return ""
    }

    /// Whether a resume shows events as it must.
    ///
    /// The log may already lack a location that an event beyond the subscription has cleared: the first events of a
    /// delta, which are read from the log, may lack it, and the others, which the room remembers, still have it.
    private func isShown(
        _ delta: [UInt8], as events: [RecordedEvent], _ subscription: Subscription, of room: Room
    ) -> Bool {
        let known = room.states[subscription.seq].redaction.shown(events)
        if ServerMessage.delta(room: subscription.room, events: known) == delta { return true }
        let cleared = room.state.redaction.shown(events)
        return events.indices.contains { read in
            let mixed = Array(cleared[...read] + known[(read + 1)...])
            return ServerMessage.delta(room: subscription.room, events: mixed) == delta
        }
    }

    private func checkDeltas(_ subscription: Subscription, of room: Room, after asked: Int) {
        var reached = asked
        for message in subscription.messages.dropFirst().map(\.bytes) {
            guard let object = try? JSONValue(parsing: message).object,
                let from = object["from"]?.integer.map(Int.init), let seq = object["seq"]?.integer.map(Int.init),
                from == reached + 1, from <= seq, seq <= subscription.seq
            else {
                return complain("who resumes \(subscription.room) at \(asked) does not get what follows \(reached)")
            }
            guard isShown(message, as: Array(room.events[(from - 1)..<seq]), subscription, of: room) else {
                return complain("events \(from)…\(seq) of \(subscription.room) are not resumed as the log has them")
            }
            reached = seq
        }
        if reached != subscription.seq {
            complain("who resumes \(subscription.room) at \(asked) gets \(reached) instead of \(subscription.seq)")
        }
    }

    /// Complains about a read of a room that differs from the redacted fold of its log, if the log is at `head` or
    /// further.
    func check(_ view: RoomView, for session: SessionID, knowing head: Int = 0) {
        guard let room = room(view.room), room.states.indices.contains(view.seq), view.seq > 0 else {
            return complain("\(view.room) is looked at as of \(view.seq), which is not durable")
        }
        show(view.room, view.seq)
        let state = room.states[view.seq]
        let shown = [room.states[min(max(head, view.seq), room.head)], room.state].map { known in
            var shown = state
            known.redaction.redact(&shown)
            return StateJSON.encode(shown)
        }
        if !room.epochs.contains(view.epoch) || !shown.contains(view.state.json)
            || view.you != YouJSON.encode(state, session)
        {
            complain("\(view.room) as of \(view.seq) is not shown as the fold of its log")
        }
    }
}

extension [UInt8] {
    /// A message up to its list of online members.
    var beforePresence: ArraySlice<UInt8> {
        let name = Array(#""presence":"#.utf8)
        guard count > name.count else { return self[...] }
        for start in stride(from: count - name.count, through: 0, by: -1)
        where self[start] == name[0] && self[start..<(start + name.count)].elementsEqual(name) {
            return self[..<start]
        }
        return self[...]
    }
}
