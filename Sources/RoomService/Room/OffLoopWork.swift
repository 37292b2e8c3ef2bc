import EventStorage
import Logging
import NIOCore
import RoomDomain
import RoomLog

/// The work of one room outside its event loop: reads of its log, encodings, snapshots.
///
/// Each callback is called once, on the room's loop; at once only if the process stops and the work is not begun.
struct OffLoopWork {
    private let room: RoomID
    private let loop: any EventLoop
    private let dependencies: Dependencies

    init(of room: RoomID, on loop: any EventLoop, _ dependencies: Dependencies) {
        self.room = room
        self.loop = loop
        self.dependencies = dependencies
    }

    /// Reads the events after `version`, together with reads of other rooms.
    func read(after version: StreamVersion, _ done: @escaping @Sendable (BatchedReads.Outcome) -> Void) {
        let loop = loop
        dependencies.batchedReads.read(room.uuid, after: version) { result in loop.execute { done(result) } }
    }

    /// Loads the whole room.
    func load(_ done: @escaping @Sendable (Result<DecodedRoom, RoomFailure>) -> Void) {
        let (room, loop, dependencies) = (room, loop, dependencies)
        let isStarted = dependencies.jobs.start {
            let result = await DecodedRoom.load(room, in: dependencies)
            loop.execute { done(result) }
        }
        if !isStarted { done(.failure(.unavailable)) }
    }

    /// Gives the room, whose log has lost some of the events that were `shown`, another epoch than `epoch`, unless
    /// somebody else has done so, and loads it.
    func renew(
        _ epoch: String, _ shown: RecentEvents,
        _ done: @escaping @Sendable (Result<DecodedRoom, RoomFailure>) -> Void
    ) {
        let (room, loop, dependencies) = (room, loop, dependencies)
        let isStarted = dependencies.jobs.start {
            let renewal = EpochRenewal(of: room, random: dependencies.randomness.next())
            do throws(StorageFault) {
                let isFirst = try await dependencies.store.renew(renewal, replacing: epoch)
                let result = await DecodedRoom.load(room, in: dependencies)
                if isFirst, case .success(let loaded) = result {
                    tell(of: shown.lost(in: loaded.recent, at: loaded.head.version.seq), loaded)
                }
                loop.execute { done(result) }
            } catch {
                loop.execute { done(.failure(.unavailable)) }
            }
        }
        if !isStarted { done(.failure(.unavailable)) }
    }

    private func tell(of lost: Int, _ loaded: DecodedRoom) {
        dependencies.metrics.wentBack(lost: lost)
        dependencies.logger.error(
            "A room's log has lost events that were shown: all who follow the room begin anew",
            metadata: [
                "room": "\(room)", "log": "\(loaded.head.version.seq)", "lost": "\(lost)",
                "epoch": "\(loaded.head.epoch)",
            ])
    }

    /// Reads a part of the log when the turn of `asker` comes; nil if too many reads are under way, or it cannot be
    /// read.
    func read(_ part: MissedEvents, for asker: Asker, _ done: @escaping @Sendable ([RecordedEvent]?) -> Void) {
        let store = dependencies.store
        dependencies.heavyWork.start(.log, for: asker, thenOn: loop) {
            await part.read(from: store)
        } _: { result in
            let events = try? result.get()
            done(events ?? nil)
        }
    }

    /// Encodes a long state when the room's turn comes; nil if the process stops.
    func encode(_ job: EncodingJob, _ done: @escaping @Sendable (EncodedState?) -> Void) {
        let metrics = dependencies.metrics
        dependencies.heavyWork.start(.encoding, thenOn: loop) {
            job.run(countingIn: metrics)
        } _: { result in
            done(try? result.get())
        }
    }

    /// Saves a snapshot.
    func save(_ snapshot: SnapshotKeeper.Job, _ done: @escaping @Sendable () -> Void) {
        let (loop, dependencies) = (loop, dependencies)
        let isStarted = dependencies.jobs.start {
            await snapshot.save(with: dependencies)
            loop.execute(done)
        }
        if !isStarted { done() }
    }
}
