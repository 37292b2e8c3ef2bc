package import RoomDomain

/// Rooms near a point.
extension ServerMessage {
    /// The rooms near a point, nearest first: the answer to `nearby`.
    package static func nearby(re: Int64, rooms: [RoomSummary]) -> [UInt8] {
        Self.message("nearby", capacity: 64 + rooms.count * 256) { writer in
            writer.member("re", re)
            writer.member("rooms", rooms)
        }
    }

    /// What has changed near a point since the list that the client has.
    ///
    /// `sub` is the `id` of the message with which it asked for the list.
    package static func nearbyDelta(
        sub: Int64, entered: [RoomSummary], changed: [RoomSummary], left: [RoomID]
    ) -> [UInt8] {
        Self.message("nearbyDelta", capacity: 96 + (entered.count + changed.count) * 256 + left.count * 40) { writer in
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
