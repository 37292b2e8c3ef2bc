import EventStorage
import FoundationEssentials
import NIOCore
package import RoomDomain
import RoomStatistics
import RoomWire
import Synchronization

/// Those who watch rooms' counts; may be used on any thread.
///
/// What they are told is read from the store, where all servers write what they count: twice a second the counted
/// positions of all watched rooms, and the counts of those that have moved, a few rooms at the same time and each at
/// most once a second. Where that takes longer, addresses are told in turn: one with many watches only delays its own.
package final class CountWatches: Sendable {
    /// Receives the news of a watch, on any thread, one at a time and in order.
    package typealias Delivery = @Sendable (_ watch: WatchID, _ news: CountNews) -> Void

    /// The time between two looks at the counted positions.
    private static let betweenLooks = TimeAmount.milliseconds(500)
    /// The time after which the others that are due wait for the next look, in milliseconds.
    private static let longestTurn = 500.0
    /// The rooms that are looked at at the same time; their counts are read one after the other.
    private static let roomsSideBySide = 8
    /// The rooms whose positions are read at once.
    private static let roomsPerPage = 1_000
    /// The rooms that are looked at before the lock is released.
    private static let roomsAtOnce = 64

    /// What one message shows.
    private struct Shown: Hashable {
        var offset: Int
        var isWhole: Bool
    }

    /// What was seen of a room, with which a watch begins.
    package struct Look: Sendable {
        fileprivate let room: RoomID
        fileprivate let asker: Asker
        fileprivate let counts: RecentCounts
    }

    private let registry: RoomRegistry
    private let statistics: StatisticsQueue
    private let clock: ServerClock
    private let state = Mutex(CountTable())
    private let looks = SharedQuestions<Sight, RecentCounts>()

    init(registry: RoomRegistry, statistics: StatisticsQueue) {
        self.registry = registry
        self.statistics = statistics
        clock = registry.dependencies.clock
    }

    /// The number of watches that have not ended.
    package var count: Int { state.withLock(\.roomOfWatch.count) }

    /// Looks at a room's counts, for somebody who may look at the room.
    package func look(at room: RoomID, for asker: Asker) async throws(RoomFailure) -> Look {
        let seen = try await registry.withRoom(room, for: asker.session) { Seen($0) }
        // A crowd that is back at once reads a room's counts once.
        let counts = try await looks.answer(Sight(room: room, seen: seen)) { () async throws(RoomFailure) in
            try await self.read(room, seen, for: asker)
        }
        return Look(room: room, asker: asker, counts: counts)
    }

    /// Starts a watch with what was seen, and returns its first message; no change is missed in between.
    ///
    /// `offset` is that of local time from UTC, in minutes. After a message nothing more is sent until
    /// ``WatchID/taken()``, or while much is on its way to the client on all its watches; then all is sent anew.
    package func watch(
        _ look: Look, offset: Int, sub: Int64, of client: WatchClient, deliver: @escaping Delivery
    ) -> (watch: WatchID, message: [UInt8]) {
        let (room, counts) = (look.room, look.counts)
        let message = ServerMessage.statistics(re: sub, room: room, counts.shown(nil, offset: offset))
        let id = state.withLock { state in
            let id = WatchID(number: state.nextWatch, delivered: WatchClient.Delivery(to: client))
            state.nextWatch += 1
            state.roomOfWatch[id.number] = room
            var watched = state.rooms[room] ?? WatchedRoom(position: counts.position, minutes: counts.minutes)
            watched.watches[id.number] = CountWatch(
                id: id, asker: look.asker, offset: offset, sub: sub, deliver: deliver, position: counts.position,
                day: RecentCounts.day(of: counts.present, offset))
            state.rooms[room] = watched
            return id
        }
        id.delivered.sent(message.count)
        return (id, message)
    }

    /// Ends a watch; one more message may still arrive.
    package func unwatch(_ watch: WatchID) {
        state.withLock { $0.end(watch.number) }
        watch.taken()
    }

    /// A room as it is when somebody looks.
    private struct Sight: Hashable {
        var room: RoomID
        var seen: Seen
    }

    /// The room's position, and whether it is to be forgotten: of such a room nothing is shown.
    private struct Seen: Hashable {
        var position: Position
        var isForgotten: Bool

        init(_ room: isolated LiveRoom) {
            (position, isForgotten) = (room.position, room.confirmed.isForgotten)
        }
    }

    private func read(_ room: RoomID, _ seen: Seen, for asker: Asker?) async throws(RoomFailure) -> RecentCounts {
        let present = RoomTally.minute(of: clock.now)
        // Other servers' clocks may be a little ahead.
        let (from, to) = (present - RecentCounts.minutesRead + 1, present + 15)
        let stored =
            seen.isForgotten
            ? nil
            : try await statistics.ask(for: asker) { (store) async throws(StorageFault) in
                try await store.counts(of: room.uuid, from: from, to: to)
            }
        return RecentCounts(
            position: Position(stored?.position, of: seen.position),
            minutes: (stored?.counts ?? [:]).reduce(into: [:]) { minutes, one in
                minutes[one.key.minute, default: EventCounts()] += one.value
            }, present: present)
    }

    // MARK: Telling

    /// Tells watchers of changes until cancellation; call once.
    func run() async {
        while !Task.isCancelled {
            await clock.sleep(for: Self.betweenLooks)
            // Those who come meanwhile, and have been told longer ago, are told before the rest.
            while !Task.isCancelled, await !tell() {}
        }
    }

    /// Looks for rooms with other counts, and tells of them for a while; returns whether all were told.
    private func tell() async -> Bool {
        let due = await due()
        let end = clock.milliseconds + Self.longestTurn
        return await withTaskGroup { group in
            var rest = due[...]
            for _ in 0..<Self.roomsSideBySide {
                guard let room = rest.popFirst() else { break }
                group.addTask { await self.tell(room) }
            }
            while await group.next() != nil {
                guard clock.milliseconds < end, let room = rest.popFirst() else { continue }
                group.addTask { await self.tell(room) }
            }
            return rest.isEmpty
        }
    }

    /// The rooms of which somebody is to be told, in turn; those whose positions cannot be read are left out.
    private func due() async -> [RoomID] {
        let rooms = state.withLock { $0.rooms.keys.sorted { $0.uuid < $1.uuid } }
        var due: [DueRoom] = []
        for page in rooms.parts(of: Self.roomsPerPage) {
            let ids = page.map(\.uuid)
            let read = try? await statistics.ask(for: nil) { (store) async throws(StorageFault) in
                try await store.countedStreams(ids)
            }
            guard let streams = read else { continue }
            let counted = Dictionary(
                streams.map { ($0.stream, Position($0.counted, of: Position(epoch: $0.head.epoch, seq: 0))) }
            ) { one, _ in one }
            let (present, now) = (RoomTally.minute(of: clock.now), clock.milliseconds)
            for room in page where counted[room.uuid] == nil { end(room, because: .noSuchRoom) }
            for part in Array(page).parts(of: Self.roomsAtOnce) {
                due += state.withLock { state in
                    part.compactMap { room in
                        counted[room.uuid].flatMap { state.due(room, countedTo: $0, at: present, now: now) }
                    }
                }
            }
        }
        return DueRoom.inTurn(due)
    }

    /// Tells those who watch a room, and may look at it, what has changed.
    private func tell(_ room: RoomID) async {
        let began = clock.milliseconds
        // A room that cannot be told of waits like one that was.
        let watching = state.withLock { state in
            state.rooms[room]?.toldAt = began
            return Set(state.rooms[room]?.watches.values.map(\.asker.session) ?? [])
        }
        do throws(RoomFailure) {
            let (seen, refused) = try await registry.withRoom(room) { live in
                (Seen(live), watching.compactMap { session in live.refusal(of: session).map { (session, $0) } })
            }
            for (session, refusal) in refused { end(room, of: session, because: .refused(refusal)) }
            guard let counts = try? await read(room, seen, for: nil) else { return }
            let now = clock.milliseconds
            guard let turn = state.withLock({ $0.rooms[room]?.take(counts, at: now) }) else { return }
            var shown: [Shown: RoomCounts] = [:]
            for (watch, isWhole) in turn.watches {
                let key = Shown(offset: watch.offset, isWhole: isWhole)
                let told = shown[key] ?? counts.shown(isWhole ? nil : turn.changed, offset: watch.offset)
                shown[key] = told
                let message = ServerMessage.statisticsDelta(sub: watch.sub, told, isWhole: isWhole)
                watch.deliver(watch.id, .message(message))
            }
        } catch {
            // Where the log is out of reach, the next second tries again.
            if error == .noSuchRoom { end(room, because: error) }
        }
    }

    /// Ends the watches of a room: all, or those of a session.
    private func end(_ room: RoomID, of session: SessionID? = nil, because failure: RoomFailure) {
        let ended = state.withLock { state in
            let ended = state.rooms[room]?.watches.values.filter { session == nil || $0.asker.session == session } ?? []
            for watch in ended { state.end(watch.id.number) }
            return ended.sorted { $0.id.number < $1.id.number }
        }
        for watch in ended {
            watch.id.taken()
            watch.deliver(watch.id, .ended(failure))
        }
    }
}
