/// Decides memberships and roles.
extension RoomState {
    func join(
        name: String?, by actor: Actor, online: Set<MemberID>, lastSeen: [MemberID: Timestamp]?
    ) throws(RoomRefusal) -> [RoomEvent] {
        guard case .session(let session, let sessionName) = actor else { throw .notMember }
        let name = try NameRule.require(name ?? sessionName, "name", RoomLimits.memberName)
        guard memberOfSession[session] == nil else { return [] }
        let expired = try roomForMember(online: online, lastSeen: lastSeen)
        let joined = RoomEvent.memberJoined(
            member: MemberID(rawValue: nextMember), name: name, role: .guest, session: session)
        // A banned session that was admitted has served its ban.
        return expired + (bans[session].map { [.memberUnbanned(member: $0.member, by: nil)] } ?? []) + [joined]
    }

    /// The event that makes room for one more member when the room is full: the guest who has been offline longest
    /// expires.
    private func roomForMember(
        online: Set<MemberID>, lastSeen: [MemberID: Timestamp]?
    ) throws(RoomRefusal) -> [RoomEvent] {
        guard members.count >= RoomLimits.members else { return [] }
        guard let lastSeen, let guest = longestOffline(online: online, lastSeen: lastSeen) else {
            throw .limitReached("a room has at most \(RoomLimits.members) members")
        }
        return membershipEnd(of: guest, .expired)
    }

    /// The guest who has been offline longest; nil if all guests are online.
    ///
    /// The time counts from the guest's joining if it has not been seen online since; of several guests, the first to
    /// join is chosen. Looks at each member once.
    private func longestOffline(online: Set<MemberID>, lastSeen: [MemberID: Timestamp]) -> Member? {
        var longest: (since: Timestamp, guest: Member)?
        for guest in members.values where guest.role == .guest {
            // No member was offline before it joined.
            if let longest, (longest.since, longest.guest.id) < (guest.joinedAt, guest.id) { continue }
            guard !online.contains(guest.id) else { continue }
            let since = lastSeen[guest.id].map { max($0, guest.joinedAt) } ?? guest.joinedAt
            if let longest, (longest.since, longest.guest.id) < (since, guest.id) { continue }
            longest = (since, guest)
        }
        return longest?.guest
    }

    func rename(_ member: Member, to name: String) throws(RoomRefusal) -> [RoomEvent] {
        let name = try NameRule.require(name, "name", RoomLimits.memberName)
        return name == member.name ? [] : [.memberRenamed(member: member.id, name: name)]
    }

    /// Ends the membership of a session that is over; no events if the session is not in the room or the room is
    /// closed.
    func endMembership(of session: SessionID, _ reason: LeaveReason) throws(RoomRefusal) -> [RoomEvent] {
        switch reason {
        case .expired, .sessionEnded: break
        case .left, .kicked, .banned: throw .badRequest("a session ends as expired or session_ended")
        }
        guard isOpen, let member = memberOfSession[session].flatMap({ members[$0] }) else { return [] }
        return membershipEnd(of: member, reason)
    }

    func setRole(of id: MemberID, to role: Role, by: MemberID?, _ note: String?) throws(RoomRefusal) -> [RoomEvent] {
        guard role != .owner else { throw .badRequest("role must be dj or guest") }
        let note = try Self.accepted(note: note)
        let member = try existing(id)
        guard member.role != .owner else { throw .conflict("the owner gives the room away by transferOwnership") }
        return member.role == role ? [] : [.roleChanged(member: id, role: role, by: by, note: note)]
    }

    func transferOwnership(to id: MemberID, by: MemberID?, _ note: String?) throws(RoomRefusal) -> [RoomEvent] {
        let note = try Self.accepted(note: note)
        let heir = try existing(id)
        return heir.role == .owner ? [] : changeOfOwner(to: id, by: by, note)
    }

    /// Makes a member the owner and the owner a DJ.
    private func changeOfOwner(to heir: MemberID, by: MemberID?, _ note: String?) -> [RoomEvent] {
        var events: [RoomEvent] = [.roleChanged(member: heir, role: .owner, by: by, note: note)]
        for member in members.values where member.role == .owner {
            events.append(.roleChanged(member: member.id, role: .dj, by: by, note: note))
        }
        return events
    }

    /// The note of a change of roles after the owner's membership ended.
    package static let ownerLeft = "ownerLeft"
    /// The note of a change of roles because the owner was away for too long.
    package static let ownerAway = "ownerAway"

    /// Passes ownership to the longest-standing DJ who is online, else to the longest-standing member who is.
    ///
    /// No events unless `owner` is the owner and not online, and the room's settings limit an owner's absence; the
    /// caller ensures that the absence has lasted that long.
    func replaceOwner(_ owner: MemberID, online: Set<MemberID>) -> [RoomEvent] {
        guard settings.ownerAwayMs > 0, members[owner]?.role == .owner, !online.contains(owner),
            let heir = heir(among: members.values.lazy.filter { online.contains($0.id) })
        else { return [] }
        return changeOfOwner(to: heir, by: nil, Self.ownerAway)
    }

    /// Ends a membership, with the events that must come just before and just after.
    ///
    /// An owner is first replaced; when the last member goes, the room is closed.
    func membershipEnd(
        of member: Member, _ reason: LeaveReason, by: MemberID? = nil, note: String? = nil
    ) -> [RoomEvent] {
        var events: [RoomEvent] = []
        if member.role == .owner, let heir = heir(among: members.values.lazy.filter { $0.id != member.id }) {
            events.append(.roleChanged(member: heir, role: .owner, note: Self.ownerLeft))
        }
        var left = MemberLeft(
            member: member.id, reason: reason, by: by, note: note, votes: withdrawals(of: member.id))
        if let onAir, onAir.skipVoters.contains(member.id) { left.skipVotes = onAir.skipVoters.count - 1 }
        events.append(.memberLeft(left))
        if members.count == 1 { events.append(.roomClosed) }
        return events
    }

    /// The member who becomes the owner: the longest-standing DJ, else the longest-standing member; nil if there is
    /// none.
    private func heir(among members: some Sequence<Member>) -> MemberID? {
        func standsBefore(_ left: Member, _ right: Member) -> Bool {
            (left.role == .dj ? 0 : 1, left.joinedAt, left.id) < (right.role == .dj ? 0 : 1, right.joinedAt, right.id)
        }
        return members.min(by: standsBefore)?.id
    }

    func existing(_ id: MemberID) throws(RoomRefusal) -> Member {
        guard let member = members[id] else { throw Self.noMember(id) }
        return member
    }

    static func noMember(_ id: MemberID) -> RoomRefusal { .notFound("no member \(id.rawValue)") }
}

extension RoomEvent {
    /// Whether the event ends somebody's membership.
    var endsMembership: Bool {
        if case .memberLeft = self { true } else { false }
    }
}
