package import EventStorage
package import FoundationEssentials
import GeoSearch
import RandomTestSupport
import RoomDomain
import RoomLog
import RoomTestSupport
import RoomWire

/// Fills a store with rooms in which people do random things, as a server would have written them.
///
/// It writes events by deciding and folding, keys, directory rows, memberships, snapshots, creation keys and sessions.
package struct LogFiller {
    private let store: any EventStore
    private var random: SeededRandom
    private var clock: Int64 = 1_782_000_000_000
    private var people: [SessionRecord] = []

    /// The most events of one append, plus a few if a command causes several.
    private static let eventsPerAppend = 500
    private let eventsPerSnapshot: Int

    /// Makes a filler that writes the same log for the same seed.
    package init(_ store: any EventStore, seed: UInt64, eventsPerSnapshot: Int = 500) {
        self.store = store
        self.eventsPerSnapshot = eventsPerSnapshot
        random = SeededRandom(seed: seed)
    }

    /// Makes a room with `events` events or a few more; returns its id and the actual number.
    ///
    /// At the end it is open, or closed, or closed to be forgotten.
    @discardableResult
    package mutating func makeRoom(
        events: Int, closes: Bool = false, forgets: Bool = false
    ) async throws -> (room: UUID, events: Int) {
        try await makePeople()
        let id = RoomID(UUID.makeV7(at: Timestamp(milliseconds: clock), random: (random.next(), random.next())))
        let owner = people[Int.random(in: 0..<people.count, using: &random)]
        var state = try await found(id, by: owner)
        var commands = RandomCommands(
            random: SeededRandom(seed: random.next()), sessions: people.map { SessionID($0.id) })
        var keyed = 0
        var snapshotSeq = 0
        while state.seq < events {
            var append = StreamAppend(
                stream: id.uuid, expected: StreamVersion(seq: state.seq, keyed: keyed), events: [])
            let members = members(of: state)
            while append.events.count < min(Self.eventsPerAppend, eventsPerSnapshot), state.seq < events {
                let (command, actor) = (commands.command(for: state), commands.actor(in: state))
                carryOut(command, by: actor, in: &state, into: &append)
            }
            if closes || forgets, state.seq >= events {
                carryOut(.closeRoom(forget: forgets), by: .server, ends: true, in: &state, into: &append)
                if forgets { append.forgetAt = state.lastEventAt.milliseconds }
            }
            append.directory = DirectoryEntry(of: state)
            append.joined = Array(self.members(of: state).subtracting(members))
            append.left = Array(members.subtracting(self.members(of: state)))
            guard try await store.append([append]) == [.appended] else { throw LogFillerError.conflict }
            keyed += append.keys.count
            if state.seq - snapshotSeq >= eventsPerSnapshot, !state.isForgotten {
                snapshotSeq = state.seq
                try await store.save(StoredSnapshot(of: state), of: id.uuid)
            }
        }
        return (id.uuid, state.seq)
    }

    /// Decides a command and adds its events; if the room must not end, a command that would end it is left out.
    private mutating func carryOut(
        _ command: RoomCommand, by actor: Actor, ends: Bool = false, in state: inout RoomState,
        into append: inout StreamAppend
    ) {
        clock += Int64.random(in: 1...2_000, using: &random)
        let now = Timestamp(milliseconds: clock)
        guard let decided = try? state.decide(command, by: actor, at: now) else { return }
        guard ends || !decided.contains(where: { if case .roomClosed = $0 { true } else { false } }) else { return }
        let result = state.result(of: command, by: actor, causing: decided)
        let taken = state.waveforms(takenBy: decided)
        for event in state.recorded(decided, at: now) {
            state.evolve(event)
            if event.event.clearsLocation { append.clearing = event.seq }
            append.events.append(EventJSON.stored(event, in: state.id))
        }
        if !decided.isEmpty {
            append.attachments.join(state.attachmentChanges(given: command.waveform, taken: taken))
        }
        guard case .session(let session, _) = actor else { return }
        let keyed = append.expected.keyed + append.keys.count
        let key = CommandKey(
            ordinal: keyed + 1, session: session.uuid, key: "key-\(random.next() % 1_000_000)-\(keyed)",
            fingerprint: CommandJSON.fingerprint(command), seq: state.seq, result: result.map(ResultJSON.encode))
        append.keys.append(key.sealed(in: state.id))
    }

    private func members(of state: RoomState) -> Set<UUID> {
        state.isOpen ? Set(state.memberOfSession.keys.map(\.uuid)) : []
    }

    private mutating func found(_ id: RoomID, by owner: SessionRecord) async throws -> RoomState {
        let now = Timestamp(milliseconds: clock)
        let founding = RoomFounding(
            id: id, code: RoomCode(random: random.next()), name: "Room \(random.next() % 10_000) 🎧",
            location: Coordinate(
                latitude: Double.random(in: -90...90, using: &random),
                longitude: Double.random(in: -180...180, using: &random)),
            visibility: .public, settings: SettingsUpdate(), founder: SessionID(owner.id), founderName: owner.name)
        var state = RoomState(id: id)
        let events = state.recorded(try RoomState.found(founding), at: now)
        for event in events { state.evolve(event) }
        let epoch = EpochRenewal(of: id, random: random.next())
        let creation = StreamCreation(
            first: StreamAppend(
                stream: id.uuid, expected: .start, events: events.map { EventJSON.stored($0, in: id) },
                directory: DirectoryEntry(of: state), joined: [owner.id]),
            epoch: epoch.epoch, checksum: epoch.checksum, creator: owner.id, key: "made-\(id)",
            fingerprint: Int64(bitPattern: random.next()), at: clock, keysSince: 0, ownerLimit: .max)
        guard try await store.create(creation) == .created else { throw LogFillerError.conflict }
        return state
    }

    private mutating func makePeople() async throws {
        guard people.isEmpty else { return }
        for number in 1...8 {
            let record = SessionRecord(
                id: UUID.makeV7(at: Timestamp(milliseconds: clock), random: (random.next(), random.next())),
                tokenHash: (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }, name: "S\(number)",
                createdAt: clock, expiresAt: clock + 1_000_000_000, hasEnded: number == 8)
            try await store.insert(record)
            people.append(record)
        }
    }
}

/// The store already has another room there.
package enum LogFillerError: Error {
    case conflict
}
