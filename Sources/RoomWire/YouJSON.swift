package import RoomDomain

/// The JSON of what a room is to one session: `You` of section 4.
package enum YouJSON {
    /// The session's member number, role and votes (ascending); nil where it is no member.
    package static func encode(_ state: RoomState, _ session: SessionID) -> [UInt8]? {
        guard let id = state.memberOfSession[session], let member = state.members[id] else { return nil }
        var writer = JSONWriter(capacity: 96)
        writer.beginObject()
        writer.member("member", id: id)
        writer.member("role", choice: member.role)
        writer.member("votes", ids: (state.votesOfMember[id] ?? []).sorted())
        writer.endObject()
        return writer.bytes
    }
}
