/// Folds events: applies their changes to the room.
extension RoomState {
    /// Applies one recorded event; total: no contents of a log make it throw or trap.
    ///
    /// An event whose number is not the next one changes nothing at all, so that applying an event twice does no harm.
    /// An event with the right number always advances ``seq`` and ``lastEventAt``; if it does not fit the room (it
    /// names a member, track or entry that does not exist, or a number already given out), it changes nothing else.
    ///
    /// The cost grows with the event and not with the room, as long as no copy of the room shares its storage. After a
    /// copy, the first change copies the collections that it touches, but only a small piece of the pool's tracks.
    package mutating func evolve(_ recorded: RecordedEvent) {
        guard recorded.seq == nextSeq else { return }
        seq = recorded.seq
        lastEventAt = max(lastEventAt, recorded.at)
        switch recorded.event {
        case .roomCreated(let room): foldRoomCreated(room, at: recorded.at)
        case .memberJoined(let member, let name, let role, let session):
            foldMemberJoined(Member(id: member, session: session, name: name, role: role, joinedAt: recorded.at))
        case .memberLeft(let left): foldMemberLeft(left.member)
        case .memberRenamed(let member, let name): members[member]?.name = name
        case .roomUpdated(let changes): foldRoomUpdated(changes)
        case .roomClosed(let forget, _, _): foldRoomClosed(forget: forget, at: recorded.at)
        case .roleChanged(let member, let role, _, _): members[member]?.role = role
        case .memberBanned(let member, _, let session, let until, let note, let role):
            foldMemberBanned(Ban(member: member, until: until, role: role, note: note), session)
        case .memberUnbanned(let member, _, _):
            for session in bans.filter({ $0.value.member == member }).keys { bans[session] = nil }
        case .tracksAdded(let tracks, let by): foldTracksAdded(tracks, by: by)
        case .tracksRemoved(let tracks, _): foldTracksRemoved(tracks)
        case .waveformSet(let track, let waveform, let by): foldWaveformSet(track, waveform, by: by)
        case .durationSet(let track, let durationMs, _): foldDurationSet(track, durationMs)
        case .missingSet(let tracks, _): foldMissingSet(tracks)
        case .voteCast(let track, let member, _, let requestedSeq):
            foldVoteCast(track, by: member, requestedSeq: requestedSeq)
        case .voteWithdrawn(let track, let member, _, _): foldVoteWithdrawn(track, by: member)
        case .votesCleared(let track): clearVotes(of: track)
        case .entryEnqueued(let entry, let track, let index, let by, let why):
            foldEntryEnqueued(QueueEntry(id: entry, track: track, addedBy: by, turnOf: why?.turnOf), at: index)
        case .entryRemoved(let entry, _, _): queue.removeAll { $0.id == entry }
        case .entryMoved(let entry, let index, _): foldEntryMoved(entry, to: index)
        case .playbackStarted(let entry, let track, let positionMs, let at, let by, let startedAt, let playedMs):
            foldPlaybackStarted(
                OnAir(
                    entry: entry, track: track, startedBy: by, startedAt: startedAt ?? recorded.at,
                    startedSeq: recorded.seq, isPaused: false, positionMs: positionMs, at: at, heardMs: playedMs ?? 0))
        case .playbackPaused(let positionMs, let at, _, let playedMs):
            foldPlaybackJumped(to: positionMs, at: at, isPaused: true, playedMs: playedMs)
        case .playbackResumed(let positionMs, let at, _, let playedMs):
            foldPlaybackJumped(to: positionMs, at: at, isPaused: false, playedMs: playedMs)
        case .playbackSeeked(let positionMs, let at, _, let playedMs):
            foldPlaybackJumped(to: positionMs, at: at, isPaused: nil, playedMs: playedMs)
        case .playbackStopped: onAir = nil
        case .skipVoteCast(let entry, let member, _): foldSkipVoteCast(entry, by: member)
        case .skipVoteWithdrawn(let entry, let member, _):
            if onAir?.entry == entry { onAir?.skipVoters.remove(member) }
        case .entryFinished(let entry, _, let reason, let startedAt, let playedMs, _, let endedAt, _):
            foldEntryFinished(
                entry, reason, startedAt: startedAt, endedAt: endedAt ?? recorded.at, playedMs: playedMs)
        }
    }

