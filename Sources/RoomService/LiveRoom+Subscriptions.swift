import EventStorage
import NIOCore
package import RoomDomain
package import RoomWire

extension LiveRoom {
    /// Lets a connection follow the room, from where it stands if that can be had, else from a snapshot.
    ///
    /// The answer reaches the feed before any later delta: what the messages hold ends where the deltas begin.
    package func subscribe(_ request: SubscriptionRequest) {
        lastUse = loop.now
        let mayBeBehind = surroundings.settings.logIsShared && !isFollowed
        guard isAhead(request) || mayBeBehind else { return answer(request) }
        verify { self.assumeIsolated { $0.answer(request) } }
    }

    /// Ends a connection's subscription; nothing changes where there is none.
    ///
    /// A member whose last connection here was lost stays online for the time of its grace.
    package func unsubscribe(_ connection: ConnectionID, because end: SubscriptionEnd) {
        lastUse = loop.now
        guard let session = audience.remove(connection), let member = confirmed.memberOfSession[session] else { return }
        if end == .lost, !audience.isConnected(session) { beginGrace(of: member) }
        reviewPresence(of: CollectionOfOne(member))
    }

    /// Whether the client has seen more, on another node, than this room knows.
    private func isAhead(_ request: SubscriptionRequest) -> Bool {
        request.epoch == epoch && (request.seq ?? 0) > confirmed.seq
    }

    private func answer(_ request: SubscriptionRequest) {
        guard condition != .forgotten else {
            return request.feed.subscriptionRefused(request, because: .noSuchRoom)
        }
        if let refusal = refusal(of: request.session) {
            return request.feed.subscriptionRefused(request, because: .banned(retryAfterMs: refusal.retryAfterMs))
        }
        // With the log out of reach there is nothing to give to who has seen more: a snapshot would go back in time.
        guard !isAhead(request) || condition == .current else {
            return request.feed.subscriptionRefused(request, because: .unavailable)
        }
        join(request)
        guard let seq = request.seq, request.epoch == epoch, seq >= 0, seq <= confirmed.seq, !confirmed.isForgotten,
            confirmed.seq - seq <= surroundings.settings.resumableEvents
        else { return begin(request, with: [snapshotMessage(for: request)]) }
        let missing = confirmed.seq - seq
        if missing <= recent.count {
            resume(request, with: Array(recent.suffix(missing)))
        } else {
            readAndResume(request, after: seq)
        }
    }

    /// Counts the connection in before it is answered, so that the answer's presence has it.
    private func join(_ request: SubscriptionRequest) {
        audience.add(request.connection, session: request.session, feed: request.feed)
        guard let member = confirmed.memberOfSession[request.session] else { return }
        grace.cease(member)
        reviewPresence(of: CollectionOfOne(member))
    }

    private func readAndResume(_ request: SubscriptionRequest, after seq: Int) {
        let (id, store) = (id, surroundings.store)
        let (last, epoch, bytes) = (confirmed.seq, epoch, surroundings.settings.resumableBytes)
        surroundings.heavyWork.start(.log, for: request.session, thenOn: loop) { () -> [RecordedEvent]? in
            let stored = try? await Self.read(id, after: seq, through: last, atMost: bytes, from: store)
            return try? stored?.recorded(after: seq, through: last)
        } _: { result in
            // Where too much is read already, a snapshot is what can be had.
            let events = try? result.get()
            self.assumeIsolated { $0.finishResuming(request, in: epoch, through: last, with: events ?? nil) }
        }
    }

    /// The events of a part of the log; nil where their payloads come to more than so many bytes.
    private static func read(
        _ id: RoomID, after seq: Int, through last: Int, atMost bytes: Int, from store: any EventStore
    ) async throws(StorageFault) -> [StoredEvent]? {
        var (events, size): ([StoredEvent], Int) = ([], 0)
        while seq + events.count < last {
            let limit = min(Self.eventsPerRead, last - seq - events.count)
            let page = try await store.read(
                id.uuid, after: seq + events.count, limit: limit, bytes: bytes - size + 1)
            size += page.reduce(0) { $0 + $1.payload.count }
            guard size <= bytes else { return nil }
            events += page
            // Fewer than there must be: whoever folds them finds the hole.
            if page.count < limit { break }
        }
        return events
    }

