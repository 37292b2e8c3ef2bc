package import EventStorage
import FoundationEssentials
import GeoSearch
import Logging
package import RoomDomain
package import RoomWire

/// A room as its log has it, folded and ready to live.
struct DecodedRoom: Sendable {
    var head: StreamHead
    var state: RoomState
    var keys: KeyMemory
    /// The newest events that were read anyway.
    var recent: RecentEvents
    /// The position of the newest snapshot in the store.
    var snapshotSeq: Int

    /// A version that no fold has: with it a room is read without a snapshot.
    private static let noReducer = 0

    /// What is longer than this is decoded beside Swift's own threads.
    private static let longBytes = 1 << 16

    /// Reads a room from its log, where its snapshot is damaged from the log alone.
    static func load(
        _ id: RoomID, in surroundings: LiveRoom.Surroundings
    ) async -> Result<DecodedRoom, RoomShelf.LookupFailure> {
        let (store, logger) = (surroundings.store, surroundings.logger)
        do {
            for reducerVersion in [StoredStateJSON.reducerVersion, noReducer] {
                guard let loaded = try await store.load(id.uuid, reducerVersion: reducerVersion, after: nil) else {
                    break
                }
                if let room = try await decode(loaded, of: id, in: surroundings) { return .success(room) }
            }
            return .failure(.noSuchRoom)
        } catch let fault as LogFault {
            logger.error("A room's log cannot be read", metadata: ["room": "\(id)", "fault": "\(fault)"])
            return .failure(.corrupt)
        } catch {
            logger.warning("A room could not be loaded", metadata: ["room": "\(id)", "fault": "\(error)"])
            return .failure(.unavailable)
        }
    }

    /// Decodes what was read; nil where the snapshot in it is damaged.
    private static func decode(
        _ loaded: LoadedStream, of id: RoomID, in surroundings: LiveRoom.Surroundings
    ) async throws -> DecodedRoom? {
        let logger = surroundings.logger
        let decode = { @Sendable () -> Result<DecodedRoom?, LogFault> in
            do throws(LogFault) {
                guard let snapshot = loaded.snapshot else {
                    return .success(try DecodedRoom(loaded, on: RoomState(id: id)))
                }
                guard let state = snapshot.state(of: id, logger: logger) else { return .success(nil) }
                return .success(try DecodedRoom(loaded, on: state))
            } catch {
                return .failure(error)
            }
        }
        let bytes = (loaded.snapshot?.state.count ?? 0) + loaded.events.reduce(0) { $0 + $1.payload.count }
        let result = bytes > longBytes ? try await surroundings.heavyWork.run(.encoding, decode) : decode()
        return try result.get()
    }

    /// Folds the events that were read on the state before them; throws where the log holds what this program cannot
    /// read.
    private init(_ loaded: LoadedStream, on before: RoomState) throws(LogFault) {
        var state = before
        let events = try loaded.events.recorded(after: state.seq, through: loaded.head.version.seq)
        for event in events { state.evolve(event) }
        var keys = KeyMemory()
        for key in loaded.keys { keys.remember(key) }
        self.head = loaded.head
        self.state = state
        self.keys = keys
        // The log may still have what is to be forgotten, or was cleared: nobody gets it from here.
        self.recent = RecentEvents(state.isForgotten ? [] : state.redaction.shown(events))
        self.snapshotSeq = loaded.snapshot?.seq ?? 0
    }
}

extension EventJSON {
    /// An event as the log keeps it.
    package static func stored(_ recorded: RecordedEvent, in room: RoomID) -> StoredEvent {
        let (type, payload) = (typeName(recorded.event), encodeLog(recorded.event))
        return StoredEvent(
            seq: recorded.seq, at: recorded.at.milliseconds, type: type, payload: payload,
            checksum: LogChecksum.event(
                room: room.uuid, seq: recorded.seq, at: recorded.at.milliseconds, type: type, payload: payload))
    }

    /// An event as the log kept it.
    package static func recorded(_ stored: StoredEvent) throws(StoredEventFault) -> RecordedEvent {
        try decodeLog(type: stored.type, seq: stored.seq, at: stored.at, payload: stored.payload)
    }
}

extension DirectoryEntry {
    /// What the directory says of a room.
    package init(of state: RoomState) {
        let owner = state.members.values.first { $0.role == .owner }
        let playing = state.onAir.flatMap { state.tracks[$0.track]?.info }
        self.init(
            code: state.code.description, name: state.name, isPublic: state.visibility == .public,
            latitude: state.location?.latitude, longitude: state.location?.longitude,
            createdAt: state.createdAt.milliseconds, closedAt: state.closedAt?.milliseconds,
            owner: owner?.session.uuid, djName: state.isForgotten ? nil : owner?.name,
            nowPlayingTitle: playing?.title, nowPlayingArtist: playing?.artist)
    }
}

extension RoomEvent {
    /// Whether the directory's entry may be another after it.
    var concernsDirectory: Bool {
        switch self {
        case .roomCreated, .memberRenamed, .roomUpdated, .roomClosed, .roleChanged, .playbackStarted, .playbackStopped,
            .entryFinished:
            true
        case .memberJoined, .memberLeft, .memberBanned, .memberUnbanned, .tracksAdded, .tracksRemoved, .voteCast,
            .voteWithdrawn, .votesCleared, .entryEnqueued, .entryRemoved, .entryMoved, .playbackPaused,
            .playbackResumed, .playbackSeeked, .skipVoteCast:
            false
        }
    }
}
