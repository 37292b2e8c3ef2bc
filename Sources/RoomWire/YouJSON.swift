import ByteText
package import RoomDomain

/// A session's own membership of a room: `You` in the protocol's section 4.
package struct You: Sendable, Equatable {
    /// The session's member number.
    package var member: MemberID
    /// The member's role.
    package var role: Role
    /// The tracks that the member votes for, ascending.
    package var votes: [TrackID]

    package init(member: MemberID, role: Role, votes: [TrackID]) {
        self.member = member
        self.role = role
        self.votes = votes
    }

    /// The membership of a session; nil if it is not a member.
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
    /// Writes the membership of a session; nil if it is not a member.
    package static func encode(_ state: RoomState, _ session: SessionID) -> [UInt8]? {
        You(of: state, for: session).map { Self.encode($0) }
    }

    /// Writes the `You` object.
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
        try JSONFields.answer(text.contiguous.span, You.init)
    }
}
