package import RoomDomain

/// The members with a connection that is subscribed to a room.
package struct Presence: Sendable, Equatable {
    /// The number of online members.
    package var online: Int
    /// The online members, ascending; nil in a room with too many to list.
    package var members: [MemberID]?

    package init(online: Int, members: [MemberID]?) {
        self.online = online
        self.members = members
    }

    init(_ fields: JSONFields) throws(FieldViolation) {
        self.init(
            online: try fields.count("online"),
            members: fields["members"] == nil ? nil : try fields.ids("members"))
    }
}

extension JSONWriter {
    mutating func member(_ name: StaticString, _ presence: Presence?) {
        guard let presence else { return }
        self.name(name)
        self.beginObject()
        self.member("online", presence.online)
        if let members = presence.members { self.member("members", ids: members) }
        self.endObject()
    }
}
