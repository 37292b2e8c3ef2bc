import EventStorage
import FoundationEssentials
import GeoSearch
import Logging
import NIOCore
import RoomDomain
package import RoomWire
import Synchronization

/// The open public rooms that have a place, for searches and watches; may be used on any thread.
///
/// It is the directory of the log in memory: read at the start, then from mark to mark, whichever server writes the
/// log, once in each interval and before each search. Some rooms are compared with the log from time to time, which
/// finds rooms that were removed. While the log is out of reach, it does not change.
///
/// Commands do not use it. An event loop takes its lock when a watch begins or ends.
package final class NearbyRooms: Sendable {
    /// Identifies a watch.
    package struct WatchID: Hashable, Sendable {
        fileprivate let number: Int
        fileprivate let delivered: NearbyClient.Delivery

        package static func == (left: Self, right: Self) -> Bool { left.number == right.number }

        package func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    /// The size of the directory, and its age.
    package struct Standing: Sendable {
        /// The number of open public rooms that have a place.
        package let rooms: Int
        /// The number of watches that have not ended.
        package let watches: Int
        /// The number of searches made because a change may have concerned a watch.
        package let searchesForWatches: Int
        /// The seconds since all changes in the log were known; since the start, if the log has not been read yet.
        package let secondsSinceReading: Double

        package init(rooms: Int, watches: Int, searchesForWatches: Int, secondsSinceReading: Double) {
            self.rooms = rooms
            self.watches = watches
            self.searchesForWatches = searchesForWatches
            self.secondsSinceReading = secondsSinceReading
        }
    }

    /// The reason for reading the log.
    private enum Cause {
        /// A caller waits for it.
        case question
        /// An interval has passed, and watches are told what has changed in it.
        case interval
    }

    /// The position up to which the log was read.
    private struct Progress {
        var mark: DirectoryMark?
        /// The rooms that have yet to be compared with the log.
        var uncompared: [UUID] = []
        /// The position at which to continue the log's listing; nil: at its beginning.
        var listedBefore: UUID?
        var intervals = 0
        var isOutOfReach = false
    }

    /// The number of rooms read at a time.
    private static let pageSize = 1_000
    /// The number of intervals between two comparisons of a page of rooms with the log.
    private static let intervalsBetweenComparisons = 10
    /// The watches that are handled before the lock is released: each takes one search.
    private static let watchesAtOnce = 8
    /// The work that is done before the lock is released: this many watches concerned, or a sixteenth as many rooms.
    private static let workAtOnce = 4_096

    private let store: any EventStore
    private let presence: PresenceRegistry
    private let clock: ServerClock
    private let settings: RoomHostSettings
    private let jobs: BackgroundJobs
    private let logger: Logger
    private let state: Mutex<State>
    private let causes: AsyncStream<Cause>
    private let reader: AsyncStream<Cause>.Continuation

    init(
        store: any EventStore, presence: PresenceRegistry, clock: ServerClock, settings: RoomHostSettings,
        jobs: BackgroundJobs, logger: Logger
    ) {
        self.store = store
        self.presence = presence
        self.clock = clock
        self.settings = settings
        self.jobs = jobs
        self.logger = logger
        state = Mutex(State(lastRead: clock.milliseconds, isOver: !settings.nearby.isKept))
        (causes, reader) = AsyncStream.makeStream(of: Cause.self)
    }

    // MARK: Searching

    /// Returns the rooms that match a query, nearest first, ties by id.
    ///
    /// They include everything that was durable before the call; while the log is out of reach, they are those of the
    /// last reading.
    package func search(_ query: NearbyQuery) async throws(RoomFailure) -> [RoomSummary] {
        guard await refresh() else { throw .unavailable }
        return summaries(of: state.withLock { $0.find(query) })
    }

    /// Returns once the log was read after the call, was found to be out of reach, or the wait takes too long; false if
    /// the log was never read.
    package func refresh() async -> Bool {
        let (number, isLoaded) = state.withLock { state in
            defer { state.nextWaiting += 1 }
            return (state.nextWaiting, state.isLoaded)
        }
        let patience = isLoaded ? settings.nearby.patience : settings.nearby.patienceWithNothing
        var timer: Task<Void, Never>?
        await withCheckedContinuation { continuation in
            let (isOver, mustAsk) = state.withLock { state in
                guard !state.isOver else { return (true, false) }
                state.waiting[number] = continuation
                defer { state.isAsked = true }
                return (false, !state.isAsked)
            }
            guard !isOver else { return continuation.resume() }
            if mustAsk { reader.yield(.question) }
            // The timer starts when it can find the waiting caller, whatever ends its sleep.
            timer = Task { await self.giveUp(number, after: patience) }
        }
        timer?.cancel()
        return state.withLock(\.isLoaded)
    }

    /// Calls `done`, on any thread, with the result of ``refresh()``; returns false if the process ends and `done` is
    /// not called.
    package func refresh(_ done: @escaping @Sendable (Bool) -> Void) -> Bool {
        jobs.start { done(await self.refresh()) }
    }

    private func giveUp(_ number: Int, after time: TimeAmount) async {
        await clock.sleep(for: time)
        let continuation = state.withLock { $0.waiting.removeValue(forKey: number) }
        continuation?.resume()
    }

    /// Starts a watch of the rooms near a point, and returns the current ones; no change is missed in between.
    ///
    /// The current rooms count as a message. After a message nothing more is sent until ``taken(_:)``, or while much is
    /// on its way to the client on all its watches; the changes of that time are combined into one. The bytes that wait
    /// for a client are therefore bounded. Changes are sent at least an interval apart. Changes in listener count alone
    /// are not sent.
    package func watch(
        _ query: NearbyQuery, sub: Int64, of client: NearbyClient,
        deliver: @escaping @Sendable (WatchID, _ message: [UInt8]) -> Void
    ) -> (watch: WatchID, rooms: [RoomSummary]) {
        let (id, found) = state.withLock { state in
            let delivered = NearbyClient.Delivery(to: client)
            let id = WatchID(number: state.nextWatch, delivered: delivered)
            state.nextWatch += 1
            var watch = NearbyWatch(query, sub: sub, delivered) { deliver(id, $0) }
            let found = state.find(query)
            delivered.sent(watch.show(found).size)
            state.watches[id.number] = watch
            state.reaches.insert(watch.reach, as: id.number)
            return (id, found)
        }
        return (id, summaries(of: found))
    }

    /// Records that the client has taken its last message; never waits.
    package func taken(_ watch: WatchID) {
        watch.delivered.taken()
    }

    /// Ends a watch; one more message may still arrive.
    package func unwatch(_ watch: WatchID) {
        state.withLock { state in
            guard let ended = state.watches.removeValue(forKey: watch.number) else { return }
            state.reaches.remove(ended.reach, of: watch.number)
            state.due[watch.number] = nil
            ended.delivered.taken()
        }
    }

    /// The directory's size and age, for monitoring.
    package var standing: Standing {
        state.withLock { state in
            Standing(
                rooms: state.rooms.count, watches: state.watches.count, searchesForWatches: state.searches,
                secondsSinceReading: max(0, clock.milliseconds - state.lastRead) / 1_000)
        }
    }

    private func summaries(of found: [FoundRoom]) -> [RoomSummary] {
        guard !found.isEmpty else { return [] }
        let listeners = presence.counts(of: found.map { RoomID($0.room.id) })
        return zip(found, listeners).map { found, count in
            var summary = RoomSummary(RoomID(found.room.id), found.room.entry, listeners: count)
            summary.distanceMeters = found.distance
            return summary
        }
    }

    // MARK: Keeping up

    /// Keeps the rooms up to date with the log, and tells watches, until cancellation; call once.
    func run() async {
        var progress = Progress()
        await withDiscardingTaskGroup { group in
            reader.yield(.interval)
            for await cause in causes {
                let asked = state.withLock { state in
                    state.isAsked = false
                    return Array(state.waiting.keys)
                }
                await catchUp(&progress)
                // Some callers may have given up in the meantime.
                let waiting = state.withLock { state in asked.compactMap { state.waiting.removeValue(forKey: $0) } }
                for continuation in waiting { continuation.resume() }
                guard cause == .interval else { continue }
                await compareNowAndThen(&progress)
                // Watches are told while the next readings continue, so that searches do not wait for them.
                group.addTask {
                    await self.tell()
                    await self.clock.sleep(for: self.settings.nearby.interval)
                    self.reader.yield(.interval)
                }
            }
            group.cancelAll()
        }
        let waiting = state.withLock { state in
            state.isOver = true
            return state.takeWaiting()
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Reads the changes; if the log is out of reach, the next call asks for the same.
    private func catchUp(_ progress: inout Progress) async {
        do throws(StorageFault) {
            let changes = try await store.directoryChanges(since: progress.mark)
            if let records = changes.records {
                apply(records.map { ($0.stream, PlacedRoom($0)) })
            } else {
                try await readAll()
            }
            progress.mark = changes.mark
            state.withLock { $0.lastRead = clock.milliseconds }
            if progress.isOutOfReach { logger.notice("The rooms nearby are read again") }
            progress.isOutOfReach = false
        } catch {
            if !progress.isOutOfReach {
                logger.warning(
                    "The rooms nearby cannot be read: searches show their last state", metadata: ["fault": "\(error)"])
            }
            progress.isOutOfReach = true
        }
    }

    /// Reads every room; known rooms that are not among them are gone.
    private func readAll() async throws(StorageFault) {
        var found: [UUID: PlacedRoom] = [:]
        var before: UUID?
        while true {
            let page = try await store.openPublicStreams(matching: nil, before: before, limit: Self.pageSize)
            for record in page { found[record.stream] = PlacedRoom(record) }
            guard page.count == Self.pageSize, let last = page.last else { break }
            before = last.stream
        }
        let gone = state.withLock { $0.rooms.keys.filter { found[$0] == nil } }
        apply(found.map { ($0.key, $0.value) } + gone.map { ($0, nil) })
        state.withLock { $0.isLoaded = true }
    }

    /// Compares some rooms with the log once in several intervals; a failed comparison is repeated the next time.
    private func compareNowAndThen(_ progress: inout Progress) async {
        progress.intervals += 1
        let isTime = progress.intervals.isMultiple(of: Self.intervalsBetweenComparisons)
        guard isTime, !progress.isOutOfReach else { return }
        do throws(StorageFault) {
            try await compare(&progress)
        } catch {
            logger.warning("Rooms nearby cannot be compared with the log", metadata: ["fault": "\(error)"])
        }
    }

    /// Compares the rooms that were not compared for longest with the log, and reads a page of its listing.
    ///
    /// This also finds changes that were written without a mark, by an older program or by hand.
    private func compare(_ progress: inout Progress) async throws(StorageFault) {
        let listed = try await store.openPublicStreams(
            matching: nil, before: progress.listedBefore, limit: Self.pageSize)
        apply(listed.map { ($0.stream, PlacedRoom($0)) })
        progress.listedBefore = listed.count == Self.pageSize ? listed.last?.stream : nil
        if progress.uncompared.isEmpty { progress.uncompared = state.withLock { Array($0.rooms.keys) } }
        let page = progress.uncompared.suffix(Self.pageSize)
        guard !page.isEmpty else { return }
        var found: [UUID: PlacedRoom] = [:]
        for record in try await store.directory(of: Array(page)) { found[record.stream] = PlacedRoom(record) }
        apply(page.map { ($0, found[$0]) })
        progress.uncompared.removeLast(page.count)
    }

    /// Stores the current entries of rooms, and notes the watches concerned.
    private func apply(_ rooms: [(id: UUID, room: PlacedRoom?)]) {
        var left = rooms[...]
        while !left.isEmpty {
            state.withLock { state in
                var work = 0
                while work < Self.workAtOnce, let (id, room) = left.popFirst() {
                    work += 16 + state.set(id, to: room)
                }
            }
        }
    }

    /// Tells the watches that changes concern, those that have waited longest first.
    private func tell() async {
        let due = state.withLock { state in
            state.rounds += 1
            return Array(state.due)
        }
        for part in due.sorted(by: { $0.value < $1.value }).parts(of: Self.watchesAtOnce) {
            let told = state.withLock { state in part.compactMap { state.change(for: $0.key) } }
            for (watch, change) in told { watch.deliver(message(of: change, for: watch)) }
            await Task.yield()
        }
    }

    private func message(of change: NearbyWatch.Change, for watch: NearbyWatch) -> [UInt8] {
        ServerMessage.nearbyDelta(
            sub: watch.sub, entered: summaries(of: change.entered), changed: summaries(of: change.changed),
            left: change.left.map { RoomID($0) })
    }
}
