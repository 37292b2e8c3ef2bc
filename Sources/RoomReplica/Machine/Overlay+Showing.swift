package import RoomDomain
package import RoomWire

/// The room as it is shown: the replica, and the effects on top of it, in the order of the calls.
extension Overlay {
    /// The votes of a track; nil if there is no such track.
    package func votes(of track: TrackID, in replica: Replica) -> TrackVotes? {
        replica.votes(of: track).map { applied(to: $0, before: nil) }
    }

    /// Whether the own vote for a track is shown without the effects of a command and those after it.
    package func isVoted(_ track: TrackID, before number: CommandNumber, in replica: Replica) -> Bool {
        replica.votes(of: track).map { applied(to: $0, before: number).isMine } ?? false
    }

    private func applied(to confirmed: TrackVotes, before end: CommandNumber?) -> TrackVotes {
        var votes = confirmed
        for effect in effects {
            if let end, end <= effect.number { break }
            switch effect.shown {
            case .vote(confirmed.track) where !votes.isMine:
                votes.isMine = true
                votes.votes &+= 1
            case .unvote(confirmed.track) where votes.isMine:
                votes.isMine = false
                votes.votes = max(0, votes.votes &- 1)
            case .enqueue(confirmed.track, _) where !effect.isEntered:
                votes.isMine = false
                votes.votes = 0
            case .vote, .unvote, .enqueue, .dequeue, .move, .voteSkip, .unvoteSkip, .pause, .resume, .seek, .rename:
                break
            }
            if votes.votes == 0 { votes.requestedSeq = nil }
        }
        return votes
    }

    /// The waiting entries; one that is on its way has a number below zero.
    package func queue(in replica: Replica) -> [QueueEntry] {
        var queue = replica.queue
        for effect in effects {
            switch effect.shown {
            case .enqueue(let track, let index) where !effect.isEntered:
                guard replica.tracks.rank(of: track) != nil else { continue }
                let entry = QueueEntry(id: effect.number.entry, track: track, addedBy: replica.me?.member)
                queue.insert(entry, at: min(max(0, index ?? queue.count), queue.count))
            case .dequeue(let entry): queue.removeAll { $0.id == entry }
            case .move(let entry, let index):
                guard let place = queue.firstIndex(where: { $0.id == entry }) else { continue }
                let moved = queue.remove(at: place)
                queue.insert(moved, at: min(max(0, index), queue.count))
            case .vote, .unvote, .enqueue, .voteSkip, .unvoteSkip, .pause, .resume, .seek, .rename: break
            }
        }
        return queue
    }

    /// What is on air.
    package func playback(in replica: Replica) -> ShownState.Playback? {
        guard var playback = replica.playback else { return nil }
        for effect in effects {
            switch effect.shown {
            case .voteSkip(playback.entry):
                guard let me = replica.me?.member, playback.skipVoters.insert(me).inserted else { continue }
                playback.skipVotes &+= 1
            case .unvoteSkip(playback.entry):
                guard let me = replica.me?.member, playback.skipVoters.remove(me) != nil else { continue }
                playback.skipVotes = max(0, playback.skipVotes &- 1)
            case .pause(let entry) where !playback.isPaused && playback.isMeant(by: entry):
                if let at = effect.at { playback.move(to: playback.position(at: at), at) }
                playback.isPaused = true
            case .resume(let entry) where playback.isPaused && playback.isMeant(by: entry):
                if let at = effect.at { playback.move(to: playback.positionMs, at) }
                playback.isPaused = false
            case .seek(let positionMs, let entry) where playback.isMeant(by: entry):
                playback.move(to: positionMs, effect.at ?? playback.at)
            case .vote, .unvote, .enqueue, .dequeue, .move, .voteSkip, .unvoteSkip, .pause, .resume, .seek, .rename:
                break
            }
        }
        return playback
    }

    /// A member; the own one under the name that it has just taken.
    package func member(_ id: MemberID, in replica: Replica) -> ShownState.Member? {
        guard var member = replica.members[id] else { return nil }
        guard id == replica.me?.member else { return member }
        for effect in effects {
            if case .rename(let name) = effect.shown { member.name = name }
        }
        return member
    }

    /// What has changed as it is shown: `changes` of the replica, and the parts that effects have touched.
    package func shown(_ changes: [RoomChange], touched: Touched = .nothing, in replica: Replica) -> [RoomChange] {
        guard !effects.isEmpty || touched != .nothing else { return changes }
        var shown: [RoomChange] = []
        var missing = touched
        for change in changes {
            switch change {
            case .reset: return [.reset]
            case .votes(let votes):
                missing.votes.remove(votes.track)
                shown.append(.votes(applied(to: votes, before: nil)))
            case .queue:
                missing.queue = false
                shown.append(.queue(queue(in: replica)))
            case .playback:
                missing.playback = false
                shown.append(.playback(playback(in: replica)))
            case .member(let member):
                if member.id == replica.me?.member { missing.name = false }
                shown.append(.member(self.member(member.id, in: replica) ?? member))
            case .properties, .memberLeft, .tracksAdded, .tracksRemoved, .waveform, .duration, .missing, .finished,
                .membership, .online,
                .deck:
                shown.append(change)
            }
        }
        shown += missing.votes.sorted().compactMap { votes(of: $0, in: replica).map { .votes($0) } }
        if missing.queue { shown.append(.queue(queue(in: replica))) }
        if missing.playback { shown.append(.playback(playback(in: replica))) }
        if missing.name, let me = replica.me, let member = member(me.member, in: replica) {
            shown.append(.member(member))
        }
        return shown
    }
}

extension ShownState.Playback {
    /// The position in the song at an instant, in milliseconds.
    package func position(at instant: Timestamp) -> Int64 {
        guard !isPaused, instant > at else { return positionMs }
        let (passed, overflow) = instant.milliseconds.subtractingReportingOverflow(at.milliseconds)
        let (position, beyond) = positionMs.addingReportingOverflow(overflow ? .max : passed)
        return beyond ? .max : position
    }

    /// Whether a command for `entry`, or for whatever is on air, is for this.
    fileprivate func isMeant(by entry: EntryID?) -> Bool { entry.map { $0 == self.entry } ?? true }

    fileprivate mutating func move(to positionMs: Int64, _ at: Timestamp) {
        self.positionMs = positionMs
        self.at = at
    }
}
