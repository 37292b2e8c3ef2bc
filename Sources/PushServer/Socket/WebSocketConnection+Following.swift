import RoomDomain
import RoomService
import RoomWire
import WebSocketCodec

/// A room that a connection follows, and its place among those who do.
struct FollowedRoom {
    let followers: RoomFollowers<WebSocketConnection>
    var place: Int
}

extension WebSocketConnection {
    /// How many rooms one socket may follow.
    static let followedRoomsLimit = 256

    /// Whether a room is followed.
    func follows(_ room: RoomID) -> Bool { followed.contains { $0.followers.room == room } }

    /// Whether deltas of a followed room were left out.
    func lacksDeltas(of room: RoomID) -> Bool {
        followed.contains { $0.followers.room == room && $0.followers.leftOutFrom(at: $0.place) != nil }
    }

    /// Whether an answer is to what was left out before the connection was given the room otherwise.
    func isLate(_ subscription: Subscription) -> Bool {
        guard let from = subscription.collapsedFrom else { return false }
        return !followed.contains {
            $0.followers.room == subscription.room && $0.followers.leftOutFrom(at: $0.place) == from
        }
    }

    /// Whether a followed room was asked for once more.
    func awaitsAnswer(of room: RoomID) -> Bool {
        followed.contains { $0.followers.room == room && $0.followers.awaitsAnswer(at: $0.place) }
    }

    /// Whether a followed room's log is another one, so that nothing but a snapshot joins what it was given.
    func mustBeginAnew(_ room: RoomID) -> Bool {
        followed.contains { $0.followers.room == room && $0.followers.beginsAnew(at: $0.place) }
    }

    /// Notes that events of a followed room from `seq` on are not sent.
    func leaveOut(from seq: Int, of room: RoomID) {
        guard let place = followed.first(where: { $0.followers.room == room }) else { return }
        place.followers.leaveOut(from: seq, at: place.place)
    }

    /// Forgets a room, drops what waits of it, and returns the place that has become free.
    func endFollowing(_ room: RoomID) -> FollowedRoom? {
        guard let index = followed.firstIndex(where: { $0.followers.room == room }) else { return nil }
        let ended = followed.remove(at: index)
        dropQueued(of: room)
        return ended
    }

    // MARK: Subscriptions

    /// Asks to follow a room; later messages wait for the answer, so that all is done in the order in which it came.
    func subscribe(to room: RoomID, id request: Int64?, position: Position? = nil) {
        guard follows(room) || followed.count < Self.followedRoomsLimit else {
            let text = "a socket follows at most \(Self.followedRoomsLimit) rooms"
            return send(ServerMessage.error(re: request, code: .limitReached, message: text, retryAfterMs: nil))
        }
        guard account.takes(WaitingBytes.step) else {
            // A state would wait with what waits already.
            guard !isEntering else { return close(.tryAgainLater, "too much waits to be taken") }
            let text = "too many bytes wait to be taken"
            return send(ServerMessage.error(re: request, code: .rateLimited, message: text, retryAfterMs: 1_000))
        }
        isWaiting = true
        if let place = followed.first(where: { $0.followers.room == room }) {
            place.followers.awaitAnswer(place.place)
        }
        loop.rooms.registry.subscribe(
            SubscriptionRequest(
                connection: id, session: session.id, id: request, epoch: position?.epoch, seq: position?.seq,
                takesCompressed: compression.isOn, feed: hub.feed),
            to: room)
    }

    /// The room accepts; what it gives joins what it will bring.
    func subscriptionBegan(_ subscription: Subscription, followers: RoomFollowers<WebSocketConnection>) {
        isEntering = false
        let place: Int
        if let known = followed.first(where: { $0.followers === followers }) {
            place = known.place
            // What waits is in what it is given here.
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

    /// The room, or whoever looks for it, does not accept.
    func subscriptionRefused(_ request: SubscriptionRequest, because failure: RoomFailure) {
        // It was unsubscribed while the room made the answer: nobody asks any more.
        if request.isCatchUp, let catchingUp, !lacksDeltas(of: catchingUp) { return caughtUp() }
        let failure = CommandFailure(ofSubscription: failure)
        send(
            ServerMessage.error(
                re: request.id, code: failure.code, message: failure.detail, retryAfterMs: failure.retryAfterMs))
        if isEntering { closeOwnRoom(because: failure.code) }
        guard !request.isCatchUp else {
            // Tried again by the next event, or when the room is found ended.
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

    /// Asks for a snapshot of a room whose events were left out, once everything before it has been taken.
    func catchUp() {
        guard !followed.isEmpty, catchingUp == nil, !isWaitingToSend, isOpen else { return }
        for place in followed {
            guard let from = place.followers.leftOutFrom(at: place.place),
                !place.followers.awaitsAnswer(at: place.place)
            else { continue }
            catchingUp = place.followers.room
            let beginsAnew = place.followers.beginsAnew(at: place.place)
            let continues = place.followers.awaitsRest(at: place.place)
            loop.rooms.registry.subscribe(
                SubscriptionRequest(
                    connection: id, session: session.id, id: nil, seq: continues ? from - 1 : nil,
                    collapsedFrom: beginsAnew ? nil : from, beginsAnew: beginsAnew, continues: continues,
                    takesCompressed: compression.isOn, feed: hub.feed),
                to: place.followers.room)
            return
        }
    }

    /// What was asked for in place of left out events has been answered; the next room's turn comes when it is sent.
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
