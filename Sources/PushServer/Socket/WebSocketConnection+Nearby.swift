import RoomService
import RoomWire

// The nearby subscriptions of this connection (protocol, section 7).
extension WebSocketConnection {
    /// While about this many bytes of lists are on their way to a connection, no more changes are sent.
    private static let nearbyBytes = 32_768

    /// Starts a nearby subscription; an earlier one with the same number ends, even if the new one is refused.
    func startNearby(_ query: NearbyQuery, id request: Int64) {
        stopNearby(request)
        do throws(CommandFailure) {
            let limit = loop.settings.rates.maximumNearbyPerConnection
            guard nearby.count < limit else {
                throw CommandFailure(.limitReached, "at most \(limit) nearby subscriptions on one connection")
            }
            try loop.admission.search(of: session.id)
        } catch {
            if error.code == .rateLimited { loop.tally.messagesRateLimited += 1 }
            return refuse(request, error)
        }
        requests.wait()
        let (feed, connection) = (hub.feed, id)
        let isStarted = loop.rooms.nearby.refresh { isKnown in
            feed.onSocket(connection) { $0.nearbyIsRefreshed(isKnown, query, id: request) }
        }
        if !isStarted { nearbyIsRefreshed(false, query, id: request) }
    }

    private func nearbyIsRefreshed(_ isKnown: Bool, _ query: NearbyQuery, id request: Int64) {
        if isKnown { showNearby(query, id: request) } else { refuse(request, CommandFailure(RoomFailure.unavailable)) }
        answered()
    }

    /// Stays on the loop from the first list to its answer: changes also arrive on the loop, and therefore after it.
    private func showNearby(_ query: NearbyQuery, id request: Int64) {
        stopNearby(request)
        let (feed, connection) = (hub.feed, id)
        let client = nearby.client(limit: min(Self.nearbyBytes, loop.settings.sizes.maximumOutgoingBytes / 4))
        let (watch, rooms) = loop.rooms.nearby.watch(query, sub: request, of: client) { watch, message in
            feed.onSocket(connection) { $0.nearbyChanged(watch, sub: request, message) }
        }
        nearby.begin(request, watch)
        send(ServerMessage.nearby(re: request, rooms: rooms))
        goOnNearby()
    }

    private func nearbyChanged(_ watch: NearbyRooms.WatchID, sub: Int64, _ message: [UInt8]) {
        guard nearby.isCurrent(watch, sub), sendIfTaken(message) else { return }
        nearby.sent(watch)
        goOnNearby()
    }

    /// Allows more changes for subscriptions whose last message was taken, while the peer takes its answers.
    func goOnNearby() {
        guard nearby.isBehind, takesAnswers else { return }
        for watch in nearby.takeBehind() { loop.rooms.nearby.taken(watch) }
    }

    /// Ends the subscription with this number; does nothing if there is none.
    func stopNearby(_ sub: Int64) {
        guard let watch = nearby.end(sub) else { return }
        loop.rooms.nearby.unwatch(watch)
    }

    /// Ends all nearby subscriptions.
    func stopNearby() {
        for watch in nearby.endAll() { loop.rooms.nearby.unwatch(watch) }
    }
}
