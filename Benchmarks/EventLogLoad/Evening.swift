import EventStorage
import FoundationEssentials
import RoomDomain
import RoomLog
import RoomStatistics
import RoomWire

/// A room in which songs play one after the other and guests vote, decided and folded as in the server.
struct Evening {
    /// The room after its last event.
    private(set) var state: RoomState
    /// The room before its first event.
    let before: RoomState
    private let owner = SessionID(UUID())
    private let guests = (0..<12).map { _ in SessionID(UUID()) }
    private let votesPerSong: Int
    private let step: Int64
    private var now: Int64
    private var votes = 0
    /// The votes that are cast until the song ends.
    private var votesLeft: Int

    /// Makes a room that is founded at `start`, in milliseconds since the Unix epoch; `phase` votes are missing from its
    /// first song.
    init(at start: Int64, songMs: Int64 = 180_000, votesPerSong: Int, phase: Int = 0) {
        before = RoomState(id: RoomID(UUID()))
        state = before
        now = start
        self.votesPerSong = votesPerSong
        step = songMs / Int64(votesPerSong + 1)
        votesLeft = votesPerSong - phase
    }

    /// The events of the next command.
    mutating func next() throws -> [RecordedEvent] {
        if state.seq == 0 { return take(try RoomState.found(founding)) }
        if state.tracks.isEmpty { return try decide(.addTracks(tracks), by: owner) }
        if state.members.count <= guests.count {
            return try decide(.join(name: "Guest"), by: guests[state.members.count - 1])
        }
        if votesLeft > 0, state.onAir != nil {
            votesLeft -= 1
            now += step
            return try vote()
        }
        if state.queue.isEmpty {
            return try decide(.enqueue(track: TrackID(rawValue: votes % 60 + 1), index: nil), by: owner)
        }
        guard let onAir = state.onAir else { return try decide(.play(entry: nil), by: owner) }
        votesLeft = votesPerSong
        now += step
        return try decide(.finish(entry: onAir.entry), by: owner)
    }

    private mutating func vote() throws -> [RecordedEvent] {
        votes += 1
        let guest = guests[votes % guests.count]
        let track = TrackID(rawValue: votes / guests.count * 7 % 60 + 1)
        let has = state.voters[track]?.contains { state.memberOfSession[guest] == $0 } == true
        return try decide(has ? .unvote(track: track) : .vote(track: track), by: guest)
    }

    private var founding: RoomFounding {
        RoomFounding(
            id: state.id, code: RoomCode(random: .random(in: 0 ... .max)), name: "An evening", location: nil,
            visibility: .public, settings: SettingsUpdate(), founder: owner, founderName: "Owner")
    }

    private var tracks: [TrackInfo] {
        (0..<60).map { number in
            TrackInfo(
                source: "catalogue", sourceID: "track-\(number)", title: "Title \(number &* 7_919 % 10_007)",
                artist: "Artist \(number % 50)", durationMs: 180_000)
        }
    }

    private mutating func decide(_ command: RoomCommand, by session: SessionID) throws -> [RecordedEvent] {
        let name = session == owner ? "Owner" : "Guest"
        return take(
            try state.decide(command, by: .session(session, name: name), at: Timestamp(milliseconds: now)))
    }

    private mutating func take(_ events: [RoomEvent]) -> [RecordedEvent] {
        let recorded = state.recorded(events, at: Timestamp(milliseconds: now))
        for event in recorded { state.evolve(event) }
        return recorded
    }
}

/// A store with a log and statistics beside it.
typealias CountingStore = EventStore & StatisticsStore

extension Evening {
    /// The epoch of the log that is written.
    static let epoch = "epoch"
    private static let eventsPerAppend = 400

    /// Appends the room's first events, and counts those up to the event `counted` as a server would have; 0 counts
    /// none.
    mutating func write(to store: any CountingStore, events: Int, counted: Int) async throws {
        let room = state.id
        var (fold, tally, appended, hour) = (before, RoomTally(of: room, in: Self.epoch, after: 0), 0, now / 3_600_000)
        while state.seq < events {
            var new: [RecordedEvent] = []
            while new.count < Self.eventsPerAppend, state.seq < events { new += try next() }
            var stored = new.map { EventJSON.stored($0, in: room) }
            if appended == 0 {
                try await create(room, with: stored.removeFirst(), on: store)
                appended = 1
                if counted > 0 { try await store.beginCounting([room.uuid], version: RoomTally.definitions) }
            }
            let append = StreamAppend(
                stream: room.uuid, expected: StreamVersion(seq: appended, keyed: 0), events: stored,
                directory: DirectoryEntry(of: state))
            guard try await store.append([append]) == [.appended] else { throw Defect("events were not appended") }
            appended = state.seq
            for event in new where event.seq <= counted {
                fold.evolve(event)
                tally.add(event, in: fold)
            }
            guard !tally.isEmpty else { continue }
            let flush = tally.flush(at: Timestamp(milliseconds: now))
            guard try await store.count([flush], at: now) == [.counted] else { throw Defect("a room was not counted") }
            tally = RoomTally(of: room, in: Self.epoch, after: tally.through)
            guard now / 3_600_000 != hour else { continue }
            hour = now / 3_600_000
            try await store.moveMinutes(
                of: [room.uuid], before: RoomTally.firstMinuteKept(at: Timestamp(milliseconds: now)))
        }
    }

    private func create(_ room: RoomID, with first: StoredEvent, on store: any CountingStore) async throws {
        let creation = StreamCreation(
            first: StreamAppend(
                stream: room.uuid, expected: .start, events: [first], directory: DirectoryEntry(of: state)),
            epoch: Self.epoch, creator: owner.uuid, key: nil, fingerprint: 0, at: now, keysSince: 0, ownerLimit: 1)
        guard try await store.create(creation) == .created else { throw Defect("a room was not made") }
    }
}
