/// Deciding who is in the room and what each may do.
extension RoomState {
    func join(name: String?, by actor: Actor) throws(RoomRefusal) -> [RoomEvent] {
        guard case .session(let session, let sessionName) = actor else { throw .notMember }
        let name = try TextRule.require(name ?? sessionName, "name", RoomLimits.memberName)
        guard memberOfSession[session] == nil else { return [] }
        guard members.count < RoomLimits.members else {
            throw .limitReached("a room has at most \(RoomLimits.members) members")
        }
        return [.memberJoined(member: MemberID(rawValue: nextMember), name: name, role: .guest, session: session)]
    }

    func rename(_ member: Member, to name: String) throws(RoomRefusal) -> [RoomEvent] {
        let name = try TextRule.require(name, "name", RoomLimits.memberName)
        return name == member.name ? [] : [.memberRenamed(member: member.id, name: name)]
    }

    /// A session that is over; one that is not in the room, or a closed room, is already as asked.
    func endMembership(of session: SessionID, _ reason: LeaveReason) throws(RoomRefusal) -> [RoomEvent] {
        switch reason {
        case .expired, .sessionEnded: break
        case .left, .kicked, .banned: throw .badRequest("a session ends as expired or session_ended")
        }
        guard isOpen, let member = memberOfSession[session].flatMap({ members[$0] }) else { return [] }
        return membershipEnd(of: member, reason)
    }

    func setRole(of id: MemberID, to role: Role) throws(RoomRefusal) -> [RoomEvent] {
        guard role != .owner else { throw .badRequest("role must be dj or guest") }
        let member = try existing(id)
        guard member.role != .owner else { throw .conflict("the owner gives the room away by transferOwnership") }
        return member.role == role ? [] : [.roleChanged(member: id, role: role)]
    }

    func transferOwnership(to id: MemberID) throws(RoomRefusal) -> [RoomEvent] {
        let heir = try existing(id)
        guard heir.role != .owner else { return [] }
        var events: [RoomEvent] = [.roleChanged(member: id, role: .owner)]
        for member in members.values where member.role == .owner {
            events.append(.roleChanged(member: member.id, role: .dj))
        }
        return events
    }

    func kick(_ id: MemberID, ban: Bool, note: String?, by asker: Asker) throws(RoomRefusal) -> [RoomEvent] {
        switch members[id]?.role {
        case .owner: throw .forbidden("nobody kicks the owner")
        case .dj where !asker.hasRights(of: .owner): throw .forbidden("a DJ kicks guests only")
        case .dj, .guest, nil: break
        }
        var accepted: String?
        if let note { accepted = try TextRule.require(note, "reason", RoomLimits.note) }
        let member = try existing(id)
        let by = asker.member?.id
        var events = membershipEnd(of: member, ban ? .banned : .kicked, by: by, note: accepted)
        if ban { events.append(.memberBanned(member: id, by: by, session: member.session)) }
        return events
    }

    /// Of a number that was never given out there is nobody to unban; of any other, who is not banned stays so.
    func unban(_ id: MemberID, by: MemberID?) throws(RoomRefusal) -> [RoomEvent] {
        guard id.rawValue >= 1, id.rawValue < nextMember else { throw Self.noMember(id) }
        return bans.values.contains(id) ? [.memberUnbanned(member: id, by: by)] : []
    }

    /// The end of a membership, with what must come just before and just after it.
    ///
    /// An owner's place is taken first; the last to go closes the room.
    func membershipEnd(
        of member: Member, _ reason: LeaveReason, by: MemberID? = nil, note: String? = nil
    ) -> [RoomEvent] {
        var events: [RoomEvent] = []
        if member.role == .owner, let heir = heir(of: member.id) {
            events.append(.roleChanged(member: heir, role: .owner))
        }
        var left = MemberLeft(
            member: member.id, reason: reason, by: by, note: note, votes: withdrawals(of: member.id))
        if let onAir, onAir.skipVoters.contains(member.id) { left.skipVotes = onAir.skipVoters.count - 1 }
        events.append(.memberLeft(left))
        if members.count == 1 { events.append(.roomClosed) }
        return events
    }

    /// Who becomes the owner when `leaver` goes: the longest-standing DJ, else member; nil where nobody is left.
    private func heir(of leaver: MemberID) -> MemberID? {
        func standsBefore(_ left: Member, _ right: Member) -> Bool {
            (left.role == .dj ? 0 : 1, left.joinedAt, left.id) < (right.role == .dj ? 0 : 1, right.joinedAt, right.id)
        }
        return members.values.lazy.filter { $0.id != leaver }.min(by: standsBefore)?.id
    }

    private func existing(_ id: MemberID) throws(RoomRefusal) -> Member {
        guard let member = members[id] else { throw Self.noMember(id) }
        return member
    }

    private static func noMember(_ id: MemberID) -> RoomRefusal { .notFound("no member \(id.rawValue)") }
}

extension RoomEvent {
    /// Whether somebody is no member from then on.
    var endsMembership: Bool {
        if case .memberLeft = self { true } else { false }
    }
}
