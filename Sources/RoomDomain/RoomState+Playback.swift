/// Decides playback.
extension RoomState {
    /// Starts a waiting entry in place of the entry on air: if none is named, the first that the deck has, else the
    /// head of the queue.
    ///
    /// Naming the entry that is on air changes nothing: it goes on playing.
    func play(_ named: EntryID?, by: MemberID?, at now: Timestamp) throws(RoomRefusal) -> [RoomEvent] {
        if let onAir, onAir.entry == named { return resume(by: by, at: now) }
        let next: QueueEntry
        if let named {
            next = queue[try place(of: named)]
        } else {
            guard let first = queue.first(where: { !missing.contains($0.track) }) ?? queue.first else {
                throw .notFound("the queue is empty")
            }
            next = first
        }
        guard isRested(next.track) else { throw .conflict(restRule(of: next.track)) }
        var events: [RoomEvent] = []
        if let onAir { events.append(onAir.finished(.replaced, by: by, at: now)) }
        return events + start(next, by: by, at: now)
    }

    /// The events that put a waiting entry on the air, at its beginning.
    private func start(_ entry: QueueEntry, by: MemberID?, at now: Timestamp) -> [RoomEvent] {
        spentVotes(for: entry.track) + [
            .playbackStarted(entry: entry.id, track: entry.track, positionMs: 0, at: now, by: by)
        ]
    }

    /// Whether an entry is on air; without an entry, whether anything is.
    func isOnAir(_ entry: EntryID?) -> Bool {
        guard let onAir else { return false }
        return entry.map { $0 == onAir.entry } ?? true
    }

    func pause(by: MemberID?, at now: Timestamp) -> [RoomEvent] {
        guard let onAir, !onAir.isPaused else { return [] }
        return [.playbackPaused(positionMs: onAir.position(at: now), at: now, by: by)]
    }

    func resume(by: MemberID?, at now: Timestamp) -> [RoomEvent] {
        guard let onAir, onAir.isPaused else { return [] }
        return [.playbackResumed(positionMs: onAir.positionMs, at: now, by: by)]
    }

    /// The length that a track claims is no bound: the deck knows how long the song really is.
    func seek(
        to positionMs: Int64, _ entry: EntryID?, by: MemberID?, at now: Timestamp
    ) throws(RoomRefusal) -> [RoomEvent] {
        guard RoomLimits.durationMs.contains(positionMs) else {
            throw .badRequest("positionMs must be 0 to \(RoomLimits.durationMs.upperBound)")
        }
        guard isOnAir(entry), let onAir, !(onAir.isPaused && onAir.positionMs == positionMs) else { return [] }
        return [.playbackSeeked(positionMs: positionMs, at: now, by: by)]
    }

    /// Takes the current entry off the air, and starts the next one or stops.
    ///
    /// `isMissing` tells that the reason is a deck that cannot play the entry.
    func finish(
        _ reason: FinishReason, isMissing: Bool = false, by: MemberID?, at now: Timestamp
    ) -> [RoomEvent] {
        guard let onAir else { return [] }
        let finished = onAir.finished(reason, isMissing: isMissing, by: by, at: now)
        return [finished] + folding([finished], at: now).succession(by: by, at: now)
    }

    /// The events that put the next entry on the air, which is free: the first waiting entry that may be played, else
    /// the room's own choice, else none.
    ///
    /// Entries that the deck lacks keep their places. Where they fill the queue, the room chooses nothing.
    private func succession(by: MemberID?, at now: Timestamp) -> [RoomEvent] {
        var events: [RoomEvent] = []
        for next in queue where !missing.contains(next.track) {
            if isRested(next.track) { return events + start(next, by: by, at: now) }
            events.append(.entryRemoved(entry: next.id, by: nil, why: restReason(of: next.track)))
        }
        let isFull = queue.count - events.count >= RoomLimits.queue
        guard !isFull, let choice = choice() else { return events + [.playbackStopped(by: by)] }
        let entry = EntryID(rawValue: nextEntry)
        return events + [
            .entryEnqueued(entry: entry, track: choice.track, index: 0, by: nil, why: choice.why),
            .votesCleared(track: choice.track),
            .playbackStarted(entry: entry, track: choice.track, positionMs: 0, at: now, by: nil),
        ]
    }

    /// Returns the room after `events`.
    func folding(_ events: [RoomEvent], at now: Timestamp) -> RoomState {
        var room = self
        for event in recorded(events, at: now) { room.evolve(event) }
        return room
    }
}

extension OnAir {
    /// The position in the song at `now`, in milliseconds; not bounded by the song's length, which is often unknown.
    package func position(at now: Timestamp) -> Int64 { Self.sum(positionMs, running(until: now)) }

    /// The time for which it has been heard at `now`, without pauses and jumps, in milliseconds.
    package func heard(at now: Timestamp) -> Int64 { Self.sum(heardMs, running(until: now)) }

    /// Milliseconds it has been playing since ``at``: 0 while paused, never negative.
    private func running(until now: Timestamp) -> Int64 {
        guard !isPaused, now > at else { return 0 }
        let (elapsed, overflow) = now.milliseconds.subtractingReportingOverflow(at.milliseconds)
        return overflow ? .max : elapsed
    }

    /// The sum, or the largest number if it overflows: the contents of a log must not be able to stop the process.
    private static func sum(_ some: Int64, _ more: Int64) -> Int64 {
        let (sum, overflow) = some.addingReportingOverflow(more)
        return overflow ? .max : sum
    }

    /// The event that takes the entry off the air now.
    func finished(
        _ reason: FinishReason, isMissing: Bool = false, by: MemberID?, at now: Timestamp
    ) -> RoomEvent {
        .entryFinished(
            entry: entry, track: track, reason: reason, startedAt: startedAt, playedMs: heard(at: now),
            by: by, isMissing: isMissing)
    }
}
