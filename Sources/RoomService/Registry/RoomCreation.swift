import EventStorage
import FoundationEssentials
import NIOCore
import RoomDomain
import RoomLog
import RoomStatistics
package import RoomWire

/// Creates rooms; may be used on any thread.
package struct RoomCreation: Sendable {
    private let registry: RoomRegistry
    private let health: LogHealth
    private let store: any EventStore
    private let shares: LogShares
    private let settings: RoomHostSettings
    private let clock: ServerClock
    private let randomness: ServerRandomness

    init(registry: RoomRegistry, health: LogHealth, randomness: ServerRandomness) {
        self.registry = registry
        self.health = health
        self.randomness = randomness
        store = registry.dependencies.store
        shares = registry.dependencies.shares
        settings = registry.dependencies.settings
        clock = registry.dependencies.clock
    }

    /// Creates a room and views it, or finds the room that the same session created with the same key within 24 hours;
    /// ``RoomView/isNew`` tells which.
    package func create(
        _ wanted: CreateRoomRequest, by session: Session, key: String?, from network: UInt64? = nil
    ) async throws(CreationFailure) -> RoomView {
        do {
            try shares.charge(LogShares.costOfRoom, to: session.id, in: nil, from: network, at: .now())
        } catch {
            throw .failed(.refused(error))
        }
        let now = clock.now
        // An open room may have the code already; the chance is one in a billion for each room.
        for _ in 0..<8 {
            let id = RoomID(UUID.makeV7(at: now, random: (randomness.next(), randomness.next())))
            let visibility = wanted.visibility ?? .public
            let founding = RoomFounding(
                id: id, code: RoomCode(random: randomness.next(), length: visibility.codeLength), name: wanted.name,
                location: wanted.location, visibility: visibility, settings: wanted.settings,
                founder: session.id, founderName: session.name)
            let (creation, events, state) = try creation(
                of: founding, fingerprint: wanted.fingerprint, key: key, at: now)
            let outcome: CreationOutcome
            do {
                outcome = try await store.create(creation)
                if outcome == .created { health.wrote() }
            } catch {
                health.failed(error)
                throw .failed(RoomFailure(error))
            }
            switch outcome {
            case .created:
                registry.dependencies.counting?.begin(RoomTally(of: id, in: creation.epoch, countingFirst: events))
                return RoomView(
                    room: id, epoch: creation.epoch, seq: state.seq, keyed: 0, time: now,
                    state: SharedState(seq: state.seq, StateJSON.encode(state)),
                    you: YouJSON.encode(state, session.id), presence: Presence(online: 0, members: []), isNew: true)
            case .codeTaken: continue
            case .existing(let stream, let fingerprint):
                guard [wanted.fingerprint, CommandKey.forgotten].contains(fingerprint) else { throw .keyReused }
                do {
                    return try await registry.view(RoomID(stream), for: session.id)
                } catch {
                    throw .failed(error)
                }
            case .ownerLimitReached:
                let text = "a session may own at most \(RoomLimits.openRoomsPerSession) open rooms"
                throw .failed(.refused(.limitReached(text)))
            }
        }
        throw .failed(.unavailable)
    }

    private func creation(
        of founding: RoomFounding, fingerprint: Int64, key: String?, at now: Timestamp
    ) throws(CreationFailure) -> (StreamCreation, [RecordedEvent], RoomState) {
        var state = RoomState(id: founding.id)
        let events: [RecordedEvent]
        do {
            events = state.recorded(
                try RoomState.found(founding, cell: settings.locationPrecisionMeters), at: now)
        } catch {
            throw .failed(.refused(error))
        }
        for event in events { state.evolve(event) }
        let first = StreamAppend(
            stream: founding.id.uuid, expected: .start, events: events.map { EventJSON.stored($0, in: founding.id) },
            directory: DirectoryEntry(of: state), joined: [founding.founder.uuid])
        let epoch = EpochRenewal(of: founding.id, random: randomness.next())
        let creation = StreamCreation(
            first: first, epoch: epoch.epoch, checksum: epoch.checksum, creator: founding.founder.uuid, key: key,
            fingerprint: fingerprint, at: now.milliseconds, keysSince: now.milliseconds - 24 * 3_600_000,
            ownerLimit: RoomLimits.openRoomsPerSession)
        return (creation, events, state)
    }
}
