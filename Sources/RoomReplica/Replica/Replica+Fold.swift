import RoomDomain
import RoomWire

/// Folds events: their fields carry results, so that no rule of the domain is needed.
extension Replica {
    /// Applies one event; total: an event that does not fit changes nothing.
    mutating func fold(_ recorded: RecordedEvent, _ changes: inout [RoomChange]) {
        switch recorded.event {
        case .roomCreated, .memberBanned, .memberUnbanned: break
        case .memberJoined(let member, let name, let role, _):
            set(ShownState.Member(id: member, name: name, role: role, joinedAt: recorded.at), &changes)
        case .memberLeft(let left): foldMemberLeft(left, &changes)
        case .memberRenamed(let id, let name):
            guard var member = members[id] else { return }
            member.name = name
            set(member, &changes)
        case .roleChanged(let id, let role, _, _):
            guard var member = members[id] else { return }
            member.role = role
            set(member, &changes)
        case .roomUpdated(let update): foldRoomUpdated(update, &changes)
        case .roomClosed(let forget, _, _): foldRoomClosed(forget: forget, at: recorded.at, &changes)
        case .tracksAdded(let tracks, let by): foldTracksAdded(tracks, by: by, &changes)
        case .tracksRemoved(let tracks, _): foldTracksRemoved(Set(tracks), &changes)
        case .waveformSet(let track, let waveform, _):
            if tracks.update(track, { $0.waveform = waveform }) { changes.append(.waveform(track, waveform)) }
        case .durationSet(let track, let durationMs, _):
            if tracks.update(track, { $0.setDuration(durationMs) }) { changes.append(.duration(track, durationMs)) }
        case .missingSet(let tracks, _): foldMissingSet(tracks, &changes)
        case .voteCast(let track, let by, let votes, let requestedSeq):
            if by == me?.member { ownVotes.insert(track) }
            count(track, votes, requestedSeq, &changes)
        case .voteWithdrawn(let track, let by, let votes, let requestedSeq):
            if by == me?.member { ownVotes.remove(track) }
            count(track, votes, requestedSeq, &changes)
        case .votesCleared(let track):
            ownVotes.remove(track)
            count(track, 0, nil, &changes)
        case .entryEnqueued(let entry, let track, let index, let by, _):
            guard (0...queue.count).contains(index) else { return }
            queue.insert(QueueEntry(id: entry, track: track, addedBy: by), at: index)
            hasOtherQueue = true
        case .entryRemoved(let entry, _, _): _ = take(entry)
        case .entryMoved(let entry, let index, _):
            guard queue.indices.contains(index), let moved = take(entry) else { return }
            queue.insert(moved, at: index)
        case .playbackStarted(let entry, let track, let positionMs, let at, let by, let startedAt, _):
            foldPlaybackStarted(
                ShownState.Playback(
                    entry: entry, track: track, startedBy: by, startedAt: startedAt ?? recorded.at,
                    startedSeq: recorded.seq, isPaused: false, positionMs: positionMs, at: at, skipVotes: 0),
                &changes)
        case .playbackPaused(let positionMs, let at, _, _): jump(to: positionMs, at, isPaused: true, &changes)
        case .playbackResumed(let positionMs, let at, _, _): jump(to: positionMs, at, isPaused: false, &changes)
        case .playbackSeeked(let positionMs, let at, _, _): jump(to: positionMs, at, isPaused: nil, &changes)
        case .playbackStopped:
            playback = nil
            changes.append(.playback(nil))
        case .skipVoteCast(let entry, let by, let skipVotes):
            guard playback?.entry == entry else { return }
            playback?.skipVotes = skipVotes
            playback?.skipVoters.insert(by)
            changes.append(.playback(playback))
        case .skipVoteWithdrawn(let entry, let by, let skipVotes):
            guard playback?.entry == entry else { return }
            playback?.skipVotes = skipVotes
            playback?.skipVoters.remove(by)
            changes.append(.playback(playback))
        case .entryFinished(let entry, let track, let reason, let startedAt, let playedMs, _, let endedAt, _):
            let info = tracks[track]?.info
            foldEntryFinished(
                HistoryEntry(
                    entry: entry, track: track, title: info?.title ?? "", artist: info?.artist, startedAt: startedAt,
                    endedAt: endedAt ?? recorded.at, reason: reason, playedMs: playedMs),
                &changes)
        }
    }

    // MARK: Room and members

    private mutating func set(_ member: ShownState.Member, _ changes: inout [RoomChange]) {
        members[member.id] = member
        changes.append(.member(member))
        guard let me, me.member == member.id, me.role != member.role else { return }
        self.me?.role = member.role
        changes.append(.membership(self.me))
    }

    private mutating func foldMemberLeft(_ left: MemberLeft, _ changes: inout [RoomChange]) {
        if members.removeValue(forKey: left.member) != nil { changes.append(.memberLeft(left.member)) }
        if me?.member == left.member {
            let voted = ownVotes
            me = nil
            ownVotes = []
            changes.append(.membership(nil))
            // Those whose counts the event names are told below.
            let named = Set(left.votes.map(\.track))
            for track in voted.subtracting(named).sorted() { tell(track, &changes) }
        }
        count(left.votes, &changes)
        guard let skipVotes = left.skipVotes, playback != nil else { return }
        playback?.skipVotes = skipVotes
        playback?.skipVoters.remove(left.member)
        changes.append(.playback(playback))
    }

