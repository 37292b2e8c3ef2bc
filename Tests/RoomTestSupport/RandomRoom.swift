import RandomTestSupport
package import RoomDomain
import RoomWire

/// A broken rule of a room, with the place where it was found.
package struct BrokenRoom: Error, CustomStringConvertible {
    package var description: String
}

/// A room that many people use at random, checked as a whole after every event.
package struct RandomRoom {
    /// The results of all commands.
    package struct Tally: Sendable {
        package var events = 0
        package var rooms = 0
        package var refusals = 0
        /// The number of events of each kind, by name.
        package var kinds: [String: Int] = [:]
    }

    /// After this many events, and at the end, all events are folded anew from the first, and encoded.
    private static let eventsBetweenReplays = 250

    /// Small enough to be reached now and then.
    private static let budget = PoolBudget(bytes: 9_000)

    /// The number of events in a room: one room in twenty is used until its history is full, and the others are not,
    /// because checking a large room takes long.
    private static func events(in seed: UInt64) -> Int { seed % 20 == 0 ? 1_000 : 150 }

    private var room: RoomState
    private var input: RandomInput
    private var log: [RecordedEvent] = []
    private var numbers = GivenNumbers()
    private var tally = Tally()

    /// Plays one room after the other until enough events have happened; throws at the first broken room.
    package static func play(events: Int, seed: UInt64) throws -> Tally {
        var all = Tally()
        while all.events < events {
            let seed = seed &+ UInt64(all.rooms)
            do {
                let tally = try play(one: seed, atMost: min(Self.events(in: seed), events - all.events))
                all.events += tally.events
                all.rooms += 1
                all.refusals += tally.refusals
                all.kinds.merge(tally.kinds, uniquingKeysWith: +)
            } catch {
                throw BrokenRoom(description: "seed \(seed): \(error)")
            }
        }
        return all
    }

    /// The events of a room until it is closed or has about this many.
    package static func history(events: Int, seed: UInt64) throws -> [RecordedEvent] {
        var game = try RandomRoom(seed: seed)
        while game.log.count < events, game.room.isOpen { try game.step() }
        return game.log
    }

    private static func play(one seed: UInt64, atMost events: Int) throws -> Tally {
        var game = try RandomRoom(seed: seed)
        while game.log.count < events, game.room.isOpen { try game.step() }
        try game.checkReplay()
        return game.tally
    }

    private init(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let id = RoomID(.makeV7(at: Timestamp(milliseconds: 1), random: (random.next(), random.next())))
        self.input = RandomInput(random: random)
        self.room = RoomState(id: id)
        guard case .session(let founder, let name) = RandomInput.sessions[0] else { return }
        let founding = RoomFounding(
            id: id, code: .zero, name: "Kitchen", location: nil, visibility: .public, settings: SettingsUpdate(),
            founder: founder, founderName: name)
        try self.record(try RoomState.found(founding), at: Timestamp(milliseconds: 1_000_000))
    }

    private mutating func step() throws {
        let command = self.input.command(for: self.room)
        let actor = self.input.actor(for: command, in: self.room)
        let now = self.input.instant(after: self.room.lastEventAt)
        let online = self.input.online(in: self.room)
        guard let events = try? self.room.decide(command, by: actor, at: now, online: online, within: Self.budget)
        else {
            self.tally.refusals += 1
            return
        }
        try Rules.check(command, by: actor, in: self.room, at: now)
        try self.record(events, at: now)
        if !events.isEmpty, self.room.isVotedOut(online: online), command != .countSkipVotes {
            // Only a vote, a departure and the server's own count depend on who is online.
            guard case .voteSkip = command else { return }
            throw BrokenRoom(description: "enough members want skipped what is on air after \(command)")
        }
    }

    private mutating func record(_ events: [RoomEvent], at now: Timestamp) throws {
        for (index, recorded) in self.room.recorded(events, at: now).enumerated() {
            try Rules.check(recorded.event, in: self.room)
            self.room.evolve(recorded)
            self.log.append(recorded)
            guard self.room.seq == self.log.count, recorded.seq == self.log.count else {
                throw BrokenRoom(description: "\(recorded) as number \(self.log.count)")
            }
            let isLast = index == events.count - 1
            var wrong = self.room.invariantViolations(atCommandBoundary: isLast)
            // A measured length is not refused, although it may take more bytes.
            if case .tracksAdded = recorded.event, self.room.poolCharge > Self.budget.bytes {
                wrong.append("the pool holds more than it may")
            }
            if !self.numbers.areNew(in: recorded.event) { wrong.append("a number is given a second time") }
            if !Self.isInOrder(self.room.requestOrder(), of: self.room) { wrong.append("requests are out of order") }
            guard wrong.isEmpty else { throw BrokenRoom(description: "\(wrong) after \(recorded)") }
            self.tally.events += 1
            self.tally.kinds[recorded.event.kind.rawValue, default: 0] += 1
            if self.log.count % Self.eventsBetweenReplays == 0 { try self.checkReplay() }
        }
    }

    /// Whether these are exactly the tracks with votes: most votes first, then the earliest request.
    private static func isInOrder(_ requests: [TrackID], of room: RoomState) -> Bool {
        let tracks = requests.compactMap { room.tracks[$0] }
        let isSorted = zip(tracks, tracks.dropFirst()).allSatisfy { one, next in
            (next.votes, one.requestedSeq ?? 0) < (one.votes, next.requestedSeq ?? 0)
        }
        return isSorted && tracks.count == requests.count && tracks.allSatisfy { $0.votes > 0 }
            && tracks.count == room.tracks.values.count { $0.votes > 0 }
    }

    /// Checks that the stored log and the stored state restore the room.
    private func checkReplay() throws {
        var copy = RoomState(id: self.room.id)
        for recorded in self.log {
            let again = try EventJSON.decodeLog(
                type: recorded.event.kind.rawValue, seq: recorded.seq, at: recorded.at.milliseconds,
                payload: EventJSON.encodeLog(recorded.event))
            guard again == recorded else { throw BrokenRoom(description: "\(recorded), stored: \(again)") }
            copy.evolve(again)
        }
        guard copy == self.room else { throw BrokenRoom(description: "\(self.room), from its log: \(copy)") }
        let stored = try StoredStateJSON.decode(StoredStateJSON.encode(self.room))
        guard stored == self.room else { throw BrokenRoom(description: "\(self.room), stored: \(stored)") }
        let shown = StateJSON.encode(self.room)
        guard StateJSON.encode(try StateJSON.decode(shown)) == shown else {
            throw BrokenRoom(description: "\(self.room), as clients read it")
        }
    }
}

/// The numbers that a room has given out.
private struct GivenNumbers {
    private var members: Set<MemberID> = []
    private var tracks: Set<TrackID> = []
    private var entries: Set<EntryID> = []

    /// Records the numbers that an event gives out; false if one was given out before.
    mutating func areNew(in event: RoomEvent) -> Bool {
        switch event {
        case .memberJoined(let member, _, _, _): return self.members.insert(member).inserted
        case .entryEnqueued(let entry, _, _, _, _): return self.entries.insert(entry).inserted
        case .tracksAdded(let added, _): return added.allSatisfy { self.tracks.insert($0.id).inserted }
        default: return true
        }
    }
}
