import RoomDomain
import RoomReplica
import RoomWire

/// A device that plays what the room had on air when it took over, as far as conversations need it.
struct MachineDeck {
    private var queue: [Deck.Item]
    private var song: (item: Deck.Item, isPaused: Bool, positionMs: Int64, at: Timestamp)?
    private let known: EntryID

    init(_ room: Replica, at now: Timestamp) {
        queue = room.queue.map { .entry($0.id) }
        song = room.playback.map { (.entry($0.entry), $0.isPaused, $0.positionMs, $0.at) }
        known = EntryID(rawValue: room.queue.map(\.id.rawValue).reduce(room.playback?.entry.rawValue ?? 0, max))
    }

    mutating func act(_ command: RoomCommand, at now: Timestamp) {
        if var song {
            if !song.isPaused { song.positionMs += max(0, now.milliseconds - song.at.milliseconds) }
            song.at = max(song.at, now)
            self.song = song
        }
        if case .pause = command { song?.isPaused = true }
        if case .seek(let positionMs, _) = command { song?.positionMs = positionMs }
        if case .enqueue(let track, let index) = command { queue.insert(.track(track), at: index ?? queue.count) }
    }

    var command: Deck {
        let playback = song.map {
            Deck.Playback.onAir($0.item, isPaused: $0.isPaused, positionMs: $0.positionMs, at: $0.at)
        }
        return Deck(queue: queue, playback: playback ?? .stopped, known: known)
    }
}
