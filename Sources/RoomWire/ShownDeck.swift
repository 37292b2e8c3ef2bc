package import RoomDomain

/// The deck of a room as one connection is told: the member whose device plays.
package struct ShownDeck: Sendable, Hashable {
    /// The member.
    package var member: MemberID
    /// Whether the device is the connection that is told.
    package var isHere: Bool

    package init(member: MemberID, isHere: Bool) {
        self.member = member
        self.isHere = isHere
    }

    /// Reads the members `name` and `here`; nil if there is no deck.
    init?(_ fields: JSONFields, as name: String) throws(FieldViolation) {
        guard fields[name] != nil else { return nil }
        self.init(member: try fields.id(name), isHere: try fields.boolIfPresent("here") ?? false)
    }
}

/// A claim to be the deck of a room, as one server tells others; without a member, its claim has ended.
package struct DeckClaim: Sendable, Hashable {
    /// The room.
    package var room: RoomID
    /// The member who claims; nil if the server has no claim any more.
    package var member: MemberID?
    /// The time of the claim at the server that accepted it; each claim is later than all that this server knew.
    package var at: Timestamp

    package init(room: RoomID, member: MemberID?, at: Timestamp) {
        self.room = room
        self.member = member
        self.at = at
    }

    init(_ fields: JSONFields) throws(FieldViolation) {
        room = try fields.roomID("room")
        member = fields["member"] == nil ? nil : try fields.id("member")
        at = try fields.instant("at")
    }

    /// The claim's contribution to the sum with which two servers compare what they know of each other.
    ///
    /// The value is the same on every server, and the sum does not depend on the order.
    package var sum: Int64 {
        guard let member else { return 0 }
        return OnlineMembers.sum(member, in: room) &* (at.milliseconds | 1)
    }
}

extension JSONWriter {
    /// Writes the member `name` with the deck's member, and `here` where it is the connection that is told.
    mutating func member(_ name: StaticString, _ deck: ShownDeck?) {
        guard let deck else { return }
        self.member(name, id: deck.member)
        if deck.isHere { self.member("here", true) }
    }

    mutating func member(_ name: StaticString, _ claims: [DeckClaim]) {
        self.name(name)
        self.beginArray()
        for claim in claims {
            self.beginObject()
            self.member("room", claim.room.uuid)
            if let member = claim.member { self.member("member", id: member) }
            self.member("at", claim.at)
            self.endObject()
        }
        self.endArray()
    }
}
