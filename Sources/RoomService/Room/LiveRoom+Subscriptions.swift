import EventStorage
import NIOCore
package import RoomDomain
import RoomLog
package import RoomWire

extension LiveRoom {
    /// Lets a connection follow the room: from its own position if that is possible, otherwise from a snapshot.
    ///
    /// The answer reaches the feed before any later delta: its messages end where the deltas begin.
    package func subscribe(_ request: SubscriptionRequest) {
        lastUse = loop.now
        // A room with followers hears of other servers' events, but not of keyed commands that change nothing; their
        // count is told to a client that asks. A location that another server has cleared must not be shown, even
        // before this is announced.
        let (isShared, tellsCount) = (dependencies.settings.logIsShared, !request.isCatchUp)
        let mayBeBehind =
            tellsCount && (isShared || writer.condition != .current)
            || isShared && (!isFollowed || confirmed.location != nil)
        guard isAhead(request) || mayBeBehind else { return answer(request) }
        verify { self.assumeIsolated { $0.answer(request) } }
    }

    /// Ends a connection's subscription; does nothing if there is none.
    ///
    /// A member whose last connection here was lost stays online for the grace period.
    package func unsubscribe(_ connection: ConnectionID, because end: SubscriptionEnd) {
        lastUse = loop.now
        guard let session = audience.remove(connection), let member = confirmed.memberOfSession[session] else { return }
        if deck.holder?.connection == connection { endClaim() }
        if end == .lost, !audience.isConnected(session) { beginGrace(of: member) }
        reviewPresence(of: CollectionOfOne(member))
    }

    /// Whether the client has seen more, on another node, than this room knows.
    private func isAhead(_ request: SubscriptionRequest) -> Bool {
        request.position.map { $0.epoch == epoch && $0.seq > confirmed.seq } ?? false
    }

    private func answer(_ request: SubscriptionRequest) {
        var request = request
        request.isVerified = writer.condition == .current
        guard !isForgotten else {
            return request.refuse(because: .noSuchRoom)
        }
        if let refusal = refusal(of: request.session) {
            return request.refuse(because: .refused(refusal))
        }
        // Without the log there is no answer for a client that has seen more: a snapshot would go back in time.
        guard !isAhead(request) || writer.condition == .current else {
            return request.refuse(because: .unavailable)
        }
        join(request)
        guard let seq = lastSeen(by: request), seq >= 0, seq <= confirmed.seq, !confirmed.isForgotten,
            confirmed.seq - seq <= dependencies.settings.resumableEvents
        else { return beginWithSnapshot(request) }
        let missing = confirmed.seq - seq
        if missing <= recent.count {
            resume(request, after: seq, with: recent.suffix(missing))
        } else {
            readAndResume(request, after: seq)
        }
    }

    /// The last event of this log that a connection has; nil if it needs a snapshot.
    private func lastSeen(by request: SubscriptionRequest) -> Int? {
        switch request.wish {
        case .begin(_, let position): position?.epoch == epoch ? position?.seq : nil
        case .rest(let from): from - 1
        case .collapse, .anew: nil
        }
    }

    /// Adds the connection before it is answered, so that the presence in its answer includes it.
    private func join(_ request: SubscriptionRequest) {
        audience.add(request.connection, session: request.session, feed: request.feed)
        guard let member = confirmed.memberOfSession[request.session] else { return }
        grace.cease(member)
        reviewPresence(of: CollectionOfOne(member))
    }

    private func readAndResume(_ request: SubscriptionRequest, after seq: Int) {
        let (id, store, settings) = (id, dependencies.store, dependencies.settings)
        // The rest of an answer is read as the connection takes it; its size was checked before.
        let isWhole = !request.isRest
        let (last, epoch, bytes) = (
            confirmed.seq, epoch, isWhole ? settings.resumableBytes : settings.answeredDeltaBytes
        )
        dependencies.heavyWork.start(.log, for: request.session, thenOn: loop) { () -> [RecordedEvent]? in
            let stored = try? await Self.read(
                id, after: seq, through: last, atMost: bytes, isWhole: isWhole, from: store)
            return try? stored.map { try $0.recorded(after: seq, through: seq + $0.count) }
        } _: { result in
            // If too many reads are under way, a snapshot is the only possible answer.
            let events = try? result.get()
            self.assumeIsolated { $0.finishResuming(request, in: epoch, after: seq, with: events ?? nil) }
        }
    }