    /// Whether `number` can be given out next; if so, `next` moves past it.
    private static func give(_ number: Int, _ next: inout Int) -> Bool {
        guard number >= next, number <= RoomLimits.largestNumber else { return false }
        next = number + 1
        return true
    }

    // MARK: - Room and members

    private mutating func foldRoomCreated(_ room: RoomCreated, at instant: Timestamp) {
        guard seq == 1, room.id == id else { return }
        code = room.code
        name = room.name
        createdAt = instant
        location = room.location
        visibility = room.visibility
        settings = room.settings
    }

    private mutating func foldRoomUpdated(_ changes: RoomChanges) {
        if let name = changes.name { self.name = name }
        if changes.locationCleared {
            location = nil
            clearing = seq
        }
        if let location = changes.location { self.location = location }
        if let visibility = changes.visibility { self.visibility = visibility }
        if let settings = changes.settings { self.settings = settings }
    }

    private mutating func foldRoomClosed(forget: Bool, at instant: Timestamp) {
        closedAt = closedAt ?? instant
        guard forget else { return }
        isForgotten = true
        dropPersonalData()
    }

    private mutating func foldMemberJoined(_ member: Member) {
        guard memberOfSession[member.session] == nil, bans[member.session] == nil else { return }
        guard Self.give(member.id.rawValue, &nextMember) else { return }
        members[member.id] = member
        memberOfSession[member.session] = member.id
    }

    private mutating func foldMemberLeft(_ id: MemberID) {
        guard let member = members.removeValue(forKey: id) else { return }
        memberOfSession[member.session] = nil
        turns[id] = nil
        onAir?.skipVoters.remove(id)
        for track in votesOfMember.removeValue(forKey: id) ?? [] { removeVoter(id, of: track) }
    }

    private mutating func foldMemberBanned(_ ban: Ban, _ session: SessionID) {
        guard memberOfSession[session] == nil else { return }
        bans[session] = ban
    }

    // MARK: - Pool and votes

    private mutating func foldTracksAdded(_ added: [NumberedTrack], by: MemberID) {
        var ids: [TrackID] = []
        ids.reserveCapacity(added.count)
        for track in added where Self.give(track.id.rawValue, &nextTrack) {
            let added = Track(track, addedBy: by)
            tracks[track.id] = added
            poolCharge += added.charge
            ids.append(track.id)
        }
        addToPoolOrder(ids)
        noteAddition(by: by)
    }

    /// Records when a guest added tracks, and drops times too old for any slow mode.
    private mutating func noteAddition(by id: MemberID) {
        guard let member = members[id], member.role == .guest else { return }
        let now = lastEventAt.milliseconds
        additions = additions.filter { now &- $0.value.milliseconds < RoomLimits.slowModeMs.upperBound }
        additions[member.session] = lastEventAt
    }

    /// The track on air stays: the room refuses to remove it.
    private mutating func foldTracksRemoved(_ removed: [TrackID]) {
        let gone = Set(removed.filter { tracks[$0] != nil && onAir?.track != $0 })
        guard !gone.isEmpty else { return }
        for track in gone {
            clearVotes(of: track)
            missing.remove(track)
            if let removed = tracks.updateValue(nil, forKey: track) { poolCharge -= removed.charge }
        }
        queue.removeAll { gone.contains($0.track) }
        removeFromPoolOrder(gone)
    }

    private mutating func foldVoteCast(_ track: TrackID, by member: MemberID, requestedSeq: Int) {
        guard tracks[track] != nil, members.index(forKey: member) != nil,
            requestedSeq >= 1, requestedSeq <= seq, votesOfMember[member, default: []].insert(track).inserted
        else { return }
        let votes = Self.insert(member, into: &voters[track, default: []])
        tracks.update(track) { track in
            track.votes = votes
            track.requestedSeq = requestedSeq
        }
    }

