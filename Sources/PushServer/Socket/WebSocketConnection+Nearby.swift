import RoomService
import RoomWire

// The nearby subscriptions of this connection (protocol, section 7).
extension WebSocketConnection {
    /// Starts a nearby subscription; an earlier one with the same number ends, even if the new one is refused.
    func startNearby(_ query: NearbyQuery, id request: Int64) {
        stopNearby(request)
        do throws(CommandFailure) {
            let limit = loop.settings.rates.maximumNearbyPerConnection
            guard watches.nearby.count < limit else {
                throw CommandFailure(.limitReached, "at most \(limit) nearby subscriptions on one connection")
            }
            try loop.admission.search(by: asker)
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
        let place: WatchPlace?
        do throws(CommandFailure) {
            place = try loop.admission.watch(by: asker)
        } catch {
            return refuse(request, error)
        }
        let (feed, connection) = (hub.feed, id)
        let client = watches.nearby.client(limit: watchLimit)
        let (watch, rooms) = loop.rooms.nearby.watch(query, sub: request, of: client, for: asker) { watch, message in
            feed.onSocket(connection) { $0.nearbyChanged(watch, sub: request, message) }
        }
        watches.nearby.begin(request, watch, place)
        send(ServerMessage.nearby(re: request, rooms: rooms))
        tellWatched()
    }

    private func nearbyChanged(_ watch: WatchID, sub: Int64, _ message: [UInt8]) {
        guard watches.nearby.isCurrent(watch, sub), sendIfTaken(message) else { return }
        watches.nearby.sent(watch)
        tellWatched()
    }

    /// Ends the subscription with this number; does nothing if there is none.
    func stopNearby(_ sub: Int64) {
        guard let watch = watches.nearby.end(sub) else { return }
        loop.rooms.nearby.unwatch(watch)
    }
}
