package import RoomDomain

/// Messages that are shown to clients and never stored.
extension ServerMessage {
    /// The set of online members has changed.
    ///
    /// `change` lists the members who came and went, ascending; nil in a room with too many online members to list.
    package static func presence(
        room: RoomID, online: Int, change: (on: [MemberID], off: [MemberID])?
    ) -> [UInt8] {
        let named = (change?.on.count ?? 0) + (change?.off.count ?? 0)
        return Self.message(.presence, capacity: 128 + named * 6) { writer in
            writer.member("room", room.uuid)
            writer.member("online", online)
            guard let change else { return }
            writer.member("on", ids: change.on)
            writer.member("off", ids: change.off)
        }
    }

    /// A member shows one grapheme to everybody.
    package static func reaction(room: RoomID, from member: MemberID, emoji: String) -> [UInt8] {
        Self.message(.reaction) { writer in
            writer.member("room", room.uuid)
            writer.member("from", id: member)
            writer.member("emoji", emoji)
        }
    }

    /// A member sends data to the member who receives this message.
    package static func signal(room: RoomID, from member: MemberID, data: RelayedJSON) -> [UInt8] {
        Self.message(.signal, capacity: 128 + data.text.count) { writer in
            writer.member("room", room.uuid)
            writer.member("from", id: member)
            writer.member("data", raw: data.text)
        }
    }

    /// Another device plays for the room; without a deck, none does.
    package static func deck(room: RoomID, _ deck: ShownDeck?) -> [UInt8] {
        Self.message(.deck) { writer in
            writer.member("room", room.uuid)
            writer.member("member", deck)
        }
    }
}

// MARK: Reading

extension ServerMessage.Received {
    /// Members who came online, and members who went offline; both ascending.
    package struct PresenceChange: Sendable, Equatable {
        /// Members who came online.
        package var on: [MemberID]
        /// Members who went offline.
        package var off: [MemberID]

        package init(on: [MemberID], off: [MemberID]) {
            self.on = on
            self.off = off
        }
    }

    static func presence(_ fields: JSONFields) throws(FieldViolation) -> Self {
        let isListed = fields["on"] != nil || fields["off"] != nil
        return .presence(
            room: try fields.roomID("room"), online: try fields.count("online"),
            change: isListed ? PresenceChange(on: try fields.ids("on"), off: try fields.ids("off")) : nil)
    }

    static func reaction(_ fields: JSONFields) throws(FieldViolation) -> Self {
        .reaction(room: try fields.roomID("room"), from: try fields.id("from"), emoji: try fields.string("emoji"))
    }

    /// `text` is the message itself: the member's data is copied from it unchanged.
    static func signal(_ fields: JSONFields, _ text: Span<UInt8>) throws(FieldViolation) -> Self {
        guard let place = try? JSONParser.place(of: "data", in: text) else {
            throw fields.violation("data", "any JSON")
        }
        return .signal(
            room: try fields.roomID("room"), from: try fields.id("from"), data: RelayedJSON(known: text, at: place))
    }
}