    private mutating func foldVoteWithdrawn(_ track: TrackID, by member: MemberID) {
        guard removeVote(for: track, ofMember: member) else { return }
        removeVoter(member, of: track)
    }

    private mutating func clearVotes(of track: TrackID) {
        for member in voters.removeValue(forKey: track) ?? [] { removeVote(for: track, ofMember: member) }
        tracks.update(track) { track in
            track.votes = 0
            track.requestedSeq = nil
        }
    }

    /// Adds a row of ``voters``, and returns the number of the track's rows.
    private static func insert(_ member: MemberID, into row: inout Set<MemberID>) -> Int {
        row.insert(member)
        return row.count
    }

    /// Drops a row of ``voters`` and counts the track's votes again.
    private mutating func removeVoter(_ member: MemberID, of track: TrackID) {
        guard let row = voters.index(forKey: track), tracks[track] != nil else { return }
        voters.values[row].remove(member)
        let votes = voters.values[row].count
        tracks.update(track) { track in
            track.votes = votes
            if votes == 0 { track.requestedSeq = nil }
        }
        if votes == 0 { voters.remove(at: row) }
    }

    /// Drops a row of ``votesOfMember``; false if there is none.
    @discardableResult
    private mutating func removeVote(for track: TrackID, ofMember member: MemberID) -> Bool {
        guard let row = votesOfMember.index(forKey: member), votesOfMember.values[row].remove(track) != nil
        else { return false }
        if votesOfMember.values[row].isEmpty { votesOfMember.remove(at: row) }
        return true
    }

    // MARK: - Queue and playback

    private mutating func foldEntryEnqueued(_ entry: QueueEntry, at index: Int) {
        guard (0...queue.count).contains(index), tracks[entry.track] != nil else { return }
        guard Self.give(entry.id.rawValue, &nextEntry) else { return }
        queue.insert(entry, at: index)
    }

    private mutating func foldEntryMoved(_ entry: EntryID, to index: Int) {
        guard let place = queue.firstIndex(where: { $0.id == entry }), queue.indices.contains(index) else { return }
        queue.insert(queue.remove(at: place), at: index)
    }

    private mutating func foldPlaybackStarted(_ started: OnAir) {
        guard let place = queue.firstIndex(where: { $0.id == started.entry }), queue[place].track == started.track
        else { return }
        let entry = queue.remove(at: place)
        onAir = started
        plays += 1
        tracks.update(entry.track) { $0.lastPlay = plays }
        guard let member = entry.turnOf, members[member] != nil else { return }
        onAir?.turnOf = member
        onAir?.turnsBefore = turns[member]
        turns[member] = nextTurn(of: member)
    }

    private mutating func foldSkipVoteCast(_ entry: EntryID, by member: MemberID) {
        guard onAir?.entry == entry, members[member] != nil else { return }
        onAir?.skipVoters.insert(member)
    }

    /// Continues from a position at an instant; `isPaused` nil: paused or playing as before; `playedMs` nil: heard for
    /// as long as it has been playing.
    private mutating func foldPlaybackJumped(
        to positionMs: Int64, at instant: Timestamp, isPaused: Bool?, playedMs: Int64?
    ) {
        guard var playing = onAir else { return }
        playing.heardMs = playedMs ?? playing.heard(at: instant)
        playing.positionMs = positionMs
        playing.at = instant
        playing.isPaused = isPaused ?? playing.isPaused
        onAir = playing
    }

    private mutating func foldEntryFinished(
        _ entry: EntryID, _ reason: FinishReason, startedAt: Timestamp, endedAt: Timestamp, playedMs: Int64
    ) {
        guard let finished = onAir, finished.entry == entry, let track = tracks[finished.track] else { return }
        onAir = nil
        // A skipped entry does not count as a turn.
        if reason == .skipped, let member = finished.turnOf, members[member] != nil {
            turns[member] = finished.turnsBefore
        }
        history.insert(
            HistoryEntry(
                entry: entry, track: finished.track, title: track.info.title, artist: track.info.artist,
                startedAt: startedAt, endedAt: endedAt, reason: reason, playedMs: playedMs),
            at: 0)
        if history.count > RoomLimits.history { history.removeLast() }
    }
}
