/// Decides kicks, bans, and the lifting of bans.
extension RoomState {
    /// Kicks all of `ids` or none: one refused member refuses the whole command.
    func kick(
        _ ids: [MemberID], ban: Bool, durationMs: Int64?, _ note: String?, by asker: Asker, at now: Timestamp
    ) throws(RoomRefusal) -> [RoomEvent] {
        for id in ids {
            switch members[id]?.role {
            case .owner: throw .forbidden("nobody kicks the owner")
            case .dj where !asker.hasRights(of: .owner): throw .forbidden("a DJ kicks guests only")
            case .dj, .guest, nil: break
            }
        }
        guard !ids.isEmpty else { throw .badRequest("members must not be empty") }
        guard ids.count <= RoomLimits.membersPerCommand else {
            throw .limitReached("a command names at most \(RoomLimits.membersPerCommand) members")
        }
        guard Set(ids).count == ids.count else { throw .badRequest("members must not name a member twice") }
        let note = try Self.accepted(note: note)
        if let durationMs {
            guard ban else { throw .badRequest("durationMs goes with ban only") }
            guard RoomLimits.banMs.contains(durationMs) else {
                throw .badRequest("durationMs must be 1 to \(RoomLimits.banMs.upperBound)")
            }
        }
        var leaving: [Member] = []
        for id in ids { leaving.append(try existing(id)) }
        if ids.count > 1, votes(of: ids) > RoomLimits.votesPerKick {
            throw .limitReached("members who are kicked at once have at most \(RoomLimits.votesPerKick) votes together")
        }
        let until = ban ? durationMs.map { Timestamp(milliseconds: now.milliseconds &+ $0) } : nil
        let by = asker.member?.id
        var (room, events): (RoomState, [RoomEvent]) = (self, [])
        for member in leaving {
            var own = room.membershipEnd(of: member, ban ? .banned : .kicked, by: by, note: note)
            if ban {
                own += try room.roomForBan(at: now)
                own.append(
                    .memberBanned(
                        member: member.id, by: by, session: member.session, until: until, note: note,
                        role: member.role))
            }
            events += own
            // The next member's leaving is decided on the room without this one.
            if leaving.count > 1 { for event in room.recorded(own, at: now) { room.evolve(event) } }
        }
        return events
    }

    /// The total number of votes of some members.
    private func votes(of ids: [MemberID]) -> Int {
        ids.reduce(0) { $0 + (votesOfMember[$1]?.count ?? 0) }
    }

    /// The event that makes room for one more ban when the list is full: it lifts the oldest ban that has ended.
    private func roomForBan(at now: Timestamp) throws(RoomRefusal) -> [RoomEvent] {
        guard bans.count >= RoomLimits.bans else { return [] }
        guard let ended = bans.values.lazy.filter({ !$0.holds(at: now) }).map(\.member).min() else {
            throw .limitReached("a room has at most \(RoomLimits.bans) bans")
        }
        return [.memberUnbanned(member: ended, by: nil)]
    }

    /// Lifts a ban, even one that has ended by itself; a DJ lifts those that a DJ may impose.
    ///
    /// Refuses a number that was never given out; causes nothing for any other member who is not banned.
    func unban(_ id: MemberID, by asker: Asker, _ note: String?) throws(RoomRefusal) -> [RoomEvent] {
        let ban = bans.values.first { $0.member == id }
        guard ban?.role ?? .guest == .guest || asker.hasRights(of: .owner) else {
            throw .forbidden("only the owner lifts the ban of a former DJ")
        }
        let note = try Self.accepted(note: note)
        guard id.rawValue >= 1, id.rawValue < nextMember else { throw Self.noMember(id) }
        return ban == nil ? [] : [.memberUnbanned(member: id, by: asker.member?.id, note: note)]
    }
}
