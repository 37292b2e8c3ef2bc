package import RandomTestSupport
package import RoomDomain

/// A DJ's device without a connection, which plays on and remembers what was heard.
///
/// It shares no code with the room. After the room has accepted ``deck``, ``differences(from:)`` tells what the room
/// does not show as the device remembers it.
package struct OfflineDevice: Sendable {
    /// A waiting song; songs that the room has as entries are named by their entry or by their track.
    private struct Waiting: Equatable {
        var item: Deck.Item
        var track: TrackID
    }

    private struct Playing {
        var song: Waiting
        var startedAt: Timestamp
        var positionMs: Int64
        /// The time at which `positionMs` and `heardMs` hold.
        var at: Timestamp
        var heardMs: Int64
        var isPaused: Bool
        /// Whether the room has it on air.
        var isOnAir: Bool
        /// Whether anything but playing has happened to it without the room's knowledge.
        var isTouched = false

        mutating func move(to now: Timestamp) {
            let elapsed = isPaused ? 0 : now.milliseconds - at.milliseconds
            positionMs += elapsed
            heardMs += elapsed
            at = now
        }
    }

    /// A song that was heard, as the room's history must show it.
    private struct Heard {
        var item: Deck.Item
        var startedAt: Timestamp
        var endedAt: Timestamp
        var reason: FinishReason
        var playedMs: Int64
    }

    private var random: SeededRandom
    private let tracks: [TrackID]
    /// Whether the deck tells everything, also what the room can find out by itself.
    private let tellsAll: Bool
    /// The greatest number of an entry that it knew; nil: it does not tell that.
    private let known: EntryID?
    private var now: Timestamp
    private var queue: [Waiting]
    private var playing: Playing?
    private var heard: [Heard] = []

    /// Queue and playback with what was heard, as the device sends them.
    package private(set) var deck = Deck(queue: [], playback: .stopped)

    /// A device that lost its connection at `since`, not before what is on air began, and plays until `end`.
    package init(
        knowing room: RoomState, since: Timestamp, until end: Timestamp, steps: Int, tellsAll: Bool,
        random: SeededRandom
    ) {
        self.random = random
        self.tellsAll = tellsAll
        known = self.random.once(in: 2) ? EntryID(rawValue: room.nextEntry - 1) : nil
        tracks = Array(room.poolOrder.prefix(8))
        now = since
        queue = room.queue.map { Waiting(item: .entry($0.id), track: $0.track) }
        playing = room.onAir.map { onAir in
            Playing(
                song: Waiting(item: .entry(onAir.entry), track: onAir.track), startedAt: onAir.startedAt,
                positionMs: onAir.position(at: since), at: since,
                heardMs: min(onAir.heard(at: since), since.milliseconds - onAir.startedAt.milliseconds),
                isPaused: onAir.isPaused, isOnAir: true)
        }
        for step in 0..<steps {
            let left = end.milliseconds - now.milliseconds
            pass(left > 0 ? Int64.random(in: 0...(2 * left / Int64(steps - step)), using: &self.random) : 0, end)
            act()
        }
        pass(end.milliseconds - now.milliseconds, end)
        deck = makeDeck()
    }

    // MARK: Playing

    private mutating func pass(_ milliseconds: Int64, _ end: Timestamp) {
        now = Timestamp(milliseconds: min(now.milliseconds + max(0, milliseconds), max(now, end).milliseconds))
        playing?.move(to: now)
    }

    private mutating func act() {
        guard playing != nil else { return start() }
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<3: finish(.ended)
        case 3: finish(.skipped)
        case 4: replace()
        case 5:
            playing?.isPaused.toggle()
            playing?.isTouched = true
        case 6:
            playing?.positionMs = Int64.random(in: 0...200_000, using: &random)
            playing?.isTouched = true
        case 7, 8:
            guard let track = tracks.randomElement(using: &random), queue.count < RoomLimits.queue else { return }
            let place = Int.random(in: 0...queue.count, using: &random)
            queue.insert(Waiting(item: .track(track), track: track), at: place)
        case 9: if !queue.isEmpty { queue.remove(at: Int.random(in: 0..<queue.count, using: &random)) }
        case 10:
            guard !queue.isEmpty else { return }
            let moved = queue.remove(at: Int.random(in: 0..<queue.count, using: &random))
            queue.insert(moved, at: Int.random(in: 0...queue.count, using: &random))
        default: break
        }
    }

    private mutating func start() {
        guard !queue.isEmpty else {
            guard let track = tracks.randomElement(using: &random), !random.once(in: 3) else { return }
            return begin(Waiting(item: .track(track), track: track))
        }
        begin(queue.remove(at: random.once(in: 4) ? Int.random(in: 0..<queue.count, using: &random) : 0))
    }

    private mutating func begin(_ song: Waiting) {
        playing = Playing(
            song: song, startedAt: now, positionMs: 0, at: now, heardMs: 0, isPaused: false, isOnAir: false)
    }

    private mutating func finish(_ reason: FinishReason) {
        guard let ended = playing else { return }
        heard.append(
            Heard(
                item: ended.song.item, startedAt: ended.startedAt, endedAt: now, reason: reason,
                playedMs: ended.heardMs))
        playing = nil
        if !random.once(in: 6) { start() }
    }

    /// Starts another song in place of the one that is playing.
    ///
    /// The room finds out by itself that its own song ended.
    private mutating func replace() {
        guard let ended = playing, let next = queue.first else { return }
        guard ended.isOnAir, !ended.isTouched, !tellsAll, next.item != .track(ended.song.track) else {
            return finish(.skipped)
        }
        heard.append(
            Heard(
                item: ended.song.item, startedAt: ended.startedAt, endedAt: now, reason: .replaced,
                playedMs: ended.heardMs))
        begin(queue.removeFirst())
    }

    // MARK: Telling

    private mutating func makeDeck() -> Deck {
        let played = heard.filter { $0.reason != .replaced }.map { heard in
            let lasted = heard.endedAt.milliseconds - heard.startedAt.milliseconds
            return Deck.Played(
                item: heard.item, startedAt: heard.startedAt, playedMs: heard.playedMs, reason: heard.reason,
                endedAt: lasted != heard.playedMs || random.once(in: 2) ? heard.endedAt : nil)
        }
        let waiting = queue.map(\.item)
        guard let playing else { return Deck(played: played, queue: waiting, playback: .stopped, known: known) }
        let tells = tellsAll || !playing.isOnAir || playing.isTouched
        return Deck(
            played: played, queue: waiting,
            playback: .onAir(
                playing.song.item, isPaused: playing.isPaused, positionMs: playing.positionMs, at: playing.at,
                startedAt: playing.isOnAir && random.once(in: 2) ? nil : playing.startedAt,
                playedMs: tells ? playing.heardMs : nil),
            known: known)
    }

    // MARK: Comparing

    /// What a room that has accepted the deck does not show as the device remembers it; empty if it agrees.
    ///
    /// `isAlone` tells that nobody else has put anything on the air since. Otherwise the first song may have been on
    /// the air already.
    package func differences(from room: RoomState, isAlone: Bool = true) -> [String] {
        historyDifferences(from: room, isAlone) + playbackDifferences(from: room, isAlone)
            + queueDifferences(from: room, isAlone)
    }

    private func isStart(_ startedAt: Timestamp, toldAs told: Timestamp, _ isAlone: Bool) -> Bool {
        isAlone ? startedAt == told : startedAt <= told
    }

    private func historyDifferences(from room: RoomState, _ isAlone: Bool) -> [String] {
        var found: [String] = []
        for (place, (line, heard)) in zip(room.history, heard.reversed()).enumerated() {
            let isFirst = place == self.heard.count - 1
            let isSame =
                names(heard.item, line.entry, line.track)
                && isStart(line.startedAt, toldAs: heard.startedAt, isAlone || !isFirst)
                && line.endedAt == heard.endedAt && line.reason == heard.reason && line.playedMs == heard.playedMs
            if !isSame { found.append("the history has \(line), and heard was \(heard)") }
        }
        if room.history.count < min(heard.count, RoomLimits.history) {
            found.append("the history lacks what was heard")
        }
        return found
    }

    private func playbackDifferences(from room: RoomState, _ isAlone: Bool) -> [String] {
        guard let onAir = room.onAir, let playing else {
            return (room.onAir == nil) == (playing == nil) ? [] : ["only one of room and device plays"]
        }
        var found: [String] = []
        if !names(playing.song.item, onAir.entry, onAir.track) { found.append("\(onAir.entry) is on air") }
        if !isStart(onAir.startedAt, toldAs: playing.startedAt, isAlone || !heard.isEmpty) {
            found.append("what is on air began at \(onAir.startedAt)")
        }
        if onAir.isPaused != playing.isPaused { found.append("only one of room and device is paused") }
        let at = max(room.lastEventAt, playing.at)
        let more = playing.isPaused ? 0 : at.milliseconds - playing.at.milliseconds
        if onAir.position(at: at) != playing.positionMs + more { found.append("the position is another") }
        // A small difference of nothing but the time heard is not worth an event.
        let least: Int64 = playing.isOnAir || !isAlone ? 249 : 0
        if abs(onAir.heard(at: at) - playing.heardMs - more) > least {
            found.append("heard for \(onAir.heard(at: at)) ms, not \(playing.heardMs + more)")
        }
        return found
    }

    /// What others have added stays behind what waits on the device, if the device tells what it knew.
    private func queueDifferences(from room: RoomState, _ isAlone: Bool) -> [String] {
        let others = room.queue.dropFirst(queue.count)
        let isSame =
            room.queue.count >= queue.count
            && others.allSatisfy { entry in !isAlone && known.map { $0 < entry.id } ?? false }
            && zip(room.queue, queue).allSatisfy { names($1.item, $0.id, $0.track) }
        return isSame ? [] : ["the queue is \(room.queue.map(\.track)), not \(queue.map(\.track))"]
    }

    private func names(_ item: Deck.Item, _ entry: EntryID, _ track: TrackID) -> Bool {
        switch item {
        case .track(let named): named == track
        case .entry(let named): named == entry
        }
    }
}
