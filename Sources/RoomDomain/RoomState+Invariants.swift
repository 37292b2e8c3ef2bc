/// The invariants of a room, which hold after every event.
extension RoomState {
    /// Checks every invariant: meant for tests, and for a room whose log is in doubt.
    ///
    /// - Parameter atCommandBoundary: Whether the last event was the last of its command. Between the two events of a
    ///   transfer or of an owner's leaving there are two owners, and between the last member's leaving and the closing
    ///   of the room there is none; at all other positions an open room has exactly one.
    /// - Returns: One sentence for each invariant that does not hold; empty if all hold.
    package func invariantViolations(atCommandBoundary: Bool) -> [String] {
        memberViolations(atCommandBoundary: atCommandBoundary) + voteViolations() + poolViolations()
            + queueViolations()
    }

    private func memberViolations(atCommandBoundary: Bool) -> [String] {
        var found: [String] = []
        let owners = members.values.count { $0.role == .owner }
        if atCommandBoundary, isOpen, owners != 1 { found.append("an open room has \(owners) owners") }
        if members.count > RoomLimits.members { found.append("\(members.count) members") }
        if members.count != memberOfSession.count { found.append("members and memberOfSession differ in number") }
        for (id, member) in members {
            if member.id != id { found.append("member \(member.id.rawValue) stands under \(id.rawValue)") }
            if memberOfSession[member.session] != id { found.append("member \(id.rawValue) is not its session's") }
            if bans[member.session] != nil { found.append("member \(id.rawValue) is banned") }
            if id.rawValue < 1 || id.rawValue >= nextMember {
                found.append("member \(id.rawValue) was never given out")
            }
        }
        if let clearing, clearing < 1 || clearing > seq { found.append("a clearing at \(clearing)") }
        if additions.values.contains(where: { $0 > lastEventAt }) { found.append("an addition in the future") }
        return found
    }

    private func voteViolations() -> [String] {
        var found: [String] = []
        for (track, row) in voters {
            if row.isEmpty { found.append("track \(track.rawValue) has an empty row") }
            if tracks[track] == nil { found.append("a vote for track \(track.rawValue), which is not in the pool") }
            for member in row where votesOfMember[member]?.contains(track) != true || members[member] == nil {
                found.append("a vote of \(member.rawValue) for track \(track.rawValue) has no member's row")
            }
        }
        for (member, row) in votesOfMember {
            if row.isEmpty { found.append("member \(member.rawValue) has an empty row") }
            for track in row where voters[track]?.contains(member) != true {
                found.append("a vote of \(member.rawValue) for track \(track.rawValue) has no track's row")
            }
        }
        for track in tracks.values {
            if track.votes != voteCount(of: track.id) { found.append("votes of track \(track.id.rawValue)") }
            if (track.votes == 0) != (track.requestedSeq == nil) {
                found.append("requestedSeq of track \(track.id.rawValue)")
            }
            if let requested = track.requestedSeq, requested < 1 || requested > seq {
                found.append("track \(track.id.rawValue) was requested at \(requested)")
            }
        }
        return found
    }

    private func poolViolations() -> [String] {
        var found: [String] = []
        if tracks.count > RoomLimits.tracks { found.append("\(tracks.count) tracks") }
        for id in tracks.keys {
            if tracks[id]?.id != id { found.append("track \(id.rawValue) is not found") }
            if let hour = tracks[id]?.waveformHour, hour.began > lastEventAt || hour.byGuests + hour.byDJs < 1 {
                found.append("the waveform of track \(id.rawValue) was set in the future, or never")
            }
            if (tracks[id]?.waveform == nil) != (tracks[id]?.waveformHour == nil) {
                found.append("the waveform of track \(id.rawValue) was not counted")
            }
            if id.rawValue < 1 || id.rawValue >= nextTrack { found.append("track \(id.rawValue) was never given out") }
        }
        if missing != Set(tracks.values.lazy.filter(\.isMissing).map(\.id)) { found.append("missing tracks") }
        if poolCharge != tracks.values.reduce(0, { $0 + $1.charge }) {
            found.append("the pool is charged \(poolCharge) bytes")
        }
        var sorted = self
        sorted.rebuildPoolOrder()
        if sorted.poolOrder != poolOrder { found.append("the pool is out of order") }
        return found
    }

    private func queueViolations() -> [String] {
        var found: [String] = []
        if queue.count > RoomLimits.queue { found.append("\(queue.count) entries") }
        if history.count > RoomLimits.history { found.append("\(history.count) entries of history") }
        var entries = queue.map(\.id)
        for entry in queue where tracks[entry.track] == nil {
            found.append("entry \(entry.id.rawValue) is of a track that is not in the pool")
        }
        if let onAir {
            entries.append(onAir.entry)
            if tracks[onAir.track] == nil { found.append("the track on air is not in the pool") }
            if onAir.positionMs < 0 || onAir.heardMs < 0 { found.append("a negative time on air") }
            if onAir.skipVoters.contains(where: { members[$0] == nil }) { found.append("a skip vote of nobody") }
            if onAir.at > lastEventAt || onAir.startedAt > onAir.at { found.append("on air in the future") }
            if onAir.heardMs > onAir.startedAt.span(to: onAir.at) {
                found.append("heard for longer than it is on air")
            }
        }
        found += historyViolations()
        for (member, had) in turns where members[member] == nil || !(1...max(1, plays)).contains(had.taken) {
            found.append("\(had.taken) turns of member \(member.rawValue)")
        }
        for track in tracks.values {
            guard let play = track.lastPlay, play < 1 || play > plays else { continue }
            found.append("track \(track.id.rawValue) was played as number \(play) of \(plays)")
        }
        entries += history.map(\.entry)
        if Set(entries).count != entries.count { found.append("an entry is at two places") }
        for entry in entries where entry.rawValue < 1 || entry.rawValue >= nextEntry {
            found.append("entry \(entry.rawValue) was never given out")
        }
        return found
    }

    /// One song is on air at a time: each ends before the next one begins.
    private func historyViolations() -> [String] {
        var found: [String] = []
        var next = onAir?.startedAt ?? lastEventAt
        for entry in history {
            if entry.endedAt > next || entry.startedAt > entry.endedAt {
                found.append("entry \(entry.entry.rawValue) was on air out of its time")
            }
            next = entry.startedAt
        }
        return found
    }
}
