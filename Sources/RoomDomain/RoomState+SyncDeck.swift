/// Decides the events that make queue and playback equal to those of a DJ's device.
extension RoomState {
    func syncDeck(_ deck: Deck, by member: MemberID?, at now: Timestamp) throws(RoomRefusal) -> [RoomEvent] {
        guard deck.queue.count <= RoomLimits.queue else {
            throw .limitReached("a queue has at most \(RoomLimits.queue) entries")
        }
        var sync = DeckSync(room: self, by: member, now: now)
        try sync.require(deck)
        try sync.play(deck.playback, keeping: deck.queue)
        sync.arrange(deck.queue)
        return sync.events
    }
}

/// Computes events that turn one deck into another; each is decided on the room that the earlier ones leave.
private struct DeckSync {
    private(set) var room: RoomState
    private(set) var events: [RoomEvent] = []
    private let by: MemberID?
    private let now: Timestamp

    init(room: RoomState, by: MemberID?, now: Timestamp) {
        self.room = room
        self.by = by
        self.now = now
    }

    private mutating func add(_ event: RoomEvent) {
        events.append(event)
        // The room changes in place: a copy for each event would copy the pool each time.
        for recorded in room.recorded([event], at: now) { room.evolve(recorded) }
    }

    /// Refuses items that do not exist or that are named twice.
    func require(_ deck: Deck) throws(RoomRefusal) {
        var named: Set<EntryID> = []
        var items = deck.queue
        if case .onAir(let item, _, let positionMs, let at) = deck.playback {
            guard RoomLimits.durationMs.contains(positionMs) else {
                throw .badRequest("positionMs must be 0 to \(RoomLimits.durationMs.upperBound)")
            }
            guard at.milliseconds >= 0 else { throw .badRequest("atMs must not be negative") }
            items.append(item)
        }
        for item in items {
            guard case .entry(let entry) = item else { continue }
            guard named.insert(entry).inserted else { throw .badRequest("entry \(entry.rawValue) is named twice") }
        }
        for item in items {
            switch item {
            case .track(let track): try room.existing(track)
            case .entry(let entry): if room.onAir?.entry != entry { _ = try room.place(of: entry) }
            }
        }
        for case .entry(let entry) in deck.queue where entry == room.onAir?.entry {
            throw .conflict("entry \(entry.rawValue) has been on air and does not wait again")
        }
    }

    // MARK: Playback

    mutating func play(_ playback: Deck.Playback, keeping queue: [Deck.Item]) throws(RoomRefusal) {
        guard case .onAir(let item, let isPaused, let positionMs, let at) = playback else {
            guard let onAir = room.onAir else { return }
            add(onAir.finished(.ended, by: by, at: now))
            return add(.playbackStopped(by: by))
        }
        let position = position(positionMs, at: at, isPaused: isPaused)
        if let onAir = room.onAir, isOnAir(item) {
            return adjust(onAir, to: position, isPaused: isPaused)
        }
        let entry = try entry(for: item, keeping: queue)
        if let onAir = room.onAir { add(onAir.finished(.replaced, by: by, at: now)) }
        add(.playbackStarted(entry: entry.id, track: entry.track, positionMs: position, at: now, by: by))
        if isPaused { add(.playbackPaused(positionMs: position, at: now, by: by)) }
    }

    private func isOnAir(_ item: Deck.Item) -> Bool {
        switch item {
        case .track(let track): room.onAir?.track == track
        case .entry(let entry): room.onAir?.entry == entry
        }
    }

    /// The position now of a song that was at `positionMs` at an instant not later than now.
    private func position(_ positionMs: Int64, at instant: Timestamp, isPaused: Bool) -> Int64 {
        guard !isPaused, instant < now else { return positionMs }
        let elapsed = min(now.milliseconds - instant.milliseconds, RoomLimits.durationMs.upperBound)
        return min(positionMs + elapsed, RoomLimits.durationMs.upperBound)
    }

    private mutating func adjust(_ onAir: OnAir, to position: Int64, isPaused: Bool) {
        switch (onAir.isPaused, isPaused) {
        case (false, true): add(.playbackPaused(positionMs: position, at: now, by: by))
        case (true, false): add(.playbackResumed(positionMs: position, at: now, by: by))
        case (true, true), (false, false):
            if onAir.position(at: now) != position { add(.playbackSeeked(positionMs: position, at: now, by: by)) }
        }
    }

    /// The waiting entry that goes on air; a track without a waiting entry is enqueued for it.
    private mutating func entry(for item: Deck.Item, keeping queue: [Deck.Item]) throws(RoomRefusal) -> QueueEntry {
        switch item {
        case .entry(let entry): return room.queue[try room.place(of: entry)]
        case .track(let track):
            let kept = Set(queue.compactMap { if case .entry(let entry) = $0 { entry } else { nil } })
            if let waiting = room.queue.first(where: { $0.track == track && !kept.contains($0.id) }) { return waiting }
            if room.queue.count == RoomLimits.queue, let last = room.queue.last(where: { !kept.contains($0.id) }) {
                add(.entryRemoved(entry: last.id, by: by))
            }
            guard room.queue.count < RoomLimits.queue else {
                throw .limitReached("a queue has at most \(RoomLimits.queue) entries")
            }
            enqueue(track, at: 0)
            return room.queue[0]
        }
    }

    private mutating func enqueue(_ track: TrackID, at index: Int) {
        add(.entryEnqueued(entry: EntryID(rawValue: room.nextEntry), track: track, index: index, by: by))
        if room.voters[track] != nil { add(.votesCleared(track: track)) }
    }

    // MARK: Queue

    /// Removes the entries that the deck does not have, then moves each item to its index, from first to last.
    mutating func arrange(_ items: [Deck.Item]) {
        var spare = room.queue
        spare.removeAll { entry in items.contains(.entry(entry.id)) }
        let wanted: [Deck.Item] = items.map { item in
            guard case .track(let track) = item, let place = spare.firstIndex(where: { $0.track == track })
            else { return item }
            return .entry(spare.remove(at: place).id)
        }
        for entry in spare { add(.entryRemoved(entry: entry.id, by: by)) }
        for (index, item) in wanted.enumerated() {
            switch item {
            case .track(let track): enqueue(track, at: index)
            case .entry(let entry):
                if room.queue[index].id != entry { add(.entryMoved(entry: entry, index: index, by: by)) }
            }
        }
    }
}
