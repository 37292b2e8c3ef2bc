import NIOCore
import RoomDomain
import RoomLog
import RoomWire

/// What a room knows of those who follow it, and tells them: connections, presence, the deck, reactions and signals.
///
/// It has no event loop. Each input returns the steps that its owner takes at once, in order. Invariants, which the tests
/// cite by number:
///
/// 1. News reach every feed that had a follower when it happened, also where it ends the last subscription there.
/// 2. A member whom presence names is a member by then: presence is reviewed after events are published.
/// 3. At most one alarm of each kind is set.
/// 4. A room without followers tells nobody anything.
struct RoomFollowing: ~Copyable {
    typealias Step = FollowingStep

    /// What a new follower is told beside the room's state.
    struct Told: Equatable {
        var presence: Presence
        var deck: ShownDeck?
    }

    private let id: RoomID
    private let clock: ServerClock
    private let registry: PresenceRegistry
    private let signals: SignalRelay
    private let metrics: RoomMetrics

    private var audience = RoomAudience()
    private var presence: LocalPresence
    private var deck: RoomDeck
    private var reactions = ReactionLimit()
    private var commands: ServerCommands

    init(of room: RoomID, _ dependencies: Dependencies) {
        id = room
        clock = dependencies.clock
        registry = dependencies.presence
        signals = dependencies.signals
        metrics = dependencies.metrics
        presence = LocalPresence(
            of: room, registry: registry, clock: clock, grace: dependencies.settings.presence.grace,
            isObserving: dependencies.observed != nil)
        deck = RoomDeck(of: room, registry: registry, clock: clock)
        commands = ServerCommands(registry: registry, beat: dependencies.settings.presence.beat)
    }

    /// Whether it has followers, or members in their grace period.
    var isFollowed: Bool { !audience.isEmpty || presence.hasGrace }

    /// Whether a connection follows.
    func follows(_ connection: ConnectionID) -> Bool { audience.follows(connection) }

    /// What a command is decided with.
    func sight(for command: RoomCommand, at now: NIODeadline) -> CommandDecider.Sight {
        CommandDecider.Sight(
            online: presence.online(for: command), lastSeen: presence.lastSeen, time: clock.now, now: now)
    }

    /// The current presence.
    var currentPresence: Presence { presence.current }

    /// What a new follower is told.
    mutating func told(to connection: ConnectionID) -> Told {
        Told(presence: presence.told(), deck: deck.told(to: connection))
    }

    // MARK: Followers

    /// Adds a connection before it is answered, so that the presence in its answer includes it.
    mutating func join(_ request: SubscriptionRequest, in room: borrowing RoomWriter, at now: NIODeadline) -> [Step] {
        audience.add(request.connection, session: request.session, feed: request.feed)
        guard let member = room.confirmed.memberOfSession[request.session] else { return [] }
        presence.endGrace(of: member)
        return reviewPresence(of: CollectionOfOne(member), in: room, at: now)
    }

    /// Removes a connection, if it follows.
    ///
    /// A member whose last connection here was lost stays online for the grace period.
    mutating func leave(
        _ connection: ConnectionID, because end: SubscriptionEnd, in room: borrowing RoomWriter, at now: NIODeadline
    ) -> [Step] {
        guard let session = audience.remove(connection), let member = room.confirmed.memberOfSession[session] else {
            return []
        }
        var steps = tell(deck.end(of: connection, in: room.confirmed, audience))
        if end == .lost, !audience.isConnected(session) {
            presence.beginGrace(of: member, at: now)
            steps += setGraceEnd()
        }
        return steps + reviewPresence(of: CollectionOfOne(member), in: room, at: now)
    }

    // MARK: Durable events

    /// The members whose membership events have begun or ended.
    ///
    /// It is called before the events are published, and ``review(_:in:at:)`` after that.
    mutating func members(concernedBy events: [RecordedEvent], in room: borrowing RoomWriter) -> Set<MemberID> {
        var concerned: Set<MemberID> = []
        for event in events {
            switch event.event.membershipChange {
            case .began(let session):
                if let member = room.confirmed.memberOfSession[session] { concerned.insert(member) }
            case .ended(let member):
                presence.endGrace(of: member)
                concerned.insert(member)
            case nil: break
            }
        }
        return concerned
    }

