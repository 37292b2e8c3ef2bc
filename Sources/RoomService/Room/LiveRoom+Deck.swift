import NIOCore
package import RoomDomain
import RoomWire

/// The deck of a room: the device that plays, as far as this server knows.
struct RoomDeck {
    /// The connection here that has the newest claim of this server.
    struct Holder: Equatable {
        var connection: ConnectionID
        var session: SessionID
        var member: MemberID
    }

    /// The holder of this server's claim; nil if it has none.
    var holder: Holder?
    /// The newest claim of all servers.
    var newest: DeckTable.Claim?
    /// The deck that all followers were told.
    var shown: MemberID?
    /// The connection that was told that it is the deck.
    var shownAt: ConnectionID?
    /// Limits the claims of each member.
    var limit = ReactionLimit()

    /// The deck as a connection is told.
    func told(to connection: ConnectionID) -> ShownDeck? {
        shown.map { ShownDeck(member: $0, isHere: shownAt == connection) }
    }
}

/// The claims to be the deck: held in memory, ended with the connection or the role, and told to other servers.
extension LiveRoom {
    /// Makes a connection the deck, or ends that; `reply` is called once, on the room's loop.
    package func claimDeck(
        _ isOn: Bool, by session: SessionID, on connection: ConnectionID,
        _ reply: @escaping @Sendable (EphemeralOutcome) -> Void
    ) {
        asMember(session, .deck, reply) { room, member in
            room.claimDeck(isOn, by: member, of: session, on: connection)
        }
    }

    private func claimDeck(
        _ isOn: Bool, by member: MemberID, of session: SessionID, on connection: ConnectionID
    ) -> EphemeralOutcome {
        guard mayBeDeck(member) else { return .failed(.refused(.forbidden("only the owner or a DJ may be the deck"))) }
        guard audience.follows(connection) else {
            return .failed(.refused(.conflict("this connection is not subscribed to the room")))
        }
        let isHolder = deck.holder?.connection == connection
        guard isOn != isHolder else { return .done }
        guard isOn else {
            endClaim()
            return .done
        }
        if let wait = deck.limit.take(member, at: loop.now) {
            return .rateLimited(retryAfterMs: Int(wait.nanoseconds / 1_000_000) + 1)
        }
        // Later than every claim that this server knows, whatever the clocks say.
        var now = dependencies.clock.now
        if let newest = deck.newest { now.milliseconds = max(now.milliseconds, newest.at.milliseconds + 1) }
        deck.holder = RoomDeck.Holder(connection: connection, session: session, member: member)
        deck.newest = dependencies.presence.set(DeckClaim(room: id, member: member, at: now))
        reviewDeck()
        return .done
    }

    /// Ends this server's claim, if it has one.
    func endClaim() {
        guard deck.holder != nil else { return }
        deck.holder = nil
        deck.newest = dependencies.presence.set(DeckClaim(room: id, member: nil, at: dependencies.clock.now))
        reviewDeck()
    }

    /// Another server has reported a change of its claims.
    func readDeck() {
        deck.newest = dependencies.presence.deck(of: id)
        reviewDeck()
    }

    /// Ends this server's claim where it does not hold any more, and tells the followers of a change.
    ///
    /// It is called after every change of claims, of connections and of roles, and is cheap while there is no claim.
    func reviewDeck() {
        guard deck.newest != nil || deck.shown != nil else { return }
        if let holder = deck.holder, !holds(holder) { return endClaim() }
        let member = deck.newest.flatMap { mayBeDeck($0.member) ? $0.member : nil }
        let connection = member == nil ? nil : deck.holder?.connection
        guard member != deck.shown || connection != deck.shownAt else { return }
        // Where the member has only changed the device, the others learn nothing new.
        let concerned = member == deck.shown ? Set([connection, deck.shownAt].compactMap { $0 }) : nil
        deck.shown = member
        deck.shownAt = connection
        guard !audience.isEmpty else { return }
        let others = member.map { ShownDeck(member: $0, isHere: false) }
        var change = DeckChange(room: id, message: ServerMessage.deck(room: id, others), concerned: concerned)
        if let member, let connection {
            change.here = DeckChange.Here(
                connection: connection,
                message: ServerMessage.deck(room: id, ShownDeck(member: member, isHere: true)))
        }
        for feed in audience.feeds { feed.tell(.deck(change)) }
    }

    /// Whether this server's claim is the newest, and its connection and role are still there.
    private func holds(_ holder: RoomDeck.Holder) -> Bool {
        deck.newest?.node == nil && audience.follows(holder.connection) && mayBeDeck(holder.member)
            && confirmed.memberOfSession[holder.session] == holder.member
    }

    private func mayBeDeck(_ member: MemberID) -> Bool {
        guard confirmed.isOpen, let role = confirmed.members[member]?.role else { return false }
        switch role {
        case .owner, .dj: return true
        case .guest: return false
        }
    }
}
