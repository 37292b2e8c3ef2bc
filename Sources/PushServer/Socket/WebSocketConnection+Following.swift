import RoomDomain
import RoomService
import RoomWire
import WebSocketCodec

extension WebSocketConnection {
    /// The followed rooms.
    var followedRooms: [RoomID] { subscriptions.rooms }

    /// The number of followed rooms.
    var subscriptionCount: Int { subscriptions.count }

    /// Whether a room is followed.
    func follows(_ room: RoomID) -> Bool { subscriptions.follows(room) }

    /// Forgets a room and drops its waiting messages; returns the followers that the connection has left, nil if it did
    /// not follow.
    func endFollowing(_ room: RoomID) -> RoomFollowers<WebSocketConnection>? {
        guard let followers = subscriptions.end(room) else { return nil }
        dropQueued(of: room)
        return followers
    }

    // MARK: Subscriptions

    /// Asks to follow a room; later messages wait for the answer, so that all are handled in order.
    func subscribe(to room: RoomID, id request: Int64?, position: Position? = nil) {
        guard subscriptions.mayBegin(room) else {
            let text = "a socket follows at most \(Subscriptions<WebSocketConnection>.limit) rooms"
            return send(ServerMessage.error(re: request, code: .limitReached, message: text, retryAfterMs: nil))
        }
        guard account.takes(WaitingBytes.step) else {
            // Another state would have to wait behind the bytes that wait already.
            guard !subscriptions.isEntering else { return close(.tryAgainLater, "too many bytes wait to be sent") }
            let text = "too many bytes wait to be sent"
            return send(ServerMessage.error(re: request, code: .rateLimited, message: text, retryAfterMs: 1_000))
        }
        subscriptions.begin(room)
        requests.wait()
        ask(room, .begin(id: request, from: position))
    }

    private func ask(_ room: RoomID, _ wish: SubscriptionWish) {
        loop.rooms.registry.subscribe(
            SubscriptionRequest(
                connection: id, asker: asker, wish, takesCompressed: compression.isOn, feed: hub.feed),
            to: room)
    }

    /// The room accepts the subscription; its answer comes before all later events.
    ///
    /// `followers` gives the room's followers, which the connection joins if it does not follow yet.
    func subscriptionBegan(_ subscription: Subscription, joining followers: () -> RoomFollowers<WebSocketConnection>) {
        guard subscriptions.accept(subscription, for: self, joining: followers) else { return caughtUp() }
        // The answer contains all that waits.
        dropQueued(of: subscription.room)
        if !subscription.isCatchUp { charge(answerOf: subscription.messages.reduce(0) { $0 + $1.count }) }
        for message in subscription.messages { send(message) }
        if subscription.isCatchUp, subscription.isSnapshot { loop.tally.collapses += 1 }
        if subscription.isCatchUp { caughtUp() } else { answered() }
    }

    /// The room refuses the subscription, or could not be found.
    func subscriptionRefused(_ refused: RefusedSubscription) {
        let refusal = subscriptions.refused(refused.wish)
        if case .late = refusal { return caughtUp() }
        let failure = CommandFailure(ofSubscription: refused.failure)
        refuse(refused.wish.id, failure)
        if case .ofEntry = refusal { closeOwnRoom(because: failure.code) }
        if !refused.wish.isCatchUp { answered() }
    }

    /// The server ends a subscription.
    func subscriptionEnded(_ room: RoomID, because code: ErrorCode) {
        send(ServerMessage.ended(room: room, code: code))
        if room == subscriptions.ownRoom { closeOwnRoom(because: code) }
    }

    private func closeOwnRoom(because code: ErrorCode) {
        switch code {
        case .banned: close(.banned, code.detail)
        case .notFound: close(.roomForgotten, code.detail)
        case .badRequest, .methodNotAllowed, .notAcceptable, .unsupportedMediaType, .unauthorized, .forbidden,
            .notMember, .conflict, .roomClosed, .tooLarge, .limitReached, .rateLimited, .internal, .unavailable,
            .outcomeUnknown:
            close(.tryAgainLater, code.detail)
        }
    }

    // MARK: Catching up

    /// Asks for a snapshot of a room whose events were left out, once all earlier output has been taken.
    func catchUp() {
        guard isOpen, let (room, wish) = subscriptions.next() else { return }
        ask(room, wish)
    }

    /// The request for left-out events has been answered; the next room's turn comes when the answer is sent.
    private func caughtUp() {
        subscriptions.caughtUp()
        catchUp()
    }
}

extension WebSocketConnection: RoomFollower {
    func moved(to place: Int, in room: RoomID) { subscriptions.moved(to: place, in: room) }

    func leftOut(_ deltas: Int) {
        loop.tally.deltasLeftOut += deltas
        catchUp()
    }
}