    /// Reads the first events of a part of the log, up to a number of bytes.
    ///
    /// With `isWhole`, the whole part is checked first, ``eventsPerRead`` events at a time: nil if its payloads exceed
    /// the bytes, or events are missing.
    private static func read(
        _ id: RoomID, after seq: Int, through last: Int, atMost bytes: Int, isWhole: Bool, from store: any EventStore
    ) async throws(StorageFault) -> [StoredEvent]? {
        var (first, size, end): ([StoredEvent], Int, Int) = ([], 0, seq)
        while end < last {
            let limit = min(Self.eventsPerRead, last - end)
            let page = try await store.read(id.uuid, after: end, limit: limit, bytes: bytes - size + 1)
            guard isWhole else { return page.isEmpty ? nil : page }
            size += page.reduce(0) { $0 + $1.payload.count }
            guard size <= bytes, page.count == limit else { return nil }
            if end == seq { first = page }
            end += limit
        }
        return first
    }

    /// The number of events read at a time, so that few are read in vain.
    private static let eventsPerRead = 500

    private func finishResuming(
        _ request: SubscriptionRequest, in epoch: String, after seq: Int, with events: [RecordedEvent]?
    ) {
        guard audience.follows(request.connection) else { return refuseLate(request) }
        // An answer is never partial: events of another log lead to a snapshot.
        guard let events, epoch == self.epoch, !confirmed.isForgotten else { return beginWithSnapshot(request) }
        let missing = confirmed.seq - seq - events.count
        // The location may have been cleared since, or the events may still contain an earlier one.
        let shown = confirmed.redaction.shown(events)
        resume(request, after: seq, with: shown + (missing <= recent.count ? Array(recent.suffix(missing)) : []))
    }

    /// Answers a connection that has left, or was removed, while its answer was made.
    private func refuseLate(_ request: SubscriptionRequest) {
        // The session was banned, or the room forgotten; or the connection has gone and does not listen.
        let failure: RoomFailure =
            if isForgotten {
                .noSuchRoom
            } else if let refusal = refusal(of: request.session) {
                .refused(refusal)
            } else {
                .unavailable
            }
        request.refuse(because: failure)
    }

    /// Gives the connection the events after `seq`, or the first of them.
    private func resume(_ request: SubscriptionRequest, after seq: Int, with events: some Collection<RecordedEvent>) {
        let (deltas, reached) = deltas(of: events, after: seq)
        var messages = deltas
        if !request.isRest {
            let resumed = ServerMessage.resumed(
                re: request.id, room: id, epoch: epoch, seq: confirmed.seq, keyed: keyed(shownTo: request),
                you: YouJSON.encode(confirmed, request.session), presence: presence.told(),
                deck: deck.told(to: request.connection))
            messages.insert(RoomMessage(resumed), at: 0)
        }
        begin(request, with: messages, through: reached, isSnapshot: false)
    }

    /// Returns the first of these events, as many as one answer may have, and the last event among them.
    private func deltas(
        of events: some Collection<RecordedEvent>, after seq: Int
    ) -> (messages: [RoomMessage], reached: Int) {
        var (messages, part, bytes, reached): ([RoomMessage], [RecordedEvent], Int, Int) = ([], [], 0, seq)
        for event in events {
            bytes += event.weight
            // At least one delta, so that a connection that asks for the rest makes progress.
            guard reached == seq || bytes <= dependencies.settings.answeredDeltaBytes else { break }
            part.append(event)
            reached = event.seq
            guard part.count == Self.eventsPerDelta else { continue }
            messages.append(RoomMessage(ServerMessage.delta(room: id, events: part)))
            part = []
        }
        if !part.isEmpty { messages.append(RoomMessage(ServerMessage.delta(room: id, events: part))) }
        return (messages, reached)
    }