    /// How many events are read at a time, so that little is read in vain.
    private static let eventsPerRead = 500

    private func finishResuming(
        _ request: SubscriptionRequest, in epoch: String, through last: Int, with events: [RecordedEvent]?
    ) {
        guard audience.follows(request.connection) else {
            // It was banned, or the room forgotten, while the log was read; or it has gone and does not listen.
            let refusal: SubscriptionRefusal =
                if condition == .forgotten {
                    .noSuchRoom
                } else if let refusal = refusal(of: request.session) {
                    .banned(retryAfterMs: refusal.retryAfterMs)
                } else {
                    .unavailable
                }
            return request.feed.subscriptionRefused(request, because: refusal)
        }
        // Never partial: what was read must join what is in memory, else it is a snapshot.
        guard let events, epoch == self.epoch, confirmed.seq - last <= recent.count else {
            return begin(request, with: [snapshotMessage(for: request)])
        }
        // The location may have been cleared since, or the log still have one of before.
        resume(request, with: confirmed.redaction.shown(events) + recent.suffix(confirmed.seq - last))
    }

    private func resume(_ request: SubscriptionRequest, with events: [RecordedEvent]) {
        var messages = [
            ServerMessage.resumed(
                re: request.id, room: id, epoch: epoch, seq: confirmed.seq,
                you: YouJSON.encode(confirmed, request.session), presence: presence.told())
        ]
        for start in stride(from: 0, to: events.count, by: Self.eventsPerDelta) {
            let part = Array(events[start..<min(start + Self.eventsPerDelta, events.count)])
            messages.append(ServerMessage.delta(room: id, events: part))
        }
        begin(request, with: messages)
    }

    private func begin(_ request: SubscriptionRequest, with messages: [[UInt8]]) {
        request.feed.subscriptionBegan(
            Subscription(
                connection: request.connection, room: id, seq: confirmed.seq,
                isCatchUp: request.isCatchUp, messages: messages))
    }

    private func snapshotMessage(for request: SubscriptionRequest) -> [UInt8] {
        ServerMessage.snapshot(
            re: request.id, room: id, epoch: epoch, seq: confirmed.seq, time: surroundings.clock.now,
            state: stateBytes(), you: YouJSON.encode(confirmed, request.session),
            presence: presence.told(), collapsed: collapsed(request))
    }

    /// The events that a snapshot stands for; nil where only presence was left out.
    private func collapsed(_ request: SubscriptionRequest) -> ClosedRange<Int>? {
        request.collapsedFrom.flatMap { $0 <= confirmed.seq ? $0...confirmed.seq : nil }
    }

    /// `State` as JSON, encoded once per position and shared by all who ask at it.
    private func stateBytes() -> [UInt8] {
        if let encodedState, encodedState.seq == confirmed.seq { return encodedState.bytes }
        let bytes = StateJSON.encode(confirmed)
        surroundings.metrics.stateEncoded()
        encodedState = (confirmed.seq, bytes)
        return bytes
    }

    // MARK: Looking

    /// The room as of its last durable event, as `session` sees it.
    package func view(for session: SessionID) -> RoomView {
        lastUse = loop.now
        return RoomView(
            room: id, epoch: epoch, seq: confirmed.seq, time: surroundings.clock.now, state: stateBytes(),
            you: YouJSON.encode(confirmed, session), presence: presence.current)
    }

    /// Why a session may not look at the room: it is banned from it; nil where it may.
    package func refusal(of session: SessionID) -> RoomRefusal? {
        confirmed.refusal(of: session, at: surroundings.clock.now)
    }

    /// The room's epoch and last durable event.
    package var position: Position { Position(epoch: epoch, seq: confirmed.seq) }

}

/// What somebody who looks at a room gets.
package struct RoomView: Sendable {
    /// The room.
    package var room: RoomID
    /// The epoch of its log.
    package var epoch: String
    /// The last event in `state`.
    package var seq: Int
    /// When it was looked at.
    package var time: Timestamp
    /// `State`, as JSON.
    package var state: [UInt8]
    /// `You`, as JSON, where the session is a member.
    package var you: [UInt8]?
    /// Who has a live connection; nil for a look at the past.
    package var presence: Presence?
    /// Whether the request that asks for this view has made the room.
    package var isNew = false
}
