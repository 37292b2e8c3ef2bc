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

    /// The watches that are handled before the lock is released: each takes one search.
    private static let watchesAtOnce = 8
    /// The work that is done before the lock is released: this many watches concerned, or a sixteenth as many rooms.
    private static let workAtOnce = 4_096

    private struct State {
        var table = NearbyTable()
        /// Whether the rooms have been read.
        var isLoaded = false
        /// The time at which the last complete reading ended, or of the start, in milliseconds of the server's clock.
        var lastRead: Double
    }

    private let store: any EventStore
    private let presence: PresenceRegistry
    private let clock: ServerClock
    private let settings: RoomHostSettings
    private let jobs: BackgroundJobs
    private let logger: Logger
    private let state: Mutex<State>
    private let readings: DirectoryReadings

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
        state = Mutex(State(lastRead: clock.milliseconds))
        readings = DirectoryReadings(clock: clock, isOver: !settings.nearby.isKept)
    }

    // MARK: Searching

    /// Returns the rooms that match a query, nearest first, ties by id.
    ///
    /// They include everything that was durable before the call; while the log is out of reach, they are those of the
    /// last reading.
    package func search(_ query: NearbyQuery) async throws(RoomFailure) -> [RoomSummary] {
        guard await refresh() else { throw .unavailable }
        return summaries(of: state.withLock { $0.table.find(query) })
    }

    /// Returns once the log was read after the call, was found to be out of reach, or the wait takes too long; false if
    /// the log was never read.
    package func refresh() async -> Bool {
        let isLoaded = state.withLock(\.isLoaded)
        await readings.next(within: isLoaded ? settings.nearby.patience : settings.nearby.patienceWithNothing)
        return state.withLock(\.isLoaded)
    }

    /// Calls `done`, on any thread, with the result of ``refresh()``; returns false if the process ends and `done` is
    /// not called.
    package func refresh(_ done: @escaping @Sendable (Bool) -> Void) -> Bool {
        jobs.start { done(await self.refresh()) }
    }

    /// Starts a watch of the rooms near a point, and returns the current ones; no change is missed in between.
    ///
    /// The current rooms count as a message. After a message nothing more is sent until ``WatchID/taken()``, or while much is
    /// on its way to the client on all its watches; the changes of that time are combined into one. The bytes that wait
    /// for a client are therefore bounded. Changes are sent at least an interval apart. Changes in listener count alone
    /// are not sent.
    package func watch(
        _ query: NearbyQuery, sub: Int64, of client: WatchClient, for asker: Asker,
        deliver: @escaping @Sendable (WatchID, _ message: [UInt8]) -> Void
    ) -> (watch: WatchID, rooms: [RoomSummary]) {
        let (id, found) = state.withLock { state in
            let delivered = WatchClient.Delivery(to: client)
            let id = WatchID(number: state.table.nextNumber(), delivered: delivered)
            let watch = NearbyWatch(query, sub: sub, of: asker.origin, delivered) { deliver(id, $0) }
            return (id, state.table.begin(watch, as: id.number))
        }
        return (id, summaries(of: found))
    }

    /// Ends a watch; one more message may still arrive.
    package func unwatch(_ watch: WatchID) {
        state.withLock { $0.table.end(watch.number) }
    }

    /// The directory's size and age, for monitoring.
    package var standing: Standing {
        state.withLock { state in
            Standing(
                rooms: state.table.roomCount, watches: state.table.watchCount,
                searchesForWatches: state.table.searches,
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
        var reader = DirectoryReader(store: store, logger: logger)
        await withDiscardingTaskGroup { group in
            readings.intervalPassed()
            for await cause in readings.causes {
                let callers = readings.begin()
                if let news = await reader.catchUp() {
                    take(news)
                    state.withLock { state in
                        state.isLoaded = true
                        state.lastRead = clock.milliseconds
                    }
                }
                readings.end(callers)
                guard cause == .interval else { continue }
                await reader.compareNowAndThen({ state.withLock(\.table.ids) }, take)
                // Watches are told while the next readings continue, so that searches do not wait for them.
                group.addTask {
                    let began = self.clock.milliseconds
                    await self.tell(since: began)
                    let taken = TimeAmount.nanoseconds(Int64((self.clock.milliseconds - began) * 1e6))
                    await self.clock.sleep(for: max(.zero, self.settings.nearby.interval - taken))
                    self.readings.intervalPassed()
                }
            }
            group.cancelAll()
        }
        readings.close()
    }

    /// Stores the current entries of rooms, and notes the watches concerned.
    private func take(_ news: DirectoryReader.News) {
        let rooms: [(id: UUID, room: PlacedRoom?)]
        switch news {
        case .changed(let changed): rooms = changed
        case .all(let found):
            // The other rooms are gone.
            let gone = state.withLock(\.table.ids).filter { found[$0] == nil }
            rooms = found.map { ($0.key, $0.value) } + gone.map { ($0, nil) }
        }
        var left = rooms[...]
        while !left.isEmpty {
            state.withLock { state in
                var work = 0
                while work < Self.workAtOnce, let (id, room) = left.popFirst() {
                    work += 16 + state.table.set(id, to: room)
                }
            }
        }
    }

    /// Tells the watches that changes concern, of all origins in turn.
    ///
    /// After half an interval the others wait for the next round, behind the first ones of origins that have come
    /// meanwhile: whatever is watched, the other half of the time is not for this.
    private func tell(since began: Double) async {
        let end = began + Double(settings.nearby.interval.nanoseconds) / 2e6
        for part in state.withLock({ $0.table.takeRound() }).parts(of: Self.watchesAtOnce) {
            guard clock.milliseconds < end else { return }
            let told = state.withLock { state in part.compactMap { state.table.change(for: $0) } }
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
