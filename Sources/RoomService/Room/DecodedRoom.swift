import EventStorage
import FoundationEssentials
import GeoSearch
import Logging
import RoomDomain
import RoomLog
import RoomWire

/// A room decoded from its log: folded, and ready to become a live room.
struct DecodedRoom: Sendable {
    var head: StreamHead
    var state: RoomState
    var keys: IdempotencyWindow
    /// The newest of the events that were read.
    var recent: RecentEvents
    /// The position of the newest snapshot in the store.
    var snapshotSeq: Int

    /// A version that no fold has; reading with it ignores snapshots.
    private static let noReducer = 0

    /// Input longer than this is decoded on other threads than Swift's own.
    private static let longBytes = 1 << 16

    /// Reads a room from its log; if its snapshot is damaged, from the events alone.
    static func load(
        _ id: RoomID, in dependencies: Dependencies
    ) async -> Result<DecodedRoom, RoomFailure> {
        let (store, logger) = (dependencies.store, dependencies.logger)
        do {
            for reducerVersion in [StoredStateJSON.reducerVersion, noReducer] {
                guard let loaded = try await store.load(id.uuid, reducerVersion: reducerVersion, after: nil) else {
                    break
                }
                if let room = try await decode(loaded, of: id, in: dependencies) { return .success(room) }
            }
            return .failure(.noSuchRoom)
        } catch let fault as LogFault {
            logger.error("A room's log cannot be read", metadata: ["room": "\(id)", "fault": "\(fault)"])
            return .failure(.internalFault)
        } catch StorageFault.corrupt(let cause) {
            logger.error("A room's log cannot be read", metadata: ["room": "\(id)", "fault": "\(cause)"])
            return .failure(.internalFault)
        } catch {
            logger.warning("A room could not be loaded", metadata: ["room": "\(id)", "fault": "\(error)"])
            return .failure(.unavailable)
        }
    }

    /// Decodes what was read; nil if the snapshot in it is damaged.
    private static func decode(
        _ loaded: LoadedStream, of id: RoomID, in dependencies: Dependencies
    ) async throws -> DecodedRoom? {
        let logger = dependencies.logger
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
        let bytes = (loaded.snapshot?.state.count ?? 0) + loaded.events.payloadBytes
        let result = bytes > longBytes ? try await dependencies.heavyWork.run(.encoding, decode) : decode()
        return try result.get()
    }

}

extension DecodedRoom {
    /// Folds the events on the state before them.
    ///
    /// - Throws: ``LogFault`` if the log holds what this program cannot read.
    fileprivate init(_ loaded: LoadedStream, on before: RoomState) throws(LogFault) {
        var state = before
        let events = try state.fold(loaded.events, through: loaded.head.version.seq)
        var keys = IdempotencyWindow()
        for key in loaded.keys { keys.remember(key) }
        self.head = loaded.head
        self.state = state
        self.keys = keys
        // The log may still contain data that is to be forgotten or was cleared; it is removed here, so that nobody
        // gets it.
        self.recent = RecentEvents(state.isForgotten ? [] : state.redaction.shown(events))
        self.snapshotSeq = loaded.snapshot?.seq ?? 0
    }
}
