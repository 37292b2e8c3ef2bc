import RoomWire

/// A client's view of presence, reactions and signals, written from the protocol only.
struct EphemeralFold: Sendable {
    private(set) var online = 0
    /// The online members; nil if they are not known.
    private(set) var members: Set<Int64>?
    private(set) var frames = 0
    /// The deck's member; nil if there is none.
    private(set) var deck: Int64?
    /// Whether this client is the deck.
    private(set) var isDeck = false
    /// The number of messages about the deck.
    private(set) var decks = 0
    /// The sender and the emoji of each reaction.
    private(set) var reactions: [String] = []
    /// The sender and the data of each signal.
    private(set) var signals: [String] = []
    /// The text of each signal.
    private(set) var signalTexts: [String] = []
    private(set) var complaints: [String] = []

    /// Handles a text message; deltas have no effect here.
    mutating func receive(_ bytes: [UInt8]) {
        guard let message = try? JSONValue(parsing: bytes).object else { return complaints.append("no JSON") }
        switch message["type"]?.string {
        case "snapshot", "resumed":
            let presence = message["presence"]?.object
            online = Int(presence?["online"]?.integer ?? -1)
            members = presence?["members"].map(Self.members)
            expectMembers()
            (deck, isDeck) = (message["deck"]?.integer, message["here"]?.bool ?? false)
        case "deck":
            decks += 1
            (deck, isDeck) = (message["member"]?.integer, message["here"]?.bool ?? false)
        case "presence":
            frames += 1
            online = Int(message["online"]?.integer ?? -1)
            guard let on = message["on"], let off = message["off"] else {
                members = nil
                return
            }
            for list in [on, off] where list.array.map({ $0.compactMap(\.integer) }) != Self.members(list).sorted() {
                complaints.append("not ascending: \(list)")
            }
            members = (members ?? []).union(Self.members(on)).subtracting(Self.members(off))
            expectMembers()
        case "reaction":
            reactions.append("\(message["from"]?.integer ?? 0) \(message["emoji"]?.string ?? "")")
        case "signal":
            signalTexts.append(String(decoding: bytes, as: UTF8.self))
            signals.append("\(message["from"]?.integer ?? 0) \(message["data"]?.string ?? "")")
        default:
            break
        }
    }

    private mutating func expectMembers() {
        if let members, members.count != online { complaints.append("\(online) online, and these: \(members)") }
    }

    private static func members(_ list: JSONValue) -> Set<Int64> { Set((list.array ?? []).compactMap(\.integer)) }
}
