package import RoomDomain

/// Messages about the rooms near a point.
extension ServerMessage {
    /// The rooms near a point, nearest first: the answer to `nearby`.
    package static func nearby(re: Int64, rooms: [RoomSummary]) -> [UInt8] {
        Self.message(.nearby, capacity: 64 + rooms.count * 256) { writer in
            writer.member("re", re)
            writer.member("rooms", rooms)
        }
    }

    /// The changes near a point since the list that the client has.
    ///
    /// `sub` is the `id` of the message that asked for the list.
    package static func nearbyDelta(
        sub: Int64, entered: [RoomSummary], changed: [RoomSummary], left: [RoomID]
    ) -> [UInt8] {
        Self.message(.nearbyDelta, capacity: 96 + (entered.count + changed.count) * 256 + left.count * 40) { writer in
            writer.member("sub", sub)
            writer.member("entered", entered)
            writer.member("changed", changed)
            writer.name("left")
            writer.beginArray()
            for room in left { writer.uuid(room.uuid) }
            writer.endArray()
        }
    }
}

// MARK: Reading

extension ServerMessage.Received {
    static func nearby(_ fields: JSONFields) throws(FieldViolation) -> Self {
        .nearby(re: try fields.integer("re"), rooms: try fields.elements("rooms", RoomSummary.init))
    }

    static func nearbyDelta(_ fields: JSONFields) throws(FieldViolation) -> Self {
        var left: [RoomID] = []
        for value in try fields.array("left") {
            guard let room = value.string.flatMap({ RoomID($0) }) else {
                throw fields.violation("left", "an array of UUIDs")
            }
            left.append(room)
        }
        return .nearbyDelta(
            sub: try fields.integer("sub"), entered: try fields.elements("entered", RoomSummary.init),
            changed: try fields.elements("changed", RoomSummary.init), left: left)
    }
}
