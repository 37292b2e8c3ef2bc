package import RoomDomain

/// What a room is to one session that is a member of it: `You` of the protocol's section 4.
package struct You: Sendable, Equatable {
    /// The session's member number.
    package var member: MemberID
    /// What it may do.
    package var role: Role
    /// The tracks that it votes for, ascending.
    package var votes: [TrackID]

    package init(member: MemberID, role: Role, votes: [TrackID]) {
        self.member = member
        self.role = role
        self.votes = votes
    }

    /// What the room is to a session; nil where that is no member.
    package init?(of state: RoomState, for session: SessionID) {
        guard let id = state.memberOfSession[session], let member = state.members[id] else { return nil }
        self.init(member: id, role: member.role, votes: (state.votesOfMember[id] ?? []).sorted())
    }

    init(_ fields: JSONFields) throws(FieldViolation) {
        self.init(
            member: try fields.id("member"), role: try fields.choice("role"), votes: try fields.ids("votes"))
    }
}

/// The JSON of ``You``.
package enum YouJSON {
    /// What the room is to a session; nil where that is no member.
    package static func encode(_ state: RoomState, _ session: SessionID) -> [UInt8]? {
        You(of: state, for: session).map { Self.encode($0) }
    }

    /// The `You` object.
    package static func encode(_ you: You) -> [UInt8] {
        var writer = JSONWriter(capacity: 96)
        writer.beginObject()
        writer.member("member", id: you.member)
        writer.member("role", choice: you.role)
        writer.member("votes", ids: you.votes)
        writer.endObject()
        return writer.bytes
    }

    /// Reads a `You` object.
    package static func decode(_ text: [UInt8]) throws(ServerViolation) -> You {
        try JSONFields.answer(text.span, You.init)
    }
}
