import NIOCore
import RoomDomain
package import RoomWire
import Synchronization

/// Those who watch what is played across rooms; may be used on any thread.
///
/// Each of them is answered anew every ten seconds, and told where that differs from what it was told. Answers about all
/// rooms are shared. Answers about rooms near a point cost a search and a read each: a few are made at the same time, of
/// addresses in turn, so that an address with many watches only delays its own.
package final class TrendWatches: Sendable {
    /// Receives one text message of a watch, on any thread; messages arrive one at a time and in order.
    package typealias Delivery = @Sendable (_ watch: WatchID, _ message: [UInt8]) -> Void

    /// The least time between two messages of one watch, in milliseconds.
    private static let interval = 10_000.0
    /// The answers about rooms near a point that are made at the same time.
    private static let nearSideBySide = 2

    private let rooms: AcrossRooms
    private let clock: ServerClock
    private let state = Mutex(TrendTable())

    init(of rooms: AcrossRooms, clock: ServerClock) {
        self.rooms = rooms
        self.clock = clock
    }

    /// The number of watches that have not ended.
    package var count: Int { state.withLock(\.watches.count) }

    /// Starts a watch with an answer, and returns its first message.
    ///
    /// After a message nothing more is sent until ``WatchID/taken()``, or while much is on its way to the client on all
    /// its watches.
    package func watch(
        _ query: TrendingQuery, _ top: SharedTop, sub: Int64, of client: WatchClient, for asker: Asker,
        deliver: @escaping Delivery
    ) -> (watch: WatchID, message: [UInt8]) {
        let message = ServerMessage.trending(re: sub, top.answer)
        let due = clock.milliseconds + Self.interval
        let id = state.withLock { state in
            let id = WatchID(number: state.nextWatch, delivered: WatchClient.Delivery(to: client))
            state.begin(
                TrendWatch(
                    id: id, asker: asker, query: query, sub: sub, deliver: deliver, told: top.hash, due: due))
            id.delivered.sent(message.count)
            return id
        }
        return (id, message)
    }

    /// Ends a watch; one more message may still arrive.
    package func unwatch(_ watch: WatchID) {
        state.withLock { $0.end(watch.number) }
        watch.taken()
    }

    /// Answers a question, or one of those who watch, whose turn it is.
    package func answer(_ query: TrendingQuery, for asker: Asker?) async throws(RoomFailure) -> SharedTop {
        if let place = query.place {
            try await rooms.top(near: place, query.window, byArtist: false, limit: query.limit, for: asker)
        } else {
            try await rooms.top(query.window, byArtist: false, limit: query.limit)
        }
    }

    /// Tells watchers of changes until cancellation; call once.
    func run() async {
        await withTaskGroup { group in
            group.addTask { await self.tell(areNear: false) }
            for _ in 0..<Self.nearSideBySide { group.addTask { await self.tell(areNear: true) } }
        }
    }

    private func tell(areNear: Bool) async {
        while !Task.isCancelled {
            await clock.sleep(for: .seconds(1))
            while !Task.isCancelled, let watch = next(areNear: areNear) { await tell(watch) }
        }
    }

    /// Takes a watch that is due; nobody else takes it for an interval.
    private func next(areNear: Bool) -> TrendWatch? {
        let now = clock.milliseconds
        return state.withLock { $0.take(areNear: areNear, at: now, until: now + Self.interval) }
    }

    private func tell(_ watch: TrendWatch) async {
        guard let top = try? await answer(watch.query, for: nil) else { return }
        let due = clock.milliseconds + Self.interval
        let message = state.withLock { state -> [UInt8]? in
            guard state.watches[watch.id.number] != nil else { return nil }
            state.told(top.hash, to: watch.id.number, due: due)
            guard top.hash != watch.told else { return nil }
            let message = ServerMessage.trendingDelta(sub: watch.sub, top.answer)
            watch.id.delivered.sent(message.count)
            return message
        }
        if let message { watch.deliver(watch.id, message) }
    }
}
