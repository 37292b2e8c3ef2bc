import EventStorage
import Logging
import RoomDomain
import RoomLog

/// Decides when a room's state is stored, so that loading the room need not replay everything.
///
/// One snapshot is saved at a time, and none at a position that has one. A failure makes later loading slower, and has no
/// other effect.
struct SnapshotKeeper {
    /// A snapshot to be saved.
    struct Job: Sendable {
        let state: RoomState
        let epoch: String
        /// The number of events of which one snapshot is kept.
        let span: Int
        /// Whether it is encoded outside the event loop, and takes its turn.
        let isLong: Bool

        /// Saves it.
        func save(with dependencies: Dependencies) async {
            do {
                let state = state
                let snapshot =
                    isLong
                    ? try await dependencies.heavyWork.run(.encoding) { StoredSnapshot(of: state) }
                    : StoredSnapshot(of: state)
                try await dependencies.store.save(snapshot, of: state.id.uuid, in: epoch, oneIn: span)
                dependencies.metrics.snapshotEnded(.saved)
            } catch {
                dependencies.metrics.snapshotEnded(.failed)
                dependencies.logger.debug(
                    "A snapshot could not be saved", metadata: ["room": "\(state.id)", "fault": "\(error)"])
            }
        }
    }

    /// The position of the newest snapshot.
    private var seq: Int
    private var isSaving = false
    private let eventsPerSnapshot: Int
    private let longBytes: Int

    /// Begins with a room whose newest snapshot is at `seq`.
    init(at seq: Int, settings: RoomHostSettings) {
        self.seq = seq
        eventsPerSnapshot = settings.eventsPerSnapshot
        longBytes = settings.answers.longStateBytes
    }

    /// Begins a snapshot if the last one is many events behind; nil if it is not.
    mutating func beginIfDue(_ room: borrowing RoomWriter) -> Job? {
        room.confirmed.seq - seq >= span(of: room.confirmed) ? begin(room) : nil
    }

    /// Begins a snapshot; nil if one is being saved, or there is nothing to save.
    mutating func begin(_ room: borrowing RoomWriter) -> Job? {
        guard !isSaving, !room.confirmed.isForgotten, room.confirmed.seq > seq else { return nil }
        isSaving = true
        seq = room.confirmed.seq
        let state = room.confirmed
        return Job(
            state: state, epoch: room.epoch, span: span(of: state), isLong: state.estimatedStateBytes > longBytes)
    }

    /// The snapshot that was begun is saved, or cannot be.
    mutating func ended() { isSaving = false }

    /// The log was replaced by one whose newest snapshot is at `seq`.
    mutating func replaced(at seq: Int) { self.seq = seq }

    /// The number of events between two snapshots; more in a large room, so that each event costs at most a KiB of them.
    private func span(of room: RoomState) -> Int { max(eventsPerSnapshot, room.estimatedStateBytes / 1_024) }
}
