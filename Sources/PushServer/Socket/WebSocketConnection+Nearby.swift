import RoomService
import RoomWire

// The rooms near some points, as this connection is shown them (protocol, section 7).
extension WebSocketConnection {
    /// Where about so many bytes of lists are on their way to a connection, nothing more is said.
    private static let nearbyBytes = 32_768

    /// Begins to show the rooms near a point; what was begun with the same number before is over, whatever comes of this.
    func startNearby(_ query: NearbyQuery, id request: Int64) {
        stopNearby(request)
        do throws(CommandFailure) {
            let limit = loop.settings.maximumNearbyPerConnection
            guard nearby.count < limit else {
                throw CommandFailure(.limitReached, "at most \(limit) nearby subscriptions on one connection")
            }
            try loop.admission.search(of: session.id)
        } catch {
            if error.code == .rateLimited { loop.tally.messagesRateLimited += 1 }
            return fail(request, error)
        }
        isWaiting = true
        let (feed, connection) = (hub.feed, id)
        let isStarted = loop.rooms.nearby.refresh { isKnown in
            feed.onSocket(connection) { $0.nearbyIsRefreshed(isKnown, query, id: request) }
        }
        if !isStarted { nearbyIsRefreshed(false, query, id: request) }
    }

    private func nearbyIsRefreshed(_ isKnown: Bool, _ query: NearbyQuery, id request: Int64) {
        if isKnown { showNearby(query, id: request) } else { fail(request, CommandFailure(RoomFailure.unavailable)) }
        answered()
    }

    /// On the loop from the first list to its answer: changes come over the loop as well, and so behind it.
    private func showNearby(_ query: NearbyQuery, id request: Int64) {
        stopNearby(request)
        let (feed, connection) = (hub.feed, id)
        let client = nearbyClient ?? NearbyClient(limit: min(Self.nearbyBytes, loop.settings.maximumOutgoingBytes / 4))
        nearbyClient = client
        let (watch, rooms) = loop.rooms.nearby.watch(query, sub: request, of: client) { watch, message in
            feed.onSocket(connection) { $0.nearbyChanged(watch, sub: request, message) }
        }
        nearby[request] = watch
        send(ServerMessage.nearby(re: request, rooms: rooms))
        nearbyBehind.append(watch)
        goOnNearby()
    }

    private func nearbyChanged(_ watch: NearbyRooms.WatchID, sub: Int64, _ message: [UInt8]) {
        guard nearby[sub] == watch else { return }
        guard sendIfTaken(message) else { return }
        nearbyBehind.append(watch)
        goOnNearby()
    }

    /// Lets those be told more whose last message was taken, as far as the peer takes what it is given.
    func goOnNearby() {
        guard takesAnswers, !nearbyBehind.isEmpty else { return }
        for watch in nearbyBehind { loop.rooms.nearby.taken(watch) }
        nearbyBehind.removeAll()
    }

    /// Ends what was begun with a number; nothing changes where nothing was.
    func stopNearby(_ sub: Int64) {
        guard let watch = nearby.removeValue(forKey: sub) else { return }
        loop.rooms.nearby.unwatch(watch)
    }

    private func fail(_ request: Int64, _ failure: CommandFailure) {
        send(
            ServerMessage.error(
                re: request, code: failure.code, message: failure.detail, retryAfterMs: failure.retryAfterMs))
    }
}
