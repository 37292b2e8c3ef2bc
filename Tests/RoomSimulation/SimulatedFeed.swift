import RoomDomain
import RoomService
import RoomWire
import Synchronization

/// Takes the place of a node's sockets: checks everything that a room shows, and brings it to the clients.
///
/// The check happens at the instant at which the room shows it.
final class SimulatedFeed: RoomFeed {
    /// News for a follower.
    enum News: Sendable {
        case moved(PublishedEvents)
        case shown(EphemeralMessage)
        case deckMoved(DeckChange)
        case began(Subscription, epoch: String)
        case refused(RefusedSubscription)
        case banned(SessionID, RoomID)
        case anew(RoomID)
    }

    private struct Interest {
        var room: RoomID
        var request: SubscriptionRequest
        /// The least count of keyed commands that the answer may tell.
        var keyed: Int
        /// Whether the room owes an answer to `request`.
        var isWaiting = true
        /// Whether the connection is closed.
        var hasGone = false
    }

    private let truth: Truth
    private let clock: ServerClock
    private let resumableEvents: Int
    private let mustResume: Bool
    private let logIsShared: Bool
    private let bring: @Sendable (News) -> Void
    private let interests = Mutex<[ConnectionID: Interest]>([:])

    init(
        truth: Truth, clock: ServerClock, resumableEvents: Int, mustResume: Bool, logIsShared: Bool,
        tell: @escaping @Sendable (News) -> Void
    ) {
        self.truth = truth
        self.clock = clock
        self.resumableEvents = resumableEvents
        self.mustResume = mustResume
        self.logIsShared = logIsShared
        self.bring = tell
    }

    /// Adds a connection that is about to follow a room, or to ask again.
    func add(_ request: SubscriptionRequest, to room: RoomID) {
        // A follower that does not ask may be told what the server knows.
        let keyed = request.wish.isCatchUp ? 0 : logIsShared ? truth.keyed(of: room) : truth.keyedShown(of: room)
        interests.withLock { $0[request.connection] = Interest(room: room, request: request, keyed: keyed) }
    }

    /// The room has learnt that a connection no longer follows.
    func gone(_ connection: ConnectionID) {
        interests.withLock { interests in
            // A request that is still unanswered may add it again.
            interests[connection]?.hasGone = true
            if interests[connection]?.isWaiting == false { interests[connection] = nil }
        }
    }

    /// Removes all connections: their requests retain this feed.
    func end() {
        interests.withLock { $0 = [:] }
    }

    /// The number of unanswered requests.
    var waiting: Int { interests.withLock { $0.values.count { $0.isWaiting } } }

    /// Records an answer, and returns the request.
    private func answered(_ request: ConnectionID) -> Interest? {
        let interest = interests.withLock { interests in
            let interest = interests[request]
            interests[request]?.isWaiting = false
            return interest
        }
        if interest?.isWaiting == false { truth.complain("a subscription is answered twice") }
        return interest
    }

    private func expectFollower(of room: RoomID, _ what: @autoclosure () -> String) {
        guard !interests.withLock({ interests in interests.values.contains { $0.room == room } }) else { return }
        truth.complain("\(what()) of \(room) come where nobody follows")
    }

    // MARK: RoomFeed

    func tell(_ news: RoomNews) {
        switch news {
        case .events(let update): roomMoved(update)
        case .message(let message): roomShows(message)
        case .deck(let change): deckMoved(change)
        case .signal(let signal): signalArrived(signal)
        case .subscribed(let subscription): subscriptionBegan(subscription)
        case .refused(let refused): subscriptionRefused(refused)
        case .banned(let session, from: let room): sessionBanned(session, from: room)
        case .replaced(let room): roomBegan(room)
        case .forgotten(let room): roomForgotten(room)
        }
    }

    private func roomMoved(_ update: PublishedEvents) {
        truth.check(update)
        expectFollower(of: update.room, "events \(update.from)…\(update.seq)")
        bring(.moved(update))
    }

    private func roomShows(_ message: EphemeralMessage) {
        expectFollower(of: message.room, "a message")
        bring(.shown(message))
    }

    private func deckMoved(_ change: DeckChange) {
        expectFollower(of: change.room, "a deck")
        bring(.deckMoved(change))
    }

    private func signalArrived(_ signal: RelayedSignal) {
        expectFollower(of: signal.room, "a signal")
    }

    private func subscriptionBegan(_ subscription: Subscription) {
        guard let interest = answered(subscription.connection) else {
            return truth.complain("a subscription begins that nobody asked for")
        }
        if subscription.room != interest.room { truth.complain("a subscription to another room") }
        let epoch = truth.check(
            subscription, for: interest.request, at: clock.now, resumableEvents: resumableEvents,
            mustResume: mustResume)
        let keyed = (try? JSONValue(parsing: subscription.messages[0].bytes).object)?["keyed"]?.integer.map(Int.init)
        truth.check(keyed: keyed, of: interest.room, atLeast: interest.keyed, mustBeKnown: mustResume)
        bring(.began(subscription, epoch: epoch))
    }

    private func subscriptionRefused(_ refused: RefusedSubscription) {
        guard let interest = answered(refused.connection) else {
            return truth.complain("a subscription is refused that nobody asked for")
        }
        // A connection that only asked for omitted deltas still follows.
        if !refused.wish.isCatchUp { interests.withLock { $0[refused.connection] = nil } }
        switch refused.failure {
        case .refused:
            if !truth.hasBanned(refused.session, from: interest.room) {
                truth.complain("a subscription to \(interest.room) is refused to who was never banned")
            }
        case .noSuchRoom:
            truth.complain("a subscription to \(interest.room) is refused, as if there were no such room")
        case .unavailable:
            break
        case .busy, .outcomeUnknown, .internalFault:
            truth.complain("a subscription to \(interest.room) is refused: \(refused.failure)")
        }
        bring(.refused(refused))
    }

    private func sessionBanned(_ session: SessionID, from room: RoomID) {
        if !truth.hasBanned(session, from: room) {
            truth.complain("subscriptions to \(room) end for who was never banned")
        }
        interests.withLock { interests in
            interests = interests.filter { interest in
                // A connection that waits for an answer gets one.
                interest.value.room != room || interest.value.request.session != session || interest.value.isWaiting
            }
        }
        bring(.banned(session, room))
    }

    private func roomBegan(_ room: RoomID) {
        expectFollower(of: room, "another log")
        bring(.anew(room))
    }

    private func roomForgotten(_ room: RoomID) {
        truth.complain("\(room) is forgotten")
    }
}