    /// Gives the connection a snapshot, and the events since it was made.
    ///
    /// If these are no longer in memory, another snapshot is made, a limited number of times.
    private func beginWithSnapshot(_ request: SubscriptionRequest, attempts: Int = 3) {
        withState(compressed: request.takesCompressed, for: request.connection) { room, state in
            guard room.audience.follows(request.connection), let state else { return room.refuseLate(request) }
            let seq = state.shared.seq
            guard room.confirmed.seq - seq <= room.recent.count else {
                guard attempts > 1 else { return request.refuse(because: .unavailable) }
                return room.beginWithSnapshot(request, attempts: attempts - 1)
            }
            let snapshot = room.snapshotMessage(of: state, for: request)
            let (deltas, reached) = room.deltas(of: room.recent.suffix(room.confirmed.seq - seq), after: seq)
            room.begin(request, with: [snapshot] + deltas, through: reached, isSnapshot: true)
        }
    }

    private func begin(
        _ request: SubscriptionRequest, with messages: [RoomMessage], through seq: Int, isSnapshot: Bool
    ) {
        given(seq, to: request.connection)
        request.feed.tell(
            .subscribed(
                Subscription(
                    connection: request.connection, room: id, seq: seq, isWhole: seq == confirmed.seq,
                    isCatchUp: request.isCatchUp, leftOutFrom: request.leftOutFrom, isSnapshot: isSnapshot,
                    messages: messages)))
    }

    private func snapshotMessage(of state: EncodedState, for request: SubscriptionRequest) -> RoomMessage {
        let seq = state.shared.seq
        let (head, tail) = ServerMessage.snapshotParts(
            re: request.id, room: id, epoch: epoch, seq: seq, keyed: keyed(shownTo: request),
            time: dependencies.clock.now, you: YouJSON.encode(state.room, request.session), presence: presence.told(),
            deck: deck.told(to: request.connection),
            collapsed: request.leftOutFrom.flatMap { $0 <= seq ? $0...seq : nil })
        return RoomMessage(head: head, state: state.shared, tail: tail)
    }

    /// The count of keyed commands in an answer; nil while the log is out of reach, because it may have more of them.
    ///
    /// Where the client has not asked, the count may be older than the message.
    private func keyed(shownTo request: SubscriptionRequest) -> Int? {
        request.isVerified || request.isCatchUp ? writer.version.keyed : nil
    }

    // MARK: Looking

    /// Calls `done`, on the room's loop, with the room as `session` sees it, at a durable position that is not before
    /// the present one.
    package func look(
        for session: SessionID, _ done: @escaping @Sendable (Result<RoomView, RoomFailure>) -> Void
    ) {
        lastUse = loop.now
        let isVerified = writer.condition == .current
        withState(compressed: false) { room, state in
            guard !room.isForgotten else { return done(.failure(.noSuchRoom)) }
            if let refusal = room.refusal(of: session) { return done(.failure(.refused(refusal))) }
            guard let state else { return done(.failure(.unavailable)) }
            done(
                .success(
                    RoomView(
                        room: room.id, epoch: room.epoch, seq: state.shared.seq,
                        keyed: isVerified ? room.writer.version.keyed : nil, time: room.dependencies.clock.now,
                        state: state.shared, you: YouJSON.encode(state.room, session),
                        presence: room.presence.current)))
        }
    }

    /// The reason for which a session may not look at the room, which is a ban; nil if it may.
    package func refusal(of session: SessionID) -> RoomRefusal? {
        confirmed.refusal(of: session, at: dependencies.clock.now)
    }

    /// The room's epoch and last durable event.
    package var position: Position { Position(epoch: epoch, seq: confirmed.seq) }
}
