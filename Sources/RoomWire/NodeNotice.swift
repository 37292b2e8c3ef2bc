package import RoomDomain

/// What one server tells others over the bus between them; no client ever sees it.
///
/// Notices are hints and relays: they may be lost or come late, and nothing durable rests on them. A kind of notice is
/// a case here, with its two halves in ``write(into:)`` and ``init(type:_:)``. What one server does not know of another
/// one's version it skips.
package enum NodeNotice: Sendable, Equatable {
    /// Rooms have durable events up to these numbers.
    case moved([RoomID: Int])
    /// A session was ended by its owner.
    case sessionEnded(SessionID)

    /// The JSON object.
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
            writer.name("rooms")
            writer.beginObject()
            for (room, seq) in rooms {
                writer.name(room.uuid)
                writer.integer(seq)
            }
            writer.endObject()
        case .sessionEnded(let session):
            writer.member("type", "sessionEnded")
            writer.member("session", session.uuid)
        }
    }

    /// Reads a notice; nil where this program does not know its type.
    fileprivate init?(_ fields: JSONFields) throws(FieldViolation) {
        switch try fields.string("type") {
        case "moved": self = .moved(try fields.seqs("rooms"))
        case "sessionEnded": self = .sessionEnded(try fields.sessionID("session"))
        default: return nil
        }
    }
}

/// One message between servers: who sends it, and its notices in order.
package struct NodeEnvelope: Sendable, Equatable {
    /// The version of this format; messages of another one are not read.
    private static let version: Int64 = 1

    /// The server that sends it.
    package var sender: String
    /// What it tells.
    package var notices: [NodeNotice]

    package init(sender: String, notices: [NodeNotice]) {
        self.sender = sender
        self.notices = notices
    }

    /// The text of a message that holds notices already encoded.
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

    /// Reads a message; nil where it is of another version, or no message at all.
    ///
    /// Notices of a type that this program does not know, or that lack something, are left out.
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

extension JSONFields {
    /// An object whose names are rooms and whose values are numbers of events.
    fileprivate func seqs(_ name: String) throws(FieldViolation) -> [RoomID: Int] {
        guard let members = self[name]?.object?.members else { throw violation(name, "an object") }
        var seqs: [RoomID: Int] = [:]
        for member in members {
            guard let room = RoomID(member.name), let seq = member.value.integer else {
                throw violation(name, "numbers of events by room")
            }
            seqs[room] = Int(seq)
        }
        return seqs
    }
}
