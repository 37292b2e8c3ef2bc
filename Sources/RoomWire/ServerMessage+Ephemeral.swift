package import RoomDomain

/// What is shown and not kept.
extension ServerMessage {
    /// Who is online has changed.
    ///
    /// `change` names who came and who went, ascending; nil in a room where too many are online to be listed.
    package static func presence(
        room: RoomID, online: Int, change: (on: [MemberID], off: [MemberID])?
    ) -> [UInt8] {
        let named = (change?.on.count ?? 0) + (change?.off.count ?? 0)
        return Self.message("presence", capacity: 128 + named * 6) { writer in
            writer.member("room", room.uuid)
            writer.member("online", online)
            guard let change else { return }
            writer.member("on", ids: change.on)
            writer.member("off", ids: change.off)
        }
    }

    /// A member shows everybody one grapheme.
    package static func reaction(room: RoomID, from member: MemberID, emoji: String) -> [UInt8] {
        Self.message("reaction") { writer in
            writer.member("room", room.uuid)
            writer.member("from", id: member)
            writer.member("emoji", emoji)
        }
    }

    /// A member says something to the one who gets this.
    package static func signal(room: RoomID, from member: MemberID, data: RelayedJSON) -> [UInt8] {
        Self.message("signal", capacity: 128 + data.text.count) { writer in
            writer.member("room", room.uuid)
            writer.member("from", id: member)
            writer.member("data", raw: data.text)
        }
    }
}
