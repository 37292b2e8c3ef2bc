import RoomDomain
import RoomService
import RoomWire
import WebSocketCodec

/// A room that a connection follows, and the connection's place among its followers.
struct FollowedRoom {
    let followers: RoomFollowers<WebSocketConnection>
    var place: Int
}

extension WebSocketConnection {
    /// The most rooms that one socket may follow.
    static let followedRoomsLimit = 256

    /// Whether a room is followed.
    func follows(_ room: RoomID) -> Bool { followed.contains { $0.followers.room == room } }

    /// Whether events of a followed room were left out.
    func lacksDeltas(of room: RoomID) -> Bool {
        followed.contains { $0.followers.room == room && $0.followers.leftOutFrom(at: $0.place) != nil }
    }

    /// Whether an answer replaces left-out events that the connection has been given in another way since.
    func isLate(_ subscription: Subscription) -> Bool {
        guard let from = subscription.leftOutFrom else { return false }
        return !followed.contains {
            $0.followers.room == subscription.room && $0.followers.leftOutFrom(at: $0.place) == from
        }
    }

    /// Whether a followed room was asked for again.
    func awaitsAnswer(of room: RoomID) -> Bool {
        followed.contains { $0.followers.room == room && $0.followers.awaitsAnswer(at: $0.place) }
    }

    /// Whether the log of a followed room was replaced, so that only a snapshot may come next.
    func mustBeginAnew(_ room: RoomID) -> Bool {
        followed.contains { $0.followers.room == room && $0.followers.beginsAnew(at: $0.place) }
    }

    /// Records that events of a followed room from `seq` on are not sent.
    func leaveOut(from seq: Int, of room: RoomID) {
        guard let place = followed.first(where: { $0.followers.room == room }) else { return }
        place.followers.leaveOut(from: seq, at: place.place)
    }

    /// Forgets a room, drops its waiting messages, and returns the place that has become free.
    func endFollowing(_ room: RoomID) -> FollowedRoom? {
        guard let index = followed.firstIndex(where: { $0.followers.room == room }) else { return nil }
        let ended = followed.remove(at: index)
        dropQueued(of: room)
        return ended
    }

    // MARK: Subscriptions

    /// Asks to follow a room; later messages wait for the answer, so that all are handled in order.
    func subscribe(to room: RoomID, id request: Int64?, position: Position? = nil) {
        guard follows(room) || followed.count < Self.followedRoomsLimit else {
            let text = "a socket follows at most \(Self.followedRoomsLimit) rooms"
            return send(ServerMessage.error(re: request, code: .limitReached, message: text, retryAfterMs: nil))
        }
        guard account.takes(WaitingBytes.step) else {
            // Another state would have to wait behind the bytes that wait already.
            guard !isEntering else { return close(.tryAgainLater, "too many bytes wait to be sent") }
            let text = "too many bytes wait to be sent"
            return send(ServerMessage.error(re: request, code: .rateLimited, message: text, retryAfterMs: 1_000))
        }
        requests.wait()
        if let place = followed.first(where: { $0.followers.room == room }) {
            place.followers.awaitAnswer(place.place)
        }
        loop.rooms.registry.subscribe(
            SubscriptionRequest(
                connection: id, session: session.id, .begin(id: request, from: position),
                takesCompressed: compression.isOn, feed: hub.feed),
            to: room)
    }

    /// The room accepts the subscription; its answer comes before all later events.
    func subscriptionBegan(_ subscription: Subscription, followers: RoomFollowers<WebSocketConnection>) {
        isEntering = false
        let place: Int
        if let known = followed.first(where: { $0.followers === followers }) {
            place = known.place
            // The answer contains all that waits.
            dropQueued(of: followers.room)
            followers.restart(place, seq: subscription.seq)
        } else {
            place = followers.add(self, seq: subscription.seq)
            followed.append(FollowedRoom(followers: followers, place: place))
        }
        if !subscription.isWhole { followers.awaitRest(place, behind: subscription.seq) }
        if !subscription.isCatchUp { charge(answerOf: subscription.messages.reduce(0) { $0 + $1.count }) }
        for message in subscription.messages { send(message) }
        if subscription.isCatchUp, subscription.isSnapshot { loop.tally.collapses += 1 }
        if subscription.isCatchUp { caughtUp() } else { answered() }
    }

    /// The room refuses the subscription, or could not be found.
    func subscriptionRefused(_ request: SubscriptionRequest, because failure: RoomFailure) {
        // The client unsubscribed while the room made the answer, so nothing waits for it.
        if request.isCatchUp, let catchingUp, !lacksDeltas(of: catchingUp) { return caughtUp() }
        let failure = CommandFailure(ofSubscription: failure)
        send(
            ServerMessage.error(
                re: request.id, code: failure.code, message: failure.detail, retryAfterMs: failure.retryAfterMs))
        if isEntering { closeOwnRoom(because: failure.code) }
        guard !request.isCatchUp else {
            // The next event tries again, unless the room is found to have ended.
            catchingUp = nil
            return
        }
        for place in followed { place.followers.answerRefused(place.place) }
        answered()
    }

    /// The server ends a subscription.
    func subscriptionEnded(_ room: RoomID, because code: ErrorCode) {
        send(ServerMessage.ended(room: room, code: code))
        if room == ownRoom { closeOwnRoom(because: code) }
    }

    private func closeOwnRoom(because code: ErrorCode) {
        switch code {
        case .banned: close(.banned, code.detail)
        case .notFound: close(.roomForgotten, code.detail)
        case .badRequest, .methodNotAllowed, .notAcceptable, .unsupportedMediaType, .unauthorized, .forbidden,
            .notMember, .conflict, .roomClosed, .tooLarge, .limitReached, .rateLimited, .internal, .unavailable:
            close(.tryAgainLater, code.detail)
        }
    }

    // MARK: Catching up

    /// Asks for a snapshot of a room whose events were left out, once all earlier output has been taken.
    func catchUp() {
        guard !followed.isEmpty, catchingUp == nil, !isWaitingToSend, isOpen else { return }
        for place in followed {
            guard let from = place.followers.leftOutFrom(at: place.place),
                !place.followers.awaitsAnswer(at: place.place)
            else { continue }
            catchingUp = place.followers.room
            let wish: SubscriptionRequest.Wish =
                if place.followers.beginsAnew(at: place.place) {
                    .anew
                } else if place.followers.awaitsRest(at: place.place) {
                    .rest(from: from)
                } else {
                    .collapse(from: from)
                }
            loop.rooms.registry.subscribe(
                SubscriptionRequest(
                    connection: id, session: session.id, wish, takesCompressed: compression.isOn, feed: hub.feed),
                to: place.followers.room)
            return
        }
    }

    /// The request for left-out events has been answered; the next room's turn comes when the answer is sent.
    func caughtUp() {
        catchingUp = nil
        catchUp()
    }
}

extension WebSocketConnection: RoomFollower {
    func moved(to place: Int, in room: RoomID) {
        guard let index = followed.firstIndex(where: { $0.followers.room == room }) else { return }
        followed[index].place = place
    }

    func leftOut(_ deltas: Int) {
        loop.tally.deltasLeftOut += deltas
        catchUp()
    }
}
