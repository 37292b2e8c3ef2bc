/// Decides the events that make queue and playback equal to those of a DJ's device, and that record what was heard there.
extension RoomState {
    func syncDeck(_ deck: Deck, by member: MemberID?, at now: Timestamp) throws(RoomRefusal) -> [RoomEvent] {
        guard deck.queue.count <= RoomLimits.queue else {
            throw .limitReached("a queue has at most \(RoomLimits.queue) entries")
        }
        guard deck.played.count <= RoomLimits.played else {
            throw .limitReached("played has at most \(RoomLimits.played) items")
        }
        try requirePosition(of: deck)
        try requireTimes(of: deck, at: now)
        try requireItems(of: deck)
        var sync = DeckSync(room: self, deck, by: member, now: now)
        try sync.hear()
        try sync.play()
        sync.arrange()
        return sync.events
    }

    private func requirePosition(of deck: Deck) throws(RoomRefusal) {
        guard case .onAir(_, _, let positionMs, let at, _, _) = deck.playback else { return }
        guard RoomLimits.durationMs.contains(positionMs) else {
            throw .badRequest("positionMs must be 0 to \(RoomLimits.durationMs.upperBound)")
        }
        guard at.milliseconds >= 0 else { throw .badRequest("atMs must not be negative") }
    }

    /// Refuses items that do not exist or that are named twice.
    private func requireItems(of deck: Deck) throws(RoomRefusal) {
        var named: Set<EntryID> = []
        for case .entry(let entry) in deck.items {
            guard named.insert(entry).inserted else { throw .badRequest("entry \(entry.rawValue) is named twice") }
        }
        var later = deck.played.dropFirst().map(\.item)
        if !deck.played.isEmpty, case .onAir(let item, _, _, _, _, _) = deck.playback { later.append(item) }
        for case .entry(let entry) in later where entry == onAir?.entry {
            throw .badRequest("entry \(entry.rawValue) is on air, and was heard before anything else")
        }
        let waiting = Set(queue.map(\.id))
        for item in deck.items {
            switch item {
            case .track(let track): try existing(track)
            case .entry(let entry):
                if onAir?.entry != entry, !waiting.contains(entry) { _ = try place(of: entry) }
            }
        }
        for case .entry(let entry) in deck.queue where entry == onAir?.entry {
            throw .conflict("entry \(entry.rawValue) has been on air and does not wait again")
        }
    }
}

/// Computes events that turn one deck into another; each is decided on the room that the earlier ones leave.
private struct DeckSync {
    private(set) var room: RoomState
    private(set) var events: [RoomEvent] = []
    /// The deck; each of its tracks that a waiting entry stands for is replaced by that entry.
    private let deck: Deck
    /// The entries that the deck names.
    private let kept: Set<EntryID>
    private let by: MemberID?
    private let now: Timestamp

    init(room: RoomState, _ deck: Deck, by: MemberID?, now: Timestamp) {
        var (resolved, kept) = (deck, Set<EntryID>())
        for case .entry(let entry) in deck.items { kept.insert(entry) }
        var spare = Dictionary(
            grouping: room.queue.reversed().filter { !kept.contains($0.id) && !deck.isUnknown($0.id) }, by: \.track)
        func resolve(_ item: inout Deck.Item) {
            guard case .track(let track) = item, let entry = spare[track]?.popLast() else { return }
            kept.insert(entry.id)
            item = .entry(entry.id)
        }
        for index in deck.played.indices where index > 0 || !room.endsWhatIsOnAir(deck) {
            resolve(&resolved.played[index].item)
        }
        if case .onAir(var item, let isPaused, let positionMs, let at, let startedAt, let playedMs) = deck.playback,
            !room.keepsWhatIsOnAir(deck)
        {
            resolve(&item)
            resolved.playback = .onAir(
                item, isPaused: isPaused, positionMs: positionMs, at: at, startedAt: startedAt, playedMs: playedMs)
        }
        for index in deck.queue.indices { resolve(&resolved.queue[index]) }
        self.room = room
        self.deck = resolved
        self.kept = kept
        self.by = by
        self.now = now
    }

    private mutating func add(_ event: RoomEvent) {
        events.append(event)
        // The room changes in place: a copy for each event would copy the pool each time.
        for recorded in room.recorded([event], at: now) { room.evolve(recorded) }
    }

    /// The instant, unless it is now, which is what an event without it means.
    private func unlessNow(_ instant: Timestamp) -> Timestamp? { instant == now ? nil : instant }

    // MARK: What was heard

    /// Puts each item that was played on the air, and takes it off.
    mutating func hear() throws(RoomRefusal) {
        guard let first = deck.played.first else { return }
        var heard = deck.played[...]
        if let onAir = room.onAir {
            if room.endsWhatIsOnAir(deck) {
                heard = heard.dropFirst()
                finish(onAir, first)
            } else {
                replace(onAir, at: first.startedAt)
            }
        }
        for item in heard {
            let entry = try takenEntry(for: item.item)
            spendVotes(for: entry.track)
            add(
                .playbackStarted(
                    entry: entry.id, track: entry.track, positionMs: 0, at: item.startedAt, by: by,
                    startedAt: unlessNow(item.startedAt)))
            if let onAir = room.onAir { finish(onAir, item) }
        }
    }