    /// Shows durable events, and ends the subscriptions of sessions that they ban.
    mutating func publish(_ events: [RecordedEvent]) -> [Step] {
        guard !audience.isEmpty, !events.isEmpty else { return [] }
        let feeds = FeedList(audience.feeds)
        let shown = PublishedEvents.parts(of: events, in: id).map { Step.tell(.events($0), feeds) }
        var banned: Set<SessionID> = []
        for case .memberBanned(_, _, let session, _, _, _) in events.map(\.event) { banned.insert(session) }
        return banned.isEmpty ? shown : shown + ban(banned)
    }

    private mutating func ban(_ sessions: Set<SessionID>) -> [Step] {
        audience.remove(sessions).map { .tell(.banned($0.key, from: id), FeedList($0.value)) }
    }

    /// Looks at these members, at the deck and at the owner, after events or a look at the log.
    mutating func review(_ members: some Sequence<MemberID>, in room: borrowing RoomWriter, at now: NIODeadline)
        -> [Step]
    {
        reviewPresence(of: members, in: room, at: now) + tell(deck.review(in: room.confirmed, audience))
            + reviewOwner(in: room, at: now) + observe(room)
    }

    mutating func observe(_ room: borrowing RoomWriter) -> [Step] { presence.observe(room.confirmed) ? [.observe] : [] }

    /// Takes what was observed of the listeners here.
    mutating func takeObserved() -> (minutes: [Int: AudienceTally.Minute], isQuiet: Bool) { presence.takeObserved() }

    // MARK: The room's life

    /// Begins with a room that was loaded.
    mutating func begin(in room: borrowing RoomWriter, at now: NIODeadline) -> [Step] {
        reviewPresence(of: registry.elsewhere(in: id), in: room, at: now) + readDeck(in: room)
            + reviewOwner(in: room, at: now)
    }

    /// The log was replaced: drops what was known of the other one, and tells all followers, who begin anew.
    ///
    /// ``reviewAll(in:at:)`` is called after that.
    mutating func replaced(by room: borrowing RoomWriter) -> [Step] {
        presence.replaced()
        let time = clock.now
        let refused = audience.sessions.filter { room.confirmed.refusal(of: $0, at: time) != nil }
        let bans = ban(Set(refused))
        let feeds = FeedList(audience.feeds)
        return feeds.isEmpty ? bans : bans + [.tell(.replaced(id), feeds)]
    }

    /// Looks at everybody anew.
    mutating func reviewAll(in room: borrowing RoomWriter, at now: NIODeadline) -> [Step] {
        let connected = audience.sessions.compactMap { room.confirmed.memberOfSession[$0] }
        return review(
            presence.online.union(connected).union(registry.elsewhere(in: id)), in: room, at: now)
    }

    /// The room no longer exists: all subscriptions end.
    mutating func forgotten(_ room: borrowing RoomWriter, at now: NIODeadline) -> [Step] {
        let feeds = FeedList(audience.feeds)
        audience = RoomAudience()
        let ends: [Step] = feeds.isEmpty ? [] : [.tell(.forgotten(id), feeds)]
        let change = deck.end(in: room.confirmed, audience)
        return ends + tell(change) + steps(after: presence.forgotten(room.confirmed, audience), in: room, at: now)
    }

    // MARK: Presence

    /// Finds out whether members are online.
    private mutating func reviewPresence(
        of members: some Sequence<MemberID>, in room: borrowing RoomWriter, at now: NIODeadline
    ) -> [Step] {
        steps(after: presence.review(members, in: room.confirmed, audience), in: room, at: now)
    }

    private mutating func steps(
        after change: LocalPresence.Change?, in room: borrowing RoomWriter, at now: NIODeadline
    ) -> [Step] {
        guard let change else { return [] }
        let frame = setFrame() + observe(room)
        guard change != .nothing else { return frame }
        return frame
            + commands.countSkipVotes(
                in: room.confirmed, online: presence.online, someCameBack: change == .more, at: now)
            + reviewOwner(in: room, at: now)
    }

    private mutating func setFrame() -> [Step] {
        presence.nextFrame(isFollowed: !audience.isEmpty).map { [.set(.frame, at: $0)] } ?? []
    }

    private mutating func setGraceEnd() -> [Step] {
        presence.nextEndOfGrace().map { [.set(.graceEnd, at: $0)] } ?? []
    }

    /// Looks whether the owner is to be replaced.
    private mutating func reviewOwner(in room: borrowing RoomWriter, at now: NIODeadline) -> [Step] {
        commands.reviewOwner(of: room.confirmed, online: presence.online, isFollowed: isFollowed, at: now)
    }

