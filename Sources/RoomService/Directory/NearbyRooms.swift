import EventStorage
import FoundationEssentials
import GeoSearch
import Logging
import NIOCore
import RoomDomain
package import RoomWire
import Synchronization

/// The open public rooms that have a place: searched, and watched; may be used on any thread.
///
/// It is the directory of the log in memory: read at the start, then from mark to mark, whoever writes the log, once an
/// interval and before each search. Now and then rooms are compared with the log, which finds those that were removed
/// meanwhile. While the log is out of reach it stands still.
///
/// Nothing of it is on the way of a command. An event loop waits for it where a watch begins or ends.
package final class NearbyRooms: Sendable {
    /// Names a watch.
    package struct WatchID: Hashable, Sendable {
        fileprivate let number: Int
        fileprivate let delivered: NearbyClient.Delivery

        package static func == (left: Self, right: Self) -> Bool { left.number == right.number }

        package func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    /// How much there is, and how old it is.
    package struct Standing: Sendable {
        /// Open public rooms that have a place.
        package let rooms: Int
        /// Watches that have not ended.
        package let watches: Int
        /// Searches that were made because a change may have concerned a watch.
        package let searchesForWatches: Int
        /// Since everything that was in the log was known; since the start, where the log was not read yet.
        package let secondsSinceReading: Double

        package init(rooms: Int, watches: Int, searchesForWatches: Int, secondsSinceReading: Double) {
            self.rooms = rooms
            self.watches = watches
            self.searchesForWatches = searchesForWatches
            self.secondsSinceReading = secondsSinceReading
        }
    }

    /// Why the log is read.
    private enum Cause {
        /// Somebody waits for it.
        case question
        /// An interval has passed: who watches is told what has changed in it.
        case interval
    }

    /// How far the log was read.
    private struct Progress {
        var mark: DirectoryMark?
        /// The rooms that are yet to be compared with the log.
        var uncompared: [UUID] = []
        /// Where the log's listing is to be read on; nil: from its beginning.
        var listedBefore: UUID?
        var intervals = 0
        var isOutOfReach = false
    }

    /// Rooms that are read at a time.
    private static let pageSize = 1_000
    /// Rooms are compared with the log once in so many intervals, a page of them.
    private static let intervalsBetweenComparisons = 10
    /// Watches that are looked at before others get the lock: each is a search.
    private static let watchesAtOnce = 8
    /// What is taken in before others get the lock: so many watches that are concerned, or a sixteenth as many rooms.
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
        state = Mutex(State(lastRead: clock.milliseconds, isOver: !settings.keepsNearby))
        (causes, reader) = AsyncStream.makeStream(of: Cause.self)
    }

    // MARK: Searching

    /// The rooms that a query means, nearest first, ties by id: of all that was durable before, and where the log is out
    /// of reach, as it was last.
    package func search(_ query: NearbyQuery) async throws(RoomFailure) -> [RoomSummary] {
        guard await refresh() else { throw .unavailable }
        return summaries(of: state.withLock { $0.find(query) })
    }

    /// Returns once the log was read, or found to be out of reach, after the call, or where that takes too long; false
    /// where it never was read.
    package func refresh() async -> Bool {
        let (number, isLoaded) = state.withLock { state in
            defer { state.nextWaiting += 1 }
            return (state.nextWaiting, state.isLoaded)
        }
        let patience = isLoaded ? settings.nearbyPatience : settings.nearbyPatienceWithNothing
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
            // Begun when it can find who waits, whatever ends its sleep.
            timer = Task { await self.giveUp(number, after: patience) }
        }
        timer?.cancel()
        return state.withLock(\.isLoaded)
    }

    /// Calls `done`, on any thread, with what ``refresh()`` gives; returns false where the process ends and `done` is
    /// not called.
    package func refresh(_ done: @escaping @Sendable (Bool) -> Void) -> Bool {
        jobs.start { done(await self.refresh()) }
    }

    private func giveUp(_ number: Int, after time: TimeAmount) async {
        await clock.sleep(for: time)
        let continuation = state.withLock { $0.waiting.removeValue(forKey: number) }
        continuation?.resume()
    }

    /// Shows what changes near a point from now on, and returns what is there: nothing is missed between.
    ///
    /// What is there counts as a message. After a message nothing more is said until ``taken(_:)``, nor where much is on
    /// its way to the client of all its watches: what happens meanwhile comes as one change. So what waits for a client
    /// is bounded. Changes are told at least an interval apart. What nobody but its listeners changed in a room is not
    /// told.
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

    /// The client has what it was told last; waits for nobody.
    package func taken(_ watch: WatchID) {
        watch.delivered.taken()
    }

    /// Ends a watch; a message may still come.
    package func unwatch(_ watch: WatchID) {
        state.withLock { state in
            guard let ended = state.watches.removeValue(forKey: watch.number) else { return }
            state.reaches.remove(ended.reach, of: watch.number)
            state.due[watch.number] = nil
            ended.delivered.taken()
        }
    }

    /// How things stand, for who watches over the server.
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

    /// Keeps the rooms as the log has them, and tells who watches, until cancellation; call once.
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
                // Some may have given up meanwhile.
                let waiting = state.withLock { state in asked.compactMap { state.waiting.removeValue(forKey: $0) } }
                for continuation in waiting { continuation.resume() }
                guard cause == .interval else { continue }
                await compareNowAndThen(&progress)
                // Beside the next readings: who searches does not wait for those who watch.
                group.addTask {
                    await self.tell()
                    await self.clock.sleep(for: self.settings.nearbyInterval)
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

    /// Reads what has changed; where the log is out of reach the same is asked for the next time.
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
                    "The rooms nearby cannot be read: searches show them as they were", metadata: ["fault": "\(error)"])
            }
            progress.isOutOfReach = true
        }
    }

    /// Reads every room; those that were known and are not among them are gone.
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

    /// Compares some rooms with the log after so many intervals; what fails is done the next time.
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

    /// Compares some rooms with the log, those that were not compared for longest, and reads a page of its listing: so
    /// that what was written without a mark, by an older program or by hand, is found as well.
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

    /// Takes in how rooms are by now, and notes whom that concerns.
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

    /// Tells those who are concerned by what has changed, who waits for longest first.
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
