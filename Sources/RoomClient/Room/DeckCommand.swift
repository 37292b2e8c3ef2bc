import RoomDomain

/// The command that makes a room agree with a deck that went on without it.
@MainActor struct DeckCommand {
    /// Two starts of one song that are the same one.
    private static let sameStart = Duration.seconds(10)

    let song: Deck.Song?
    let queue: [Deck.Item]
    let heard: [Deck.Heard]
    let room: Room
    let now: ServerTime

    /// The command, and how many of the songs that were heard are in it or need not be told.
    func made() -> (command: RoomDomain.Deck, told: Int) {
        let onAir = room.playback
        var played: [RoomDomain.Deck.Played] = []
        var free = onAir?.startedAt ?? room.history.first?.endedAt ?? ServerTime(milliseconds: 0)
        // The song that the room has on air is among those that were heard, is the one that is played, or was never
        // heard here.
        let first = onAir.flatMap { onAir in heard.firstIndex { isSame($0.song, onAir) } }
        let untold = heard[(first ?? 0)...].filter { room.track($0.song.item.track) != nil && !isLogged($0.song) }
        let plays = onAir.map { onAir in song.map { isSame($0, onAir) } ?? false } ?? false
        if let onAir, first == nil, !plays, !untold.isEmpty {
            played.append(
                .init(
                    item: .entry(onAir.entry.domain), startedAt: free.domain, playedMs: 0, reason: .skipped,
                    endedAt: free.domain))
        }
        for one in plays && first == nil ? [] : untold {
            let isOnAir = onAir.map { isSame(one.song, $0) } ?? false
            let start = isOnAir ? free : min(max(free, one.song.startedAt), now)
            let end = min(max(start, one.song.at), now)
            let most = end.duration(since: start)
            free = end
            let item = isOnAir ? onAir.map { RoomDomain.Deck.Item.entry($0.entry.domain) } : nil
            played.append(
                .init(
                    item: item ?? named(one.song.item),
                    startedAt: start.domain, playedMs: min(one.song.heard, most).wholeMilliseconds,
                    reason: one.end == .skipped ? .skipped : .ended, endedAt: end.domain))
        }
        let waiting = queue.filter { room.track($0.track) != nil }.prefix(RoomLimits.queue).map { named($0) }
        let known = room.queue.map(\.id.rawValue).reduce(onAir?.entry.rawValue ?? 0, max)
        let deck = RoomDomain.Deck(
            played: played, queue: Array(waiting), playback: playback(plays: plays && played.isEmpty, free: free),
            known: RoomDomain.EntryID(rawValue: max(0, known)))
        return (deck, heard.count)
    }

    private func playback(plays: Bool, free: ServerTime) -> RoomDomain.Deck.Playback {
        guard let song, room.track(song.item.track) != nil else { return .stopped }
        let start = plays ? free : min(max(free, song.startedAt), now)
        let at = min(max(start, song.at), now)
        let item = plays ? room.playback.map { .entry($0.entry.domain) } ?? named(song.item) : named(song.item)
        let position = min(max(.zero, song.position), .milliseconds(RoomLimits.durationMs.upperBound))
        return .onAir(
            item, isPaused: song.isPaused, positionMs: position.wholeMilliseconds, at: at.domain,
            startedAt: start.domain, playedMs: min(song.heard, at.duration(since: start)).wholeMilliseconds)
    }

    /// An entry that waits in the room by its number, any other song by its track.
    private func named(_ item: Deck.Item) -> RoomDomain.Deck.Item {
        if let entry = item.entry, room.queue.contains(where: { $0.id == entry }) { return .entry(entry.domain) }
        return .track(item.track.domain)
    }

    private func isSame(_ song: Deck.Song, _ onAir: Playback) -> Bool {
        if let entry = song.item.entry { return entry == onAir.entry }
        let apart = song.startedAt.duration(since: onAir.startedAt)
        return song.item.track == onAir.track && max(apart, .zero - apart) < Self.sameStart
    }

    private func isLogged(_ song: Deck.Song) -> Bool {
        room.history.contains { entry in
            if let known = song.item.entry { return known == entry.id }
            let apart = song.startedAt.duration(since: entry.startedAt)
            return song.item.track == entry.track && max(apart, .zero - apart) < .seconds(1)
        }
    }
}
