import RoomDomain
import RoomWire

/// A client's reading of a message about online members.
struct PresenceFrame {
    var online: Int
    var on: Set<MemberID>
    var off: Set<MemberID>

    /// Reads a `presence` message.
    init?(_ message: [UInt8]) {
        guard let object = try? JSONValue(parsing: message).object, let online = object["online"]?.integer else {
            return nil
        }
        self.online = Int(online)
        on = Self.members(object["on"])
        off = Self.members(object["off"])
    }

    /// Reads the presence of a `snapshot` or `resumed`.
    init?(endOf message: [UInt8]) {
        let end = Array("{".utf8) + message[message.beforePresence.endIndex...]
        guard let presence = try? JSONValue(parsing: end).object?["presence"]?.object,
            let online = presence["online"]?.integer
        else { return nil }
        self.online = Int(online)
        on = Self.members(presence["members"])
        off = []
    }

    private static func members(_ value: JSONValue?) -> Set<MemberID> {
        Set((value?.array ?? []).compactMap(\.integer).map { MemberID(rawValue: Int($0)) })
    }
}

extension Set<MemberID> {
    /// Their numbers, ascending.
    var numbers: [Int] { map(\.rawValue).sorted() }
}
