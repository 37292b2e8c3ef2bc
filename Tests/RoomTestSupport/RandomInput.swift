import FoundationEssentials
import GeoSearch
package import RandomTestSupport
package import RoomDomain

/// Random commands, mostly about things in the room, some of them nonsense.
package struct RandomInput {
    /// All people of the test; the first one makes the room.
    package static let sessions: [Actor] =
        ["Ana", "Bob", "Cyd", "Dan", "Eve", "S6", "S7", "S8", "S9"].enumerated().map { number, name in
            let random = (UInt64(0), UInt64(number + 1))
            return .session(SessionID(UUID.makeV7(at: Timestamp(milliseconds: 1), random: random)), name: name)
        }
    private static let ana = sessions[0]
    private static let texts = [
        "Ana", " b ", "Été", "E\u{301}te\u{301}", "zoo", "Zoo", "İ", "ß", "東京", "", " ", "a\u{0}", "a\u{2028}",
        String(repeating: "x", count: 500),
    ]

    package var random: SeededRandom

    package init(random: SeededRandom) { self.random = random }

    /// Often the owner, who may do most, or another member; for a join anybody, and to take a vote to skip back who gave
    /// it.
    package mutating func actor(for command: RoomCommand, in room: RoomState) -> Actor {
        if case .join = command { return random.pick(Self.sessions, or: Self.ana) }
        if case .unvoteSkip = command, let voter = room.onAir?.skipVoters.min(), let member = room.members[voter] {
            return .session(member.session, name: member.name)
        }
        let present = room.members.values.sorted { $0.id < $1.id }
        let owners = present.filter { $0.role == .owner }
        if let member = (random.once(in: 3) ? owners : present).randomElement(using: &random), !random.once(in: 4) {
            return .session(member.session, name: member.name)
        }
        return random.once(in: 10) ? .server : random.pick(Self.sessions, or: Self.ana)
    }

    /// The next instant; now and then the clock goes back, or jumps ahead.
    package mutating func instant(after last: Timestamp) -> Timestamp {
        let step: Int64 =
            switch Int.random(in: 0..<10, using: &random) {
            case 0: -5_000
            case 1: 0
            case 2: 86_400_000
            default: Int64.random(in: 0..<300_000, using: &random)
            }
        return Timestamp(milliseconds: last.milliseconds + step)
    }

    package mutating func command(for room: RoomState) -> RoomCommand {
        switch Int.random(in: 0..<72, using: &random) {
        case 0..<6: .join(name: random.once(in: 3) ? text() : nil)
        case 6: random.once(in: 3) ? .leave : .skip
        case 7: .rename(name: text())
        case 8: .updateRoom(update())
        case 9: random.once(in: 9) ? .closeRoom(forget: random.once(in: 2), note: note()) : .pause
        case 10..<13: .setRole(member: member(room), role: random.pick(Role.allCases, or: .dj), note: note())
        case 13:
            random.once(in: 2)
                ? .transferOwnership(member: member(room), note: note())
                : .replaceOwner(room.owner ?? member(room))
        case 14 where random.once(in: 2):
            .kick(
                members: (0..<(random.once(in: 6) ? Int.random(in: 0..<4, using: &random) : 1)).map { _ in
                    member(room)
                },
                ban: random.once(in: 2), durationMs: durationMs(), note: note())
        case 14: .rename(name: text())
        case 15: .unban(member: member(room), note: note())
        case 16: .unban(member: random.pick(room.bans.values.map(\.member).sorted(), or: 1))
        case 17..<21: .addTracks((0..<Int.random(in: 0..<20, using: &random)).map { _ in info() })
        case 21..<23: .removeTracks((0..<Int.random(in: 0..<3, using: &random)).map { _ in track(room) })
        case 23..<28:
            .setWaveform(
                track: track(room),
                waveform: Waveform.samples[Int.random(in: 0..<Waveform.samples.count, using: &random)])
        case 28..<33: .vote(track: track(room))
        case 33..<37: .unvote(track: track(room))
        case 37..<43: .enqueue(track: track(room), index: random.once(in: 2) ? index(room) : nil)
        case 43: .dequeue(entry: entry(room))
        case 44..<47: .move(entry: entry(room), index: index(room))
        case 47..<50: .play(entry: random.once(in: 2) ? entry(room) : nil)
        case 50: .pause(entry: maybeEntry(room))
        case 51: .resume(entry: maybeEntry(room))
        case 52..<54: .seek(positionMs: position(), entry: maybeEntry(room))
        case 54: .skip(entry: maybeEntry(room))
        case 55..<59: .finish(entry: entry(room), isMissing: random.once(in: 4))
        case 59..<63: .voteSkip(entry: entry(room))
        case 63: .countSkipVotes
        case 64: .syncDeck(deck(room))
        case 65..<67: .unvoteSkip(entry: entry(room))
        case 67..<69: .setDuration(track: track(room), durationMs: position())
        case 69..<71: .setMissing((0..<Int.random(in: 0..<6, using: &random)).map { _ in track(room) })
        default: endMembership()
        }
    }

    private mutating func endMembership() -> RoomCommand {
        guard case .session(let session, _) = random.pick(Self.sessions, or: Self.ana) else { return .leave }
        return .endMembership(session: session, reason: random.pick(LeaveReason.allCases, or: .expired))
    }

    /// Some of the members of a room, or nobody.
    package mutating func online(in room: RoomState) -> Set<MemberID> {
        Set(room.members.keys.sorted().filter { _ in random.once(in: 2) })
    }

    private mutating func deck(_ room: RoomState) -> Deck {
        if random.once(in: 2) { return offline(room) }
        let queue = (0..<Int.random(in: 0..<8, using: &random)).map { _ in item(room) }
        let heard = random.once(in: 2) ? 0 : Int.random(in: 0..<4, using: &random)
        let played = (0..<heard).map { _ in self.played(room) }
        guard !random.once(in: 4) else { return Deck(played: played, queue: queue, playback: .stopped) }
        return Deck(
            played: played, queue: queue,
            playback: .onAir(
                item(room), isPaused: random.once(in: 2), positionMs: position(), at: time(room),
                startedAt: random.once(in: 2) ? nil : time(room), playedMs: random.once(in: 2) ? nil : position()))
    }

    private mutating func played(_ room: RoomState) -> Deck.Played {
        Deck.Played(
            item: item(room), startedAt: time(room), playedMs: random.once(in: 2) ? 0 : position(),
            reason: random.pick(FinishReason.allCases, or: .ended), endedAt: random.once(in: 2) ? nil : time(room))
    }

    /// A time near the room's; now and then nonsense.
    private mutating func time(_ room: RoomState) -> Timestamp {
        if random.once(in: 20) { return Timestamp(milliseconds: random.pick([.min, -1, 0, .max], or: 0)) }
        return Timestamp(
            milliseconds: room.lastEventAt.milliseconds &- Int64.random(in: -9_000...9_000, using: &random))
    }

    /// The deck of a device that plays on without the room.
    private mutating func offline(_ room: RoomState) -> Deck {
        let end = room.lastEventAt
        let free = room.onAir?.startedAt ?? room.history.first?.endedAt ?? room.createdAt
        let since = Timestamp(milliseconds: Int64.random(in: free.milliseconds...end.milliseconds, using: &random))
        let device = OfflineDevice(
            knowing: room, since: since, until: end, steps: Int.random(in: 0..<12, using: &random),
            tellsAll: random.once(in: 2), random: SeededRandom(seed: random.next()))
        return device.deck
    }

    private mutating func item(_ room: RoomState) -> Deck.Item {
        random.once(in: 2) ? .track(track(room)) : .entry(entry(room))
    }

    private mutating func note() -> String? { random.once(in: 3) ? text() : nil }

    private mutating func durationMs() -> Int64? {
        random.once(in: 2) ? nil : random.pick([0, 1, 200_000, 31_536_000_000, .max], or: 1)
    }

    private mutating func text() -> String { random.pick(Self.texts, or: "") }

    private mutating func number(below next: Int) -> Int {
        if random.once(in: 30) { return random.pick([0, -1, .max, .min, next], or: 0) }
        return Int.random(in: 1...max(1, next), using: &random)
    }

    private mutating func member(_ room: RoomState) -> MemberID {
        if random.once(in: 3) { return MemberID(rawValue: number(below: room.nextMember)) }
        return random.pick(room.members.keys.sorted(), or: 1)
    }

    private mutating func track(_ room: RoomState) -> TrackID {
        if random.once(in: 20) { return TrackID(rawValue: number(below: room.nextTrack)) }
        return random.pick(Array(room.poolOrder.prefix(8)), or: 1)
    }

    private mutating func entry(_ room: RoomState) -> EntryID {
        if let onAir = room.onAir, random.once(in: 3) { return onAir.entry }
        if random.once(in: 4) { return EntryID(rawValue: number(below: room.nextEntry)) }
        return random.pick(room.queue.map(\.id), or: 1)
    }

    private mutating func maybeEntry(_ room: RoomState) -> EntryID? { random.once(in: 2) ? nil : entry(room) }

    private mutating func index(_ room: RoomState) -> Int {
        if random.once(in: 10) { return random.pick([-1, .max, .min, room.queue.count + 1], or: 0) }
        return Int.random(in: 0...room.queue.count, using: &random)
    }

    private mutating func position() -> Int64 {
        if random.once(in: 5) { return random.pick([-1, .max, .min, 604_800_001], or: 0) }
        return Int64.random(in: 0...400_000, using: &random)
    }

    private mutating func info() -> TrackInfo {
        let title =
            random.once(in: 100)
            ? text() : "\(random.pick(["Été", "zoo", "Zoo", "İ", "東京"], or: "a")) \(random.next() % 50)"
        return TrackInfo(
            source: "shelf", sourceID: "1", title: title, artist: random.once(in: 2) ? "Artist" : nil,
            durationMs: random.once(in: 2) ? Int64.random(in: 1...300_000, using: &random) : nil)
    }

    private mutating func update() -> RoomUpdate {
        var update = RoomUpdate()
        if random.once(in: 2) { update.name = text() }
        if random.once(in: 2) { update.location = Coordinate(latitude: 1, longitude: Double(random.next() % 3)) }
        update.clearLocation = random.once(in: 3)
        if random.once(in: 2) { update.visibility = random.pick(Visibility.allCases, or: .public) }
        if random.once(in: 3) { update.settings.skipRatio = random.pick([0, 1, 0.3, -1, .nan], or: 0) }
        if random.once(in: 4) { update.settings.repeatAfterPlays = random.pick([0, 1, 2, 5], or: 0) }
        if random.once(in: 4) { update.settings.maxWaitingPerMember = random.pick([0, 1, 3], or: 0) }
        if random.once(in: 4) { update.settings.guestsMayAdd = random.once(in: 2) }
        if random.once(in: 6) { update.settings.queueLocked = random.once(in: 2) }
        if random.once(in: 4) { update.settings.slowModeMs = random.pick([0, 1, 60_000, -1, .max], or: 0) }
        if random.once(in: 4) { update.settings.ownerAwayMs = random.pick([0, 1, .min, .max], or: 0) }
        update.note = note()
        if random.once(in: 4) { update.settings.queueMode = random.pick(QueueMode.allCases, or: .dj) }
        if random.once(in: 4) { update.settings.countedAcrossRooms = random.once(in: 2) }
        return update
    }
}
