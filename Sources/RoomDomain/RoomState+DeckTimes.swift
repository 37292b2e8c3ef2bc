/// Checks the times that a DJ's device tells.
extension RoomState {
    /// Whether an item of a deck is what is on air.
    func isOnAir(_ item: Deck.Item) -> Bool {
        switch item {
        case .track(let track): onAir?.track == track
        case .entry(let entry): onAir?.entry == entry
        }
    }

    /// Whether the first item that was played is what is on air.
    func endsWhatIsOnAir(_ deck: Deck) -> Bool { deck.played.first.map { isOnAir($0.item) } ?? false }

    /// Whether what is on air stays there: nothing was played since.
    func keepsWhatIsOnAir(_ deck: Deck) -> Bool {
        guard deck.played.isEmpty, case .onAir(let item, _, _, _, _, _) = deck.playback else { return false }
        return isOnAir(item)
    }

    /// Refuses times that cannot be: before what the room knows, in the future, overlapping, or longer than the time
    /// that has passed.
    func requireTimes(of deck: Deck, at now: Timestamp) throws(RoomRefusal) {
        var free = onAir?.startedAt ?? max(createdAt, history.first?.endedAt ?? createdAt)
        for (index, item) in deck.played.enumerated() {
            func wrong(_ rule: String) -> RoomRefusal { .badRequest("played[\(index)].\(rule)") }
            switch item.reason {
            case .ended, .skipped: break
            case .replaced: throw wrong("reason must be ended or skipped")
            }
            guard item.startedAt >= free else {
                throw wrong("startedAtMs must not be before the end of what was heard before")
            }
            guard item.startedAt <= now else { throw wrong("startedAtMs must not be in the future") }
            guard item.playedMs >= 0 else { throw wrong("playedMs must not be negative") }
            guard let end = item.end, end <= now else { throw wrong("endedAtMs must not be in the future") }
            guard end >= item.startedAt else { throw wrong("endedAtMs must not be before startedAtMs") }
            let began = index == 0 && isOnAir(item.item) ? onAir?.startedAt : nil
            guard item.playedMs <= (began ?? item.startedAt).span(to: end) else {
                throw wrong("playedMs must not be longer than the time from its start to its end")
            }
            free = end
        }
        guard case .onAir(_, _, _, let at, let startedAt, let playedMs) = deck.playback else { return }
        if let startedAt {
            guard startedAt >= free else {
                throw .badRequest("playback.startedAtMs must not be before the end of what was heard before")
            }
            guard startedAt <= now else { throw .badRequest("playback.startedAtMs must not be in the future") }
        }
        guard let playedMs else { return }
        guard playedMs >= 0 else { throw .badRequest("playback.playedMs must not be negative") }
        let began = keepsWhatIsOnAir(deck) ? onAir?.startedAt : startedAt
        guard playedMs <= max(0, (began ?? now).span(to: min(at, now))) else {
            throw .badRequest("playback.playedMs must not be longer than the time from its start to atMs")
        }
    }
}

extension Timestamp {
    /// The milliseconds from this instant to another, at most and at least those that an integer can hold.
    func span(to end: Timestamp) -> Int64 {
        let (span, overflow) = end.milliseconds.subtractingReportingOverflow(milliseconds)
        return overflow ? (end < self ? .min : .max) : span
    }
}