    /// An alarm has rung.
    mutating func rang(_ alarm: RoomAlarm, in room: borrowing RoomWriter, at now: NIODeadline) -> [Step] {
        switch alarm {
        case .frame:
            guard let frame = presence.takeFrame(isFollowed: !audience.isEmpty, at: now) else { return setFrame() }
            metrics.presenceFrameMade()
            let change = frame.isCountOnly ? nil : (on: frame.on, off: frame.off)
            return show(ServerMessage.presence(room: id, online: frame.online, change: change), as: .presence)
        case .graceEnd:
            return reviewPresence(of: presence.endGrace(at: now), in: room, at: now) + setGraceEnd()
        case .skipCount:
            return commands.countAgain(in: room.confirmed, online: presence.online, isFollowed: isFollowed, at: now)
        case .owner:
            return commands.lookAgain(at: room.confirmed, online: presence.online, isFollowed: isFollowed, at: now)
        }
    }

    // MARK: The deck, reactions, signals

    private mutating func readDeck(in room: borrowing RoomWriter) -> [Step] {
        tell(deck.read(in: room.confirmed, audience))
    }

    private func tell(_ change: DeckChange?) -> [Step] {
        change.map { [.tell(.deck($0), FeedList(audience.feeds))] } ?? []
    }

    private func show(_ message: [UInt8], as kind: EphemeralMessage.Kind) -> [Step] {
        audience.isEmpty
            ? [] : [.tell(.message(EphemeralMessage(room: id, kind: kind, message: message)), FeedList(audience.feeds))]
    }

    /// Does what a session asks for, or refuses it.
    mutating func perform(
        _ request: EphemeralRequest, by session: SessionID, in room: borrowing RoomWriter, at now: NIODeadline
    ) -> (outcome: EphemeralOutcome, steps: [Step]) {
        if room.condition == .forgotten { return (.failed(.noSuchRoom), []) }
        if let refusal = room.confirmed.refusal(of: session, at: clock.now) { return (.failed(.refused(refusal)), []) }
        guard room.confirmed.isOpen else { return (.failed(.refused(.roomClosed)), []) }
        guard let member = room.confirmed.memberOfSession[session] else {
            return (.failed(.refused(.notMember)), [])
        }
        switch request {
        case .reaction(let emoji):
            if let wait = reactions.take(member, at: now) { return (.rateLimited(after: wait), []) }
            let shown = show(ServerMessage.reaction(room: id, from: member, emoji: emoji), as: .reaction)
            return (.done, shown + [.relay(.reaction(id, from: member, emoji: emoji), to: nil)])
        case .signal(let data, let recipient):
            let signal = SignalRelay.Signal(room: id, data: data, sender: member, recipient: recipient)
            let other = room.confirmed.members[recipient]?.session
            let (outcome, route) = signals.send(
                signal, of: session, to: other, isHere: other.map(audience.isConnected) ?? false, at: now)
            let notice = NodeNotice.signal(id, from: member, to: recipient, data)
            return (outcome, tell(route.here) + route.servers.map { .relay(notice, to: $0) })
        case .claimDeck(let isOn, let connection):
            let claimant = RoomDeck.Holder(connection: connection, session: session, member: member)
            let (outcome, change) = deck.claim(isOn, by: claimant, in: room.confirmed, audience, at: now)
            return (outcome, tell(change))
        }
    }

    private func tell(_ signal: RelayedSignal?) -> [Step] {
        signal.map { [.tell(.signal($0), FeedList(audience.feeds))] } ?? []
    }

    /// Another server has reported something of the room's members.
    mutating func heard(_ report: PeerReport, in room: borrowing RoomWriter, at now: NIODeadline) -> [Step] {
        switch report {
        case .presence(let members): return reviewPresence(of: members, in: room, at: now)
        case .deck: return readDeck(in: room)
        case .reaction(let emoji, from: let member):
            reactions.count(member, at: now)
            return show(ServerMessage.reaction(room: id, from: member, emoji: emoji), as: .reaction)
        case .signal(let data, from: let sender, to: let recipient):
            let signal = SignalRelay.Signal(room: id, data: data, sender: sender, recipient: recipient)
            guard let session = room.confirmed.members[recipient]?.session, audience.isConnected(session),
                let arrived = signals.arrived(signal, for: session)
            else {
                signals.noteLost()
                return []
            }
            return tell(arrived)
        }
    }
}
