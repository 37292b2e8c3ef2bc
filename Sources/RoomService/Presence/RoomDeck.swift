import NIOCore
import RoomDomain
import RoomWire

/// The deck of a room: the device that plays, as far as this server knows.
///
/// A claim is held in memory, ends with the connection, the role or a newer claim, and is told to the other servers. The
/// followers are told the newest claim of all servers, as long as its member may be the deck.
struct RoomDeck {
    /// The connection here that has this server's claim.
    struct Holder: Equatable {
        var connection: ConnectionID
        var session: SessionID
        var member: MemberID
    }

    private let room: RoomID
    private let registry: PresenceRegistry
    private let clock: ServerClock

    /// The holder of this server's claim; nil if it has none.
    private var holder: Holder?
    /// The newest claim of all servers.
    private var newest: DeckTable.Claim?
    /// The deck that all followers were told.
    private var shown: MemberID?
    /// The connection that was told that it is the deck.
    private var shownAt: ConnectionID?
    /// Limits the claims of each member.
    private var limit = ReactionLimit()

    init(of room: RoomID, registry: PresenceRegistry, clock: ServerClock) {
        self.room = room
        self.registry = registry
        self.clock = clock
    }

    /// The deck as a connection is told.
    func told(to connection: ConnectionID) -> ShownDeck? {
        shown.map { ShownDeck(member: $0, isHere: shownAt == connection) }
    }

    /// Makes a connection the deck, or ends that; returns also what the followers are told.
    mutating func claim(
        _ isOn: Bool, by claimant: Holder, in state: RoomState, _ audience: RoomAudience, at now: NIODeadline
    ) -> (outcome: EphemeralOutcome, change: DeckChange?) {
        guard mayBeDeck(claimant.member, in: state) else {
            return (.failed(.refused(.forbidden("only the owner or a DJ may be the deck"))), nil)
        }
        guard audience.follows(claimant.connection) else {
            return (.failed(.refused(.conflict("this connection is not subscribed to the room"))), nil)
        }
        guard isOn != (holder?.connection == claimant.connection) else { return (.done, nil) }
        guard isOn else { return (.done, end(in: state, audience)) }
        if let wait = limit.take(claimant.member, at: now) { return (.rateLimited(after: wait), nil) }
        // Later than every claim that this server knows, whatever the clocks say.
        var time = clock.now
        if let newest { time.milliseconds = max(time.milliseconds, newest.at.milliseconds + 1) }
        holder = claimant
        newest = registry.set(DeckClaim(room: room, member: claimant.member, at: time))
        return (.done, review(in: state, audience))
    }

    /// Ends this server's claim, if it has one; returns what the followers are told.
    mutating func end(in state: RoomState, _ audience: RoomAudience) -> DeckChange? {
        guard holder != nil else { return nil }
        holder = nil
        newest = registry.set(DeckClaim(room: room, member: nil, at: clock.now))
        return review(in: state, audience)
    }

    /// The same if a connection that no longer follows has it.
    mutating func end(of connection: ConnectionID, in state: RoomState, _ audience: RoomAudience) -> DeckChange? {
        holder?.connection == connection ? end(in: state, audience) : nil
    }

    /// Another server has reported a change of its claims; returns what the followers are told.
    mutating func read(in state: RoomState, _ audience: RoomAudience) -> DeckChange? {
        newest = registry.deck(of: room)
        return review(in: state, audience)
    }

    /// Ends this server's claim where it does not hold any more, and returns what the followers are told of a change.
    ///
    /// It is called after every change of claims, of connections and of roles, and is cheap while there is no claim.
    mutating func review(in state: RoomState, _ audience: RoomAudience) -> DeckChange? {
        guard newest != nil || shown != nil else { return nil }
        if let holder, !holds(holder, in: state, audience) { return end(in: state, audience) }
        let member = newest.flatMap { mayBeDeck($0.member, in: state) ? $0.member : nil }
        let connection = member == nil ? nil : holder?.connection
        guard member != shown || connection != shownAt else { return nil }
        // Where the member has only changed the device, the others learn nothing new.
        let concerned = member == shown ? Set([connection, shownAt].compactMap { $0 }) : nil
        shown = member
        shownAt = connection
        guard !audience.isEmpty else { return nil }
        let others = member.map { ShownDeck(member: $0, isHere: false) }
        var change = DeckChange(room: room, message: ServerMessage.deck(room: room, others), concerned: concerned)
        if let member, let connection {
            let here = ServerMessage.deck(room: room, ShownDeck(member: member, isHere: true))
            change.here = DeckChange.Here(connection: connection, message: here)
        }
        return change
    }

    /// Whether this server's claim is the newest, and its connection and role are still there.
    private func holds(_ holder: Holder, in state: RoomState, _ audience: RoomAudience) -> Bool {
        newest?.node == nil && audience.follows(holder.connection) && mayBeDeck(holder.member, in: state)
            && state.memberOfSession[holder.session] == holder.member
    }

    private func mayBeDeck(_ member: MemberID, in state: RoomState) -> Bool {
        guard state.isOpen, let role = state.members[member]?.role else { return false }
        switch role {
        case .owner, .dj: return true
        case .guest: return false
        }
    }
}
