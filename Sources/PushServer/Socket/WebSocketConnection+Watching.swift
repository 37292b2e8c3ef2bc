import RoomDomain
import RoomService
import RoomStatistics
import RoomWire

// What this connection watches: rooms' counts, and what is played across rooms (protocol, section 8).
extension WebSocketConnection {
    /// While about this many bytes of one kind of watched things are on their way to a connection, no more changes are
    /// sent.
    private static let watchedBytes = 32_768
    /// The subscriptions of one connection to rooms' counts and to what is played, together.
    private static let mostStatistics = 16

    /// The bytes of one kind of watched things that may be on their way.
    var watchLimit: Int { min(Self.watchedBytes, loop.settings.sizes.maximumOutgoingBytes / 4) }

    /// Allows more changes for watches whose last message was taken, while the peer takes its answers.
    func tellWatched() {
        guard watches.areBehind, takesAnswers else { return }
        watches.taken()
    }

    /// Ends all watches.
    func stopWatching() {
        for watch in watches.nearby.endAll() { loop.rooms.nearby.unwatch(watch) }
        for watch in watches.counts.endAll() { loop.rooms.statistics?.countWatches.unwatch(watch) }
        for watch in watches.trends.endAll() { loop.rooms.statistics?.trendWatches.unwatch(watch) }
    }

    /// What is counted, if this connection may watch one thing more.
    private func statistics() throws(CommandFailure) -> StatisticsReader {
        guard let statistics = loop.rooms.statistics else {
            throw CommandFailure(.notFound, "this server counts nothing")
        }
        guard watches.ofStatistics < Self.mostStatistics else {
            throw CommandFailure(
                .limitReached, "at most \(Self.mostStatistics) subscriptions to statistics on one connection")
        }
        try loop.admission.search(by: asker)
        return statistics
    }

    /// A place for one watch more; nil if there is none, which the client is told.
    private func place(for request: Int64) -> WatchPlace?? {
        do throws(CommandFailure) {
            return .some(try loop.admission.watch(by: asker))
        } catch {
            refuse(request, error)
            return nil
        }
    }

    private func refuseWatch(_ request: Int64, _ failure: CommandFailure) {
        if failure.code == .rateLimited { loop.tally.messagesRateLimited += 1 }
        refuse(request, failure)
    }

    /// Asks a question; all later messages wait for its answer, which `answer` takes.
    private func ask<Answer: Sendable>(
        _ statistics: StatisticsReader,
        _ question: @escaping @Sendable () async throws(RoomFailure) -> Answer,
        _ answer: @escaping @Sendable (WebSocketConnection, Result<Answer, RoomFailure>) -> Void
    ) {
        requests.wait()
        let (feed, connection) = (hub.feed, id)
        let isAsked = statistics.start {
            let result: Result<Answer, RoomFailure>
            do throws(RoomFailure) {
                result = .success(try await question())
            } catch {
                result = .failure(error)
            }
            feed.onSocket(connection) { answer($0, result) }
        }
        if !isAsked { answer(self, .failure(.unavailable)) }
    }

    // MARK: A room's counts

    /// Starts to watch a room's counts; an earlier watch with the same number ends, even if the new one is refused.
    func startCounts(of room: RoomID, offset: Int, id request: Int64) {
        stopCounts(request)
        do throws(CommandFailure) {
            guard StatisticsQuery.offsets.contains(offset), offset % 15 == 0 else {
                throw CommandFailure(.badRequest, "offsetMinutes: expected a multiple of 15 from -840 to 840")
            }
            let statistics = try statistics()
            ask(statistics) { [asker] () async throws(RoomFailure) in
                try await statistics.countWatches.look(at: room, for: asker)
            } _: { socket, look in
                socket.showCounts(look, of: statistics, offset: offset, id: request)
            }
        } catch {
            refuseWatch(request, error)
        }
    }

    private func showCounts(
        _ look: Result<CountWatches.Look, RoomFailure>, of statistics: StatisticsReader, offset: Int, id request: Int64
    ) {
        switch look {
        case .success(let look):
            guard let place = place(for: request) else { break }
            let (feed, connection) = (hub.feed, id)
            let client = watches.counts.client(limit: watchLimit)
            let (watch, message) = statistics.countWatches.watch(look, offset: offset, sub: request, of: client) {
                watch, news in
                feed.onSocket(connection) { $0.countsChanged(watch, sub: request, news) }
            }
            watches.counts.begin(request, watch, place)
            send(message)
            tellWatched()
        case .failure(let failure): refuse(request, CommandFailure(failure))
        }
        answered()
    }

    private func countsChanged(_ watch: WatchID, sub: Int64, _ news: CountNews) {
        guard watches.counts.isCurrent(watch, sub) else { return }
        switch news {
        case .message(let message):
            guard sendIfTaken(message) else { return }
            watches.counts.sent(watch)
            tellWatched()
        case .ended(let failure):
            _ = watches.counts.end(sub)
            send(ServerMessage.statisticsEnd(sub: sub, code: CommandFailure(ofSubscription: failure).code))
        }
    }

    /// Ends the watch with this number; does nothing if there is none.
    func stopCounts(_ sub: Int64) {
        if let watch = watches.counts.end(sub) { loop.rooms.statistics?.countWatches.unwatch(watch) }
    }

    // MARK: What is played across rooms

    /// Starts to watch what is played; an earlier watch with the same number ends, even if the new one is refused.
    func startTrend(_ query: TrendingQuery, id request: Int64) {
        stopTrend(request)
        do throws(CommandFailure) {
            if let place = query.place, place.radiusMeters < AcrossRooms.leastRadius {
                throw CommandFailure(.badRequest, "radiusMeters: expected at least 1,000")
            }
            let statistics = try statistics()
            ask(statistics) { [asker] () async throws(RoomFailure) in
                try await statistics.trendWatches.answer(query, for: asker)
            } _: { socket, top in
                socket.showTrend(top, of: statistics, query, id: request)
            }
        } catch {
            refuseWatch(request, error)
        }
    }

    private func showTrend(
        _ top: Result<SharedTop, RoomFailure>, of statistics: StatisticsReader, _ query: TrendingQuery,
        id request: Int64
    ) {
        switch top {
        case .success(let top):
            guard let place = place(for: request) else { break }
            let (feed, connection) = (hub.feed, id)
            let client = watches.trends.client(limit: watchLimit)
            let (watch, message) = statistics.trendWatches.watch(
                query, top, sub: request, of: client, for: asker
            ) { watch, message in
                feed.onSocket(connection) { $0.trendChanged(watch, sub: request, message) }
            }
            watches.trends.begin(request, watch, place)
            send(message)
            tellWatched()
        case .failure(let failure): refuse(request, CommandFailure(failure))
        }
        answered()
    }

    private func trendChanged(_ watch: WatchID, sub: Int64, _ message: [UInt8]) {
        guard watches.trends.isCurrent(watch, sub), sendIfTaken(message) else { return }
        watches.trends.sent(watch)
        tellWatched()
    }

    /// Ends the watch with this number; does nothing if there is none.
    func stopTrend(_ sub: Int64) {
        if let watch = watches.trends.end(sub) { loop.rooms.statistics?.trendWatches.unwatch(watch) }
    }
}
