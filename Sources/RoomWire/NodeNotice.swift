package import RoomDomain

/// A notice from one server to others over the bus between them; clients never see it.
///
/// Notices are hints and relays: they may be lost or late, and nothing durable depends on them. Each kind of notice is
/// a case here, written in ``write(into:)`` and read in ``init(type:_:)``. A server skips notices that only another
/// server's version knows.
/// one's version it skips.
package enum NodeNotice: Sendable, Equatable {
    /// Rooms have durable events up to these numbers.
    case moved([RoomID: Int])
    /// A session was ended by its owner.
    case sessionEnded(SessionID)
    /// Members came online or went offline at the sender.
    case presenceChanged([MemberChanges])
    /// The members online at the sender, in all rooms: one of several parts, counted from 0.
    case presenceList(part: Int, isLast: Bool, [OnlineMembers])
    /// The sender is alive; `sum` is the checksum of its online members (``OnlineMembers/sum(_:in:)``) and of its claims
    /// (``DeckClaim/sum``).
    case presenceBeat(sum: Int64)
    /// The sender asks for the list of members who are online at the recipient.
    case presenceWanted
    /// The sender stops: nobody is online there any more.
    case presenceEnded
    /// Claims to be the deck began or ended at the sender.
    case decksChanged([DeckClaim])
    /// The claims at the sender, in all rooms: one of several parts, counted from 0.
    case deckList(part: Int, isLast: Bool, [DeckClaim])
    /// A member shows something to everybody in a room.
    case reaction(RoomID, from: MemberID, emoji: String)
    /// A member sends data to another one, who is online at the recipient.
    case signal(RoomID, from: MemberID, to: MemberID, RelayedJSON)

    /// Writes the JSON object.
    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 128)
        writer.beginObject()
        write(into: &writer)
        writer.endObject()
        return writer.bytes
    }

    private func write(into writer: inout JSONWriter) {
        switch self {
        case .moved(let rooms):
            writer.member("type", "moved")
            writer.member("rooms", seqs: rooms.lazy.map { (room: $0.key, seq: $0.value) })
        case .sessionEnded(let session):
            writer.member("type", "sessionEnded")
            writer.member("session", session.uuid)
        case .presenceChanged(let changes):
            writer.member("type", "presenceChanged")
            writer.member("rooms", changes)
        case .presenceList(let part, let isLast, let rooms):
            writer.member("type", "presenceList")
            writer.member("part", part)
            writer.member("isLast", isLast)
            writer.member("rooms", rooms)
        case .presenceBeat(let sum):
            writer.member("type", "presenceBeat")
            writer.member("sum", sum)
        case .presenceWanted:
            writer.member("type", "presenceWanted")
        case .presenceEnded:
            writer.member("type", "presenceEnded")
        case .decksChanged(let claims):
            writer.member("type", "decksChanged")
            writer.member("rooms", claims)
        case .deckList(let part, let isLast, let claims):
            writer.member("type", "deckList")
            writer.member("part", part)
            writer.member("isLast", isLast)
            writer.member("rooms", claims)
        case .reaction(let room, let member, let emoji):
            writer.member("type", "reaction")
            writer.member("room", room.uuid)
            writer.member("from", id: member)
            writer.member("emoji", emoji)
        case .signal(let room, let member, let recipient, let data):
            writer.member("type", "signal")
            writer.member("room", room.uuid)
            writer.member("from", id: member)
            writer.member("to", id: recipient)
            // A string, because a nested value would be parsed as part of the notice: its numbers would change, and it
            // would add to the nesting.
            writer.member("data", String(decoding: data.text, as: UTF8.self))
        }
    }

    /// Reads a notice; nil if this program does not know its type.
    fileprivate init?(_ fields: JSONFields) throws(FieldViolation) {
        switch try fields.string("type") {
        case "moved": self = .moved(Dictionary(try fields.seqs("rooms").map { ($0.room, $0.seq) }) { $1 })
        case "sessionEnded": self = .sessionEnded(try fields.sessionID("session"))
        case "presenceChanged": self = .presenceChanged(try fields.elements("rooms", MemberChanges.init))
        case "presenceList":
            self = .presenceList(
                part: try fields.count("part"), isLast: try fields.bool("isLast"),
                try fields.elements("rooms", OnlineMembers.init))
        case "presenceBeat": self = .presenceBeat(sum: try fields.integer("sum"))
        case "presenceWanted": self = .presenceWanted
        case "presenceEnded": self = .presenceEnded
        case "decksChanged": self = .decksChanged(try fields.elements("rooms", DeckClaim.init))
        case "deckList":
            self = .deckList(
                part: try fields.count("part"), isLast: try fields.bool("isLast"),
                try fields.elements("rooms", DeckClaim.init))
        case "reaction":
            self = .reaction(try fields.roomID("room"), from: try fields.id("from"), emoji: try fields.string("emoji"))
        case "signal":
            guard let data = RelayedJSON(Array(try fields.string("data").utf8)) else {
                throw fields.violation("data", "JSON")
            }
            self = .signal(
                try fields.roomID("room"), from: try fields.id("from"), to: try fields.id("to"), data)
        default: return nil
        }
    }
}

/// One message between servers: the sender, and its notices in order.
package struct NodeEnvelope: Sendable, Equatable {
    /// The version of this format; messages of other versions are not read.
    private static let version: Int64 = 1

    /// The server that sends the message.
    package var sender: String
    /// The notices, in order.
    package var notices: [NodeNotice]

    package init(sender: String, notices: [NodeNotice]) {
        self.sender = sender
        self.notices = notices
    }

    /// Writes a message of notices that are already encoded.
    package static func encode(sender: String, notices: some Sequence<[UInt8]>) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("v", version)
        writer.member("from", sender)
        writer.name("notices")
        writer.beginArray()
        for notice in notices { writer.raw(notice) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    /// Reads a message; nil if it has another version, or is not a message at all.
    ///
    /// Notices of an unknown type and incomplete notices are left out.
    package init?(parsing text: [UInt8]) {
        guard let object = try? JSONValue(parsing: text).object else { return nil }
        let fields = JSONFields(object)
        guard (try? fields.integer("v")) == Self.version, let sender = try? fields.string("from"),
            let notices = try? fields.array("notices")
        else { return nil }
        self.sender = sender
        self.notices = notices.compactMap { notice in
            notice.object.flatMap { try? NodeNotice(JSONFields($0)) }
        }
    }
}
