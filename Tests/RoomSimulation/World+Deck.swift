import RoomDomain
import RoomService
import RoomWire
import SimulatedTime

/// The deck of a room as one connection was told.
struct ToldDeck: Hashable {
    var member: MemberID
    var isHere: Bool

    /// Reads the members `member` and `here` of a message; nil if there is no deck.
    init?(_ message: [UInt8], member: String) {
        guard let object = try? JSONValue(parsing: message).object, let number = object[member]?.integer else {
            return nil
        }
        self.member = MemberID(rawValue: Int(number))
        isHere = object["here"]?.bool ?? false
    }
}

extension World {
    /// Makes a client's connection the deck, or ends that: mostly one of the owner or a DJ.
    func claimDeck(of room: RoomID) {
        let state = truth.roomState(room)
        let players = clients.filter { client in
            let role = state.memberOfSession[client.session.id].flatMap { state.members[$0]?.role }
            return !client.isLeaving && [.owner, .dj].contains(role) || dice.once(in: 10)
        }
        guard let owner = dice.element(of: players),
            let connection = owner.connections.first(where: { $0.room == room }), !connection.node.hasCrashed
        else { return }
        let isOn = !dice.once(in: 4)
        truth.note("\(owner.session.name) claims the deck of \(room) as \(connection.id.rawValue): \(isOn)")
        let (truth, isCalm) = (truth, plan.isCalm)
        connection.node.host.registry.claimDeck(isOn, in: room, by: owner.session.id, on: connection.id) { outcome in
            truth.note("the claim as \(connection.id.rawValue) is answered \(outcome)")
            switch outcome {
            case .done, .rateLimited, .failed(.refused), .failed(.unavailable): break
            case .failed(.noSuchRoom), .failed(.outcomeUnknown), .failed(.busy), .failed(.internalFault):
                if isCalm { truth.complain("a claim to be the deck is answered \(outcome)") }
            }
        }
    }

    /// Tells the clients at a server of a change.
    func deckMoved(_ change: DeckChange, _ node: SimulatedNode) {
        for client in clients {
            for place in client.connections.indices {
                let connection = client.connections[place]
                guard connection.node === node, connection.room == change.room, connection.isFollowing,
                    change.concerned?.contains(connection.id) ?? true
                else { continue }
                let message = change.here?.connection == connection.id ? change.here?.message : change.message
                client.connections[place].deck = ToldDeck(message ?? [], member: "member")
            }
        }
    }

    /// The first follower of a room that does not know the deck as it must be; nil if all know it.
    ///
    /// Servers that hear each other know the same deck; without a bus, each of them knows its own. The deck is one
    /// connection of the owner or a DJ, and it knows that.
    func missingAgreementOnDeck(of room: RoomID) -> String? {
        let state = truth.roomState(room)
        for group in plan.hasBus ? [nodes] : nodes.map({ [$0] }) {
            let told = clients.flatMap { client in
                client.connections
                    .filter { connection in connection.room == room && group.contains { $0 === connection.node } }
                    .map { (client: client, connection: $0) }
            }
            let decks = Set(told.map(\.connection.deck?.member))
            guard decks.count <= 1 else { return "followers of \(room) know the decks \(decks)" }
            let here = told.filter { $0.connection.deck?.isHere == true }
            guard let member = decks.first ?? nil else { continue }
            guard here.count == 1, state.memberOfSession[here[0].client.session.id] == member else {
                return "\(here.map(\.client.session.name)) are the deck of \(room), which is member \(member.rawValue)"
            }
            guard state.isOpen, [.owner, .dj].contains(state.members[member]?.role) else {
                return "member \(member.rawValue) is the deck of \(room) and may not be"
            }
        }
        return nil
    }
}