    private mutating func finish(_ onAir: OnAir, _ played: Deck.Played) {
        add(
            .entryFinished(
                entry: onAir.entry, track: onAir.track, reason: played.reason, startedAt: onAir.startedAt,
                playedMs: played.playedMs, by: by, endedAt: unlessNow(played.end ?? now)))
    }

    /// Ends what is on air at the instant when another song began.
    private mutating func replace(_ onAir: OnAir, at end: Timestamp) {
        // It may have been paused or moved later than that, by somebody who did not hear the device.
        let playedMs = min(onAir.heard(at: end), onAir.startedAt.span(to: end))
        add(
            .entryFinished(
                entry: onAir.entry, track: onAir.track, reason: .replaced, startedAt: onAir.startedAt,
                playedMs: playedMs, by: by, endedAt: unlessNow(end)))
    }

    // MARK: Playback

    /// Makes the room's playback that of the deck.
    mutating func play() throws(RoomRefusal) {
        guard case .onAir(let item, let isPaused, let positionMs, let at, let startedAt, let playedMs) = deck.playback
        else {
            if let onAir = room.onAir { add(onAir.finished(.ended, by: by, at: now)) }
            if !events.isEmpty { add(.playbackStopped(by: by)) }
            return
        }
        let elapsed = isPaused ? 0 : max(0, min(at.span(to: now), RoomLimits.durationMs.upperBound))
        let position = min(positionMs + elapsed, RoomLimits.durationMs.upperBound)
        let began = room.keepsWhatIsOnAir(deck) ? room.onAir?.startedAt : startedAt
        let heard = playedMs.map { isPaused ? $0 : Self.sum($0, max(0, max(at, began ?? now).span(to: now))) }
        if let onAir = room.onAir, room.keepsWhatIsOnAir(deck) {
            return adjust(onAir, to: position, heard: heard, isPaused: isPaused)
        }
        let entry = try takenEntry(for: item)
        if let onAir = room.onAir { replace(onAir, at: startedAt ?? now) }
        spendVotes(for: entry.track)
        add(
            .playbackStarted(
                entry: entry.id, track: entry.track, positionMs: position, at: now, by: by,
                startedAt: startedAt.flatMap(unlessNow), playedMs: heard == 0 ? nil : heard))
        if isPaused { add(.playbackPaused(positionMs: position, at: now, by: by)) }
    }

    private static func sum(_ some: Int64, _ more: Int64) -> Int64 {
        let (sum, overflow) = some.addingReportingOverflow(more)
        return overflow ? .max : sum
    }

    private mutating func adjust(_ onAir: OnAir, to position: Int64, heard: Int64?, isPaused: Bool) {
        let known = onAir.heard(at: now)
        let told = heard == known ? nil : heard
        switch (onAir.isPaused, isPaused) {
        case (false, true): add(.playbackPaused(positionMs: position, at: now, by: by, playedMs: told))
        case (true, false): add(.playbackResumed(positionMs: position, at: now, by: by, playedMs: told))
        case (true, true), (false, false):
            let differs = told.map { abs(Double($0) - Double(known)) >= Self.noticeableMs } ?? false
            guard differs || onAir.position(at: now) != position else { return }
            add(.playbackSeeked(positionMs: position, at: now, by: by, playedMs: told))
        }
    }

    /// The least difference of the time heard that is worth an event of its own, in milliseconds: clocks differ a little.
    private static let noticeableMs: Double = 250

    /// The waiting entry that goes on air; a track without a waiting entry is enqueued for it.
    private mutating func takenEntry(for item: Deck.Item) throws(RoomRefusal) -> QueueEntry {
        switch item {
        case .entry(let entry): return room.queue[try room.place(of: entry)]
        case .track(let track):
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
        spendVotes(for: track)
    }

    private mutating func spendVotes(for track: TrackID) {
        for event in room.spentVotes(for: track) { add(event) }
    }

    // MARK: Queue

    /// Removes the entries that the deck knows and does not have, then moves each item to its index, from first to last.
    ///
    /// Entries that the deck does not know stay behind them, as far as the queue holds them.
    mutating func arrange() {
        let wanted = Set(deck.queue)
        let before = Set(room.queue.map(\.id))
        for entry in room.queue where !wanted.contains(.entry(entry.id)) && !deck.isUnknown(entry.id) {
            add(.entryRemoved(entry: entry.id, by: by))
        }
        for (index, item) in deck.queue.enumerated() {
            switch item {
            case .track(let track):
                if room.queue.count == RoomLimits.queue,
                    let last = room.queue.last(where: { before.contains($0.id) && !kept.contains($0.id) })
                {
                    add(.entryRemoved(entry: last.id, by: by))
                }
                enqueue(track, at: index)
            case .entry(let entry):
                if room.queue[index].id != entry { add(.entryMoved(entry: entry, index: index, by: by)) }
            }
        }
    }
}
