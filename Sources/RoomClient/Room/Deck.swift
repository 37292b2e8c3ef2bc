public import Observation
import RoomDomain
import RoomReplica

/// A DJ's own deck: what this device plays, with a connection or without one.
///
/// It begins as a copy of the room's queue and of what is on air. Changes apply here first. With a connection each is
/// sent to the room, one command after the other and the newest only; without one, one command tells the room afterwards
/// what was heard meanwhile. While nothing is on its way, what others change in the room changes the deck too.
///
/// ``Room/takeDeck()`` makes one. The room is led for as long as somebody holds the object and has not ended it.
@MainActor @Observable public final class Deck {
    /// A song on the deck or in its queue.
    public struct Item: Sendable, Hashable, Identifiable {
        /// The track.
        public let track: TrackID
        /// The entry in the room; nil while the room has none for it.
        public internal(set) var entry: EntryID?
        /// What tells two items of one track apart on this device.
        public let id: Int
    }

    /// The song that this device plays.
    public struct Song: Sendable, Hashable {
        /// The song.
        public internal(set) var item: Item
        /// Whether it is paused.
        public internal(set) var isPaused: Bool
        /// When it began, by the server's clock.
        public internal(set) var startedAt: ServerTime
        /// The position in it at ``at``.
        public internal(set) var position: Duration
        /// The instant at which ``position`` holds.
        public internal(set) var at: ServerTime
        /// How much of it was heard until ``at``.
        public internal(set) var heard: Duration

        mutating func advance(to now: ServerTime) {
            if !isPaused, now > at {
                position += now.duration(since: at)
                heard += now.duration(since: at)
            }
            at = max(at, now)
        }
    }

    struct Heard: Sendable, Hashable {
        var song: Song
        var end: HistoryEntry.End
    }

    /// The most songs that one command tells of.
    static let mostHeard = RoomLimits.played

    /// What is played; nil: nothing.
    public private(set) var song: Song?
    /// What comes after it.
    public private(set) var queue: [Item] = []
    /// Why the deck leads the room no more; nil while it does.
    public private(set) var ending: ClientError?
    /// Whether something is not in the room yet.
    public private(set) var isUnsent = false
    /// What was played and is not in the room's log yet, oldest first.
    @ObservationIgnored private(set) var heard: [Heard] = []
    @ObservationIgnored private var sent: (key: String, heard: Int)?
    @ObservationIgnored private var wasRefused = false
    @ObservationIgnored private var lastItem = 0
    /// The room, which does not hold its deck.
    @ObservationIgnored private let room: Room

    init(of room: Room) {
        self.room = room
        adopt()
    }

    // MARK: Playing

    /// Plays an item of the queue: what is played has been skipped then.
    public func play(at index: Int = 0) {
        guard queue.indices.contains(index) else { return }
        change {
            end(.skipped)
            begin(queue.remove(at: index))
        }
    }

    /// Skips to the next item, or to silence.
    public func skip() { next(after: .skipped) }

    /// What is played has come to its end.
    public func finish() { next(after: .ended) }

    /// Pauses.
    public func pause() { change { song?.isPaused = true } }

    /// Goes on.
    public func resume() { change { song?.isPaused = false } }

    /// Goes to a position.
    public func seek(to position: Duration) { change { song?.position = max(.zero, position) } }

    // MARK: The queue

    /// Adds a track to the queue, at its end if no place is given.
    public func enqueue(_ track: TrackID, at index: Int? = nil) {
        change { queue.insert(item(track, entry: nil), at: min(max(0, index ?? queue.count), queue.count)) }
    }

    /// Removes an item of the queue.
    public func remove(at index: Int) {
        guard queue.indices.contains(index) else { return }
        change { queue.remove(at: index) }
    }

    /// Moves an item of the queue to another place.
    public func move(from index: Int, to place: Int) {
        guard queue.indices.contains(index) else { return }
        change {
            let moved = queue.remove(at: index)
            queue.insert(moved, at: min(max(0, place), queue.count))
        }
    }

    /// Leads the room no more; what was changed before is still sent.
    public func end() { ending = ending ?? ClientError(.cancelled, "the deck was ended") }

    // MARK: Inside

    private var now: ServerTime { room.engine.pastServerTime }

    private func change(_ body: () -> Void) {
        guard ending == nil else { return }
        song?.advance(to: now)
        body()
        isUnsent = true
        send()
    }

    private func next(after end: HistoryEntry.End) {
        guard song != nil || !queue.isEmpty else { return }
        change {
            self.end(end)
            if !queue.isEmpty { begin(queue.removeFirst()) }
        }
    }

    private func end(_ end: HistoryEntry.End) {
        guard let song else { return }
        heard.append(Heard(song: song, end: end))
        if heard.count > Self.mostHeard { heard.removeFirst(heard.count - Self.mostHeard) }
        self.song = nil
    }

    private func begin(_ item: Item) {
        let now = now
        song = Song(item: item, isPaused: false, startedAt: now, position: .zero, at: now, heard: .zero)
    }

    private func item(_ track: TrackID, entry: EntryID?) -> Item {
        lastItem += 1
        return Item(track: track, entry: entry, id: lastItem)
    }

    /// Sends what is not in the room, if nothing is on its way and there is a connection.
    func send() {
        guard isUnsent, sent == nil, room.phase == .live else { return }
        let (command, told) = DeckCommand(song: song, queue: queue, heard: heard, room: room, now: now).made()
        let key = CommandKey.random().description
        sent = (key, told)
        isUnsent = false
        let reference = room.reference.wire
        room.engine.call { state, now in state.machine?.sync(command, of: reference, key: key, at: now) ?? [] }
    }

    /// What became of a command.
    func answered(_ key: String, _ error: ClientError?) {
        guard let sent, sent.key == key else { return }
        self.sent = nil
        if error == nil {
            heard.removeFirst(min(sent.heard, heard.count))
            // More was heard than fits into one command.
            if !heard.isEmpty, !isUnsent { isUnsent = true }
            wasRefused = false
        } else {
            // The room has changed meanwhile, or nobody knows: it is told once more, without what it may have refused to
            // log. After that it is right.
            heard = []
            isUnsent = isUnsent || !wasRefused
            wasRefused = true
        }
        if isUnsent, ending == nil { send() } else { adopt() }
    }

    /// The role is gone.
    func ended(_ error: ClientError) {
        ending = ending ?? error
        isUnsent = false
    }

    /// The room has changed: so has the deck, unless it knows better.
    func roomHasChanged() {
        if isUnsent { send() } else if sent == nil { adopt() }
    }

    /// Takes the room's queue, and what is on air there.
    private func adopt() {
        guard ending == nil, room.position != nil else { return }
        let known = queue
        var unused = known
        queue = room.queue.map { entry in
            let place = unused.firstIndex { $0.entry == entry.id || ($0.entry == nil && $0.track == entry.track) }
            var item = place.map { unused.remove(at: $0) } ?? self.item(entry.track, entry: entry.id)
            item.entry = entry.id
            return item
        }
        guard let playback = room.playback else {
            song = nil
            return
        }
        var item = song?.item ?? self.item(playback.track, entry: playback.entry)
        if item.track != playback.track || (item.entry != nil && item.entry != playback.entry) {
            item = known.first { $0.entry == playback.entry } ?? self.item(playback.track, entry: playback.entry)
        }
        item.entry = playback.entry
        let isSame = song?.item.id == item.id
        song = Song(
            item: item, isPaused: playback.isPaused, startedAt: playback.startedAt, position: playback.position,
            at: playback.at, heard: isSame ? song?.heard ?? .zero : .zero)
    }
}