    private mutating func foldRoomUpdated(_ update: RoomChanges, _ changes: inout [RoomChange]) {
        if let name = update.name { properties.name = name }
        if update.locationCleared { properties.location = nil }
        if let location = update.location { properties.location = location }
        if let visibility = update.visibility { properties.visibility = visibility }
        if let settings = update.settings { properties.settings = settings }
        changes.append(.properties(properties))
    }

    private mutating func foldRoomClosed(forget: Bool, at instant: Timestamp, _ changes: inout [RoomChange]) {
        properties.closedAt = properties.closedAt ?? instant
        if forget {
            properties.location = nil
            for id in members.keys { members[id]?.name = Self.forgottenName }
            changes.append(.reset)
        } else {
            changes.append(.properties(properties))
        }
    }

    /// The name of every member of a forgotten room (protocol, section 5).
    private static let forgottenName = "-"

    // MARK: Pool and votes

    private mutating func foldTracksAdded(
        _ added: [NumberedTrack], by: MemberID, _ changes: inout [RoomChange]
    ) {
        var new: [TrackID] = []
        for track in added where tracks[track.id] == nil {
            tracks[track.id] = Track(track, addedBy: by)
            new.append(track.id)
        }
        let places = PoolOrder.insert(new, into: &pool, of: tracks)
        let placed = places.compactMap { place in tracks[pool[place]].map { PlacedTrack(track: $0, place: place) } }
        if !placed.isEmpty { changes.append(.tracksAdded(placed)) }
    }

    private mutating func foldTracksRemoved(_ removed: Set<TrackID>, _ changes: inout [RoomChange]) {
        let gone = removed.filter { tracks[$0] != nil }
        for id in gone {
            requests.move(from: tracks.rank(of: id), to: nil)
            tracks[id] = nil
            missing.remove(id)
        }
        if !gone.isEmpty {
            pool.removeAll(where: gone.contains)
            ownVotes.subtract(gone)
            changes.append(.tracksRemoved(gone.sorted()))
        }
        guard queue.contains(where: { removed.contains($0.track) }) else { return }
        queue.removeAll { removed.contains($0.track) }
        hasOtherQueue = true
    }

    private mutating func foldMissingSet(_ ids: [TrackID], _ changes: inout [RoomChange]) {
        let reported = Set(ids.filter { tracks.rank(of: $0) != nil })
        for id in missing.subtracting(reported) { tracks.update(id) { $0.isMissing = false } }
        for id in reported.subtracting(missing) { tracks.update(id) { $0.isMissing = true } }
        missing = reported
        changes.append(.missing(reported))
    }

    private mutating func count(
        _ id: TrackID, _ votes: Int, _ requestedSeq: Int?, _ changes: inout [RoomChange]
    ) {
        // One look-up for all of it: most events are votes.
        var before: RequestRank?
        tracks.update(id) { track in
            before = RequestRank(votes: track.votes, requestedSeq: track.requestedSeq ?? 0, track: id)
            track.votes = votes
            track.requestedSeq = requestedSeq
        }
        guard let before else { return }
        requests.move(
            from: before, to: RequestRank(votes: votes, requestedSeq: requestedSeq ?? 0, track: id))
        changes.append(
            .votes(
                TrackVotes(
                    track: id, votes: votes, requestedSeq: votes > 0 ? requestedSeq : nil,
                    isMine: ownVotes.contains(id))))
    }

    private mutating func count(_ counts: [MemberLeft.Withdrawal], _ changes: inout [RoomChange]) {
        // A large part of the requests is sorted anew, all at once.
        guard counts.count > max(32, requests.count / 16) else {
            for count in counts { self.count(count.track, count.votes, count.requestedSeq, &changes) }
            return
        }
        for count in counts { setVotes(of: count.track, count.votes, count.requestedSeq) }
        requests = RequestOrder(of: tracks)
        for count in counts { tell(count.track, &changes) }
    }

    private mutating func setVotes(of id: TrackID, _ votes: Int, _ requestedSeq: Int?) {
        tracks.update(id) { track in
            track.votes = votes
            track.requestedSeq = requestedSeq
        }
    }

    private func tell(_ id: TrackID, _ changes: inout [RoomChange]) {
        if let votes = votes(of: id) { changes.append(.votes(votes)) }
    }

    // MARK: Queue and playback

    /// Removes an entry from the queue; nil if it is not there.
    private mutating func take(_ entry: EntryID) -> QueueEntry? {
        guard let index = queue.firstIndex(where: { $0.id == entry }) else { return nil }
        hasOtherQueue = true
        return queue.remove(at: index)
    }

    private mutating func foldPlaybackStarted(_ started: ShownState.Playback, _ changes: inout [RoomChange]) {
        _ = take(started.entry)
        playback = started
        changes.append(.playback(started))
    }

    /// Continues from a position at an instant; `isPaused` nil: paused or playing as before.
    private mutating func jump(
        to positionMs: Int64, _ at: Timestamp, isPaused: Bool?, _ changes: inout [RoomChange]
    ) {
        guard var playing = playback else { return }
        playing.positionMs = positionMs
        playing.at = at
        playing.isPaused = isPaused ?? playing.isPaused
        playback = playing
        changes.append(.playback(playing))
    }

    private mutating func foldEntryFinished(_ finished: HistoryEntry, _ changes: inout [RoomChange]) {
        playback = nil
        history.insert(finished, at: 0)
        if history.count > RoomLimits.history { history.removeLast() }
        changes += [.playback(nil), .finished(finished)]
    }
}
