import NIOCore
import RoomDomain
package import RoomWire
import Synchronization

/// Those who watch what is played across rooms; may be used on any thread.
///
/// Every ten seconds each of them is answered anew, one after the other, and told where that differs from what it was
/// told.
package final class TrendWatches: Sendable {
    /// Receives one text message of a watch, on any thread; messages arrive one at a time and in order.
    package typealias Delivery = @Sendable (_ watch: WatchID, _ message: [UInt8]) -> Void

    /// The least time between two messages of one watch, in milliseconds.
    private static let interval = 10_000.0

    private struct Watch {
        let id: WatchID
        let query: TrendingQuery
        let sub: Int64
        let deliver: Delivery
        /// What the client was told.
        var songs: [RankedSong]
        /// When it is answered next, in milliseconds of the server's clock.
        var due: Double
    }

    private struct State {
        var nextWatch = 0
        var watches: [Int: Watch] = [:]
    }

    private let rooms: AcrossRooms
    private let clock: ServerClock
    private let state = Mutex(State())

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
        _ query: TrendingQuery, _ top: TopAnswer, sub: Int64, of client: WatchClient, deliver: @escaping Delivery
    ) -> (watch: WatchID, message: [UInt8]) {
        let message = ServerMessage.trending(re: sub, top)
        let due = clock.milliseconds + Self.interval
        let id = state.withLock { state in
            let id = WatchID(number: state.nextWatch, delivered: WatchClient.Delivery(to: client))
            state.nextWatch += 1
            state.watches[id.number] = Watch(
                id: id, query: query, sub: sub, deliver: deliver, songs: top.songs, due: due)
            return id
        }
        id.delivered.sent(message.count)
        return (id, message)
    }

    /// Ends a watch; one more message may still arrive.
    package func unwatch(_ watch: WatchID) {
        state.withLock { $0.watches[watch.number] = nil }
        watch.taken()
    }

    /// Answers a question.
    package func answer(_ query: TrendingQuery) async throws(RoomFailure) -> TopAnswer {
        if let place = query.place {
            try await rooms.top(near: place, query.window, byArtist: false, limit: query.limit)
        } else {
            try await rooms.top(query.window, byArtist: false, limit: query.limit)
        }
    }

    /// Tells watchers of changes until cancellation; call once.
    func run() async {
        while !Task.isCancelled {
            await clock.sleep(for: .seconds(1))
            await tell()
        }
    }

    private func tell() async {
        let now = clock.milliseconds
        let due = state.withLock { state in
            state.watches.values.filter { $0.due <= now && $0.id.delivered.takesMore }
        }
        for watch in due.sorted(by: { ($0.due, $0.id.number) < ($1.due, $1.id.number) }) {
            guard let top = try? await answer(watch.query) else { continue }
            let next = clock.milliseconds + Self.interval
            let isNews = state.withLock { state in
                guard state.watches[watch.id.number] != nil else { return false }
                state.watches[watch.id.number]?.due = next
                state.watches[watch.id.number]?.songs = top.songs
                return top.songs != watch.songs
            }
            guard isNews else { continue }
            let message = ServerMessage.trendingDelta(sub: watch.sub, top)
            watch.id.delivered.sent(message.count)
            watch.deliver(watch.id, message)
        }
    }
}
