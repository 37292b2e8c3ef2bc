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
/// It is the directory of the log in memory: read at the start, then from mark to mark, an interval apart, whoever
/// writes the log. Now and then rooms are compared with the log, which finds those that were removed meanwhile. While
/// the log is out of reach it stands still.
///
/// Nothing of it is on the way of a command or of what a room's followers are shown.
package final class NearbyRooms: Sendable {
    /// Names a watch.
    package struct WatchID: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// A room that came, went, moved, or is otherwise not as it was.
    struct Change {
        /// Where it was and where it is.
        var places: [Coordinate]
    }

    fileprivate struct State {
        var index = NearbyIndex()
        var rooms: [UUID: PlacedRoom] = [:]
        var watches: [WatchID: NearbyWatch] = [:]
        var nextWatch = 0
        var isLoaded = false

        func find(_ query: NearbyQuery) -> [FoundRoom] {
            index.nearest(to: query.origin, within: query.radiusMeters, limit: query.limit).compactMap { hit in
                rooms[hit.id].map { FoundRoom(room: $0, distance: hit.distance) }
            }
        }

        /// Puts a room where it is by now, or takes it out where `room` is nil.
        mutating func set(_ id: UUID, to room: PlacedRoom?) -> Change? {
            let former = rooms[id]
            guard former?.entry != room?.entry else { return nil }
            rooms[id] = room
            if let room { index.place(id, at: room.place) } else { index.remove(id) }
            return Change(places: [former?.place, room?.place].compactMap { $0 })
        }
    }

    /// Who asks before the rooms are read waits so long, and is then told to come again.
    private static let loadingWait = TimeAmount.seconds(5)
    private static let loadingStep = TimeAmount.milliseconds(50)
    /// Rooms that are read at a time.
    private static let pageSize = 1_000
    /// Rooms are compared with the log once in so many intervals, a page of them.
    private static let intervalsBetweenComparisons = 10
    /// Watches that are looked at before others get the lock.
    private static let watchesAtOnce = 64

    private let store: any EventStore
    private let presence: PresenceDesk
    private let clock: ServerClock
    private let settings: RoomHostSettings
    private let logger: Logger
    private let state = Mutex(State())

    init(
        store: any EventStore, presence: PresenceDesk, clock: ServerClock, settings: RoomHostSettings, logger: Logger
    ) {
        self.store = store
        self.presence = presence
        self.clock = clock
        self.settings = settings
        self.logger = logger
    }

    // MARK: Searching

    /// Whether the rooms were read.
    package var isLoaded: Bool { state.withLock(\.isLoaded) }

    /// Returns once the rooms were read; throws ``RoomFailure/unavailable`` where that takes too long.
    package func load() async throws(RoomFailure) {
        var waited = TimeAmount.zero
        while !isLoaded {
            guard waited < Self.loadingWait, !Task.isCancelled else { throw .unavailable }
            await clock.sleep(for: Self.loadingStep)
            waited = waited + Self.loadingStep
        }
    }

    /// The rooms that a query means, nearest first, ties by id.
    package func search(_ query: NearbyQuery) async throws(RoomFailure) -> [RoomSummary] {
        try await load()
        return summaries(of: state.withLock { $0.find(query) })
    }

    /// Shows what changes near a point from now on, and returns what is there: nothing is missed between.
    ///
    /// After a message nothing more is said until ``taken(_:)``: what happens meanwhile comes as one change. So what
    /// waits for a client is bounded, and at most one message comes an interval. What nobody but its listeners changed
    /// in a room is not told.
    package func watch(
        _ query: NearbyQuery, sub: Int64, deliver: @escaping @Sendable (WatchID, _ message: [UInt8]) -> Void
    ) -> (watch: WatchID, rooms: [RoomSummary]) {
        let (id, found) = state.withLock { state in
            let id = WatchID(number: state.nextWatch)
            state.nextWatch += 1
            var watch = NearbyWatch(query, sub: sub) { deliver(id, $0) }
            let found = state.find(query)
            _ = watch.show(found)
            state.watches[id] = watch
            return (id, found)
        }
        return (id, summaries(of: found))
    }

    /// The client has what it was told last.
    package func taken(_ watch: WatchID) {
        state.withLock { $0.watches[watch]?.isReady = true }
    }

    /// Ends a watch; a message may still come.
    package func unwatch(_ watch: WatchID) {
        state.withLock { $0.watches[watch] = nil }
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

    /// Keeps the rooms as the log has them, and tells who watches, until cancellation.
    func run() async {
        var (mark, compared, round): (DirectoryMark?, [UUID], Int) = (nil, [], 0)
        var wasOutOfReach = false
        while !Task.isCancelled {
            do throws(StorageFault) {
                let changes = try await store.directoryChanges(since: mark)
                if let records = changes.records {
                    await apply(records.map { ($0.stream, PlacedRoom($0)) })
                } else {
                    try await readAll()
                }
                mark = changes.mark
                round += 1
                if round.isMultiple(of: Self.intervalsBetweenComparisons) { try await compare(&compared) }
                wasOutOfReach = false
            } catch {
                // The same changes are asked for again.
                if !wasOutOfReach {
                    logger.debug("The rooms nearby cannot be read", metadata: ["fault": "\(error)"])
                }
                wasOutOfReach = true
                await apply([])
            }
            await clock.sleep(for: settings.nearbyInterval)
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
        await apply(found.map { ($0.key, $0.value) } + gone.map { ($0, nil) })
        state.withLock { $0.isLoaded = true }
    }

    /// Compares some rooms with the log, those that were not compared for longest.
    private func compare(_ rest: inout [UUID]) async throws(StorageFault) {
        if rest.isEmpty { rest = state.withLock { Array($0.rooms.keys) } }
        let page = rest.suffix(Self.pageSize)
        guard !page.isEmpty else { return }
        var found: [UUID: PlacedRoom] = [:]
        for record in try await store.directory(of: Array(page)) { found[record.stream] = PlacedRoom(record) }
        rest.removeLast(page.count)
        await apply(page.map { ($0, found[$0]) })
    }

    /// Takes in how rooms are by now, and tells who watches what that concerns.
    private func apply(_ rooms: [(id: UUID, room: PlacedRoom?)]) async {
        let (changes, watches) = state.withLock { state in
            (rooms.compactMap { state.set($0.id, to: $0.room) }, Array(state.watches.keys))
        }
        var rest = watches[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.watchesAtOnce)
            rest = rest.dropFirst(part.count)
            let told = state.withLock { state in part.compactMap { state.note(changes, for: $0) } }
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

extension NearbyRooms.State {
    /// Notes what has changed for a watch; returns what it is to be told, if anything.
    fileprivate mutating func note(
        _ changes: [NearbyRooms.Change], for id: NearbyRooms.WatchID
    ) -> (NearbyWatch, NearbyWatch.Change)? {
        watches[id]?.note(changes)
        guard var watch = watches[id], watch.isWaiting else { return nil }
        let change = watch.show(find(watch.query))
        watch.isReady = change.isEmpty
        watches[id] = watch
        return change.isEmpty ? nil : (watch, change)
    }
}
