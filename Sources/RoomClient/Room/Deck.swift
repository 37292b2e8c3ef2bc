public import Observation
import RoomDomain
import RoomReplica

/// A DJ's own deck: what this device plays, with a connection or without one.
///
/// It begins as a copy of the room's queue and of what is on air. Changes apply here first. With a connection each is
/// sent to the room, one command after the other and the newest only; without one, one command tells the room afterwards
/// what was heard meanwhile. While nothing is on its way, what others change in the room changes the deck too.
///
/// With a connection the room decides what follows a song: where the queue is empty, ``song`` is nil until it has
/// answered. Without one the deck goes on with its queue, and then with the first request where the room would choose
/// among these.
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

    /// A command without an answer.
    private struct Sent {
        var key: String
        /// How many of the songs that were heard it tells of.
        var heard: Int
        /// Whether it has the whole deck; else it only ends the song on air.
        var isWhole: Bool
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
    @ObservationIgnored private var sent: Sent?
    /// The position at which the room shows what was answered last.
    @ObservationIgnored private var awaited: (epoch: String?, sequence: Int)?
    /// The room chooses what follows: nothing is played until it has answered.
    @ObservationIgnored private var isChoosing = false
    @ObservationIgnored private var wasRefused = false
    @ObservationIgnored private var lacking: Set<TrackID>?
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
    public func pause() { changeSong { $0.isPaused = true } }

    /// Goes on.
    public func resume() { changeSong { $0.isPaused = false } }

    /// Goes to a position.
    public func seek(to position: Duration) { changeSong { $0.position = max(.zero, position) } }

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

    // MARK: What the device reports

    /// Tells the room which songs this device lacks or cannot play: all of them, after ``Room/takeDeck()`` and whenever
    /// that changes.
    ///
    /// Everybody sees it as ``Track/isMissing``. The room does not choose these songs by itself, and they are passed over
    /// in the queue.
    public func setMissing(_ tracks: Set<TrackID>) {
        guard ending == nil, tracks != lacking else { return }
        lacking = tracks
        report(.setMissing(tracks))
    }

    /// Tells the room how long a song is, as this device has measured it.
    public func setDuration(_ duration: Duration, of track: TrackID) {
        guard ending == nil, room.track(track)?.duration != duration else { return }
        report(.setDuration(duration, of: track))
    }

    private func report(_ command: Command) {
        _ = room.engine.post(command, to: room.reference.wire, key: .random(), isKept: false)
    }

    /// Leads the room no more; what was changed before is still sent.
    public func end() { ending = ending ?? ClientError(.cancelled, "the deck was ended") }

    // MARK: Inside

    /// A time that is past for the server: as near to the present as is known, and not before what the room has told.
    ///
    /// On a slow line, the present may be known to a second only.
    private var now: ServerTime {
        let told = [room.createdAt, room.playback?.startedAt, room.history.first?.endedAt].compactMap(\.self)
        return told.reduce(room.engine.pastServerTime, max)
    }

    private func change(_ body: () -> Void) {
        guard ending == nil else { return }
        song?.advance(to: now)
        body()
        isUnsent = true
        send()
    }

    private func changeSong(_ body: (inout Song) -> Void) {
        guard song != nil else { return }
        change {
            guard var changed = song else { return }
            body(&changed)
            song = changed
        }
    }

    private func next(after end: HistoryEntry.End) {
        guard ending == nil, song != nil || !queue.isEmpty else { return }
        guard let entry = sharedEntry else {
            return change {
                self.end(end)
                if let item = nextWaiting() ?? request() { begin(item) }
            }
        }
        song?.advance(to: now)
        self.end(end)
        if let item = nextWaiting() { begin(item) } else { isChoosing = true }
        let command: RoomCommand = end == .skipped ? .skip(entry: entry.domain) : .finish(entry: entry.domain)
        tell(command, heard: heard.count, isWhole: false)
    }

    /// The entry on air, where the room is heard and knows all that was done here.
    private var sharedEntry: EntryID? {
        guard room.phase == .live, sent == nil, awaited == nil, !isUnsent, heard.isEmpty,
            let entry = song?.item.entry, entry == room.playback?.entry
        else { return nil }
        return entry
    }

    /// Takes the first item from the queue that can be played.
    private func nextWaiting() -> Item? {
        queue.firstIndex { !isLacking($0.track) }.map { queue.remove(at: $0) }
    }

    /// The first request that may be played, where the room would choose among them.
    private func request() -> Item? {
        let settings = room.settings
        guard settings.queueMode != .dj, !settings.queueLocked else { return nil }
        let told = Set(heard.compactMap(\.song.item.entry))
        let played = heard.reversed().map(\.song.item.track)
        let plays = played + room.history.filter { !told.contains($0.id) }.map(\.track)
        let recent = Set(plays.prefix(settings.repeatAfterPlays))
        // Their votes are spent, and still stand in the room.
        let spent = Set(heard.filter { $0.song.item.entry == nil }.map(\.song.item.track))
        let chosen = room.requests.first { track in
            !recent.contains(track.id) && !spent.contains(track.id) && !isLacking(track.id)
        }
        return chosen.map { item($0.id, entry: nil) }
    }

    private func isLacking(_ track: TrackID) -> Bool {
        lacking?.contains(track) ?? room.track(track)?.isMissing ?? false
    }

    private func end(_ end: HistoryEntry.End) {
        guard let song else { return }
        heard.append(Heard(song: song, end: end))
        if heard.count > Self.mostHeard { heard.removeFirst(heard.count - Self.mostHeard) }
        self.song = nil
    }

    private func begin(_ item: Item) {
        isChoosing = false
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
        let (deck, told) = DeckCommand(song: song, queue: queue, heard: heard, room: room, now: now).made()
        isUnsent = false
        tell(.syncDeck(deck), heard: told, isWhole: true)
    }

    private func tell(_ command: RoomCommand, heard told: Int, isWhole: Bool) {
        let key = CommandKey.random().description
        sent = Sent(key: key, heard: told, isWhole: isWhole)
        let reference = room.reference.wire
        room.engine.call { state, now in state.machine?.lead(command, in: reference, key: key, at: now) ?? [] }
    }

    /// What became of a command; where it was carried out, the number of its last event.
    func answered(_ key: String, _ answer: Result<Int, ClientError>) {
        guard let sent, sent.key == key else { return }
        self.sent = nil
        switch answer {
        case .success(let sequence):
            heard.removeFirst(min(sent.heard, heard.count))
            // More was heard than fits into one command.
            if !heard.isEmpty { isUnsent = true }
            wasRefused = false
            awaited = (room.position?.epoch, sequence)
        case .failure where sent.isWhole:
            // The room has changed meanwhile, or nobody knows: it is told once more, without what it may have refused to
            // log. After that it is right.
            heard = []
            isUnsent = isUnsent || !wasRefused
            wasRefused = true
            // What another DJ has ended meanwhile is not put on air again.
            if let entry = song?.item.entry, room.history.contains(where: { $0.id == entry }) {
                adoptSong(known: queue)
            }
        case .failure: goOn()
        }
        roomHasChanged()
    }

    /// The room has changed, or can be reached or not any more.
    func roomHasChanged() {
        switch room.phase {
        case .live: if sent == nil { settle() }
        case .offline: if sent?.isWhole == false || awaited != nil { goOn() }
        case .connecting, .catchingUp, .ended: break
        }
    }

    /// The deck is as the room, unless it knows better.
    private func settle() {
        if let awaited {
            guard let position = room.position else { return }
            guard position.epoch != awaited.epoch || position.sequence >= awaited.sequence else { return }
            self.awaited = nil
        }
        if isChoosing, ending == nil { adoptSong() }
        if isUnsent { send() } else { adopt() }
    }

    /// Nobody knows what the room makes of the end of a song: the deck goes on, and tells the room later.
    private func goOn() {
        guard ending == nil else { return }
        awaited = nil
        isUnsent = true
        if isChoosing, let item = request() { begin(item) }
        isChoosing = false
    }

    /// The role is gone.
    func ended(_ error: ClientError) {
        ending = ending ?? error
        isUnsent = false
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
        adoptSong(known: known)
    }

    private func adoptSong(known: [Item] = []) {
        isChoosing = false
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
