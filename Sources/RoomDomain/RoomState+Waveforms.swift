/// Decides and folds the waveforms of tracks.
extension RoomState {
    /// Gives a track a waveform; the waveform that it has already causes nothing.
    ///
    /// Guests may do so for tracks that they added.
    func setWaveform(
        of id: TrackID, to waveform: WaveformName, by member: Member, at now: Timestamp
    ) throws(RoomRefusal) -> [RoomEvent] {
        let track = try existing(id)
        guard member.role != .guest || track.addedBy == member.id else {
            throw .forbidden("a guest sets the waveforms of tracks that it added")
        }
        guard track.waveform != waveform else { return [] }
        try requireRareWaveforms(of: track, by: member, at: now)
        return [.waveformSet(track: id, waveform: waveform, by: member.id)]
    }

    private func requireRareWaveforms(of track: Track, by member: Member, at now: Timestamp) throws(RoomRefusal) {
        guard let hour = track.waveformHour else { return }
        let rest = hour.rest(at: now)
        let (count, limit) =
            member.role == .guest
            ? (hour.byGuests, RoomLimits.guestWaveformsPerHour) : (hour.byDJs, RoomLimits.waveformsPerHour)
        guard rest > 0, count >= limit else { return }
        throw .rateLimited("a track's waveform is set at most \(limit) times in an hour", retryAfterMs: rest)
    }

    /// Applies an event that gives a track a waveform, and counts it.
    mutating func foldWaveformSet(_ id: TrackID, _ waveform: WaveformName, by: MemberID) {
        let (now, isGuest) = (lastEventAt, members[by]?.role == .guest)
        tracks.update(id) { track in
            track.waveform = waveform
            var hour = track.waveformHour ?? WaveformHour(began: now)
            if hour.rest(at: now) <= 0 { hour = WaveformHour(began: now) }
            if isGuest { hour.byGuests += 1 } else { hour.byDJs += 1 }
            track.waveformHour = hour
        }
    }

    // MARK: Names

    /// The waveforms that `events`, which are about to be applied, take from tracks.
    package func waveforms(takenBy events: [RoomEvent]) -> Set<WaveformName> {
        var names: Set<WaveformName> = []
        for event in events {
            switch event {
            case .waveformSet(let track, _, _):
                if let name = tracks[track]?.waveform { names.insert(name) }
            case .tracksRemoved(let removed, _):
                for track in removed { if let name = tracks[track]?.waveform { names.insert(name) } }
            case .roomCreated, .memberJoined, .memberLeft, .memberRenamed, .roomUpdated, .roomClosed, .roleChanged,
                .memberBanned, .memberUnbanned, .tracksAdded, .durationSet, .missingSet, .voteCast, .voteWithdrawn,
                .votesCleared, .entryEnqueued, .entryRemoved, .entryMoved, .playbackStarted, .playbackPaused,
                .playbackResumed, .playbackSeeked, .playbackStopped, .skipVoteCast, .skipVoteWithdrawn,
                .entryFinished:
                break
            }
        }
        return names
    }

    /// The names in `names` that no track has.
    ///
    /// O(tracks), unless there are no names.
    package func unnamedWaveforms(among names: Set<WaveformName>) -> Set<WaveformName> {
        guard !names.isEmpty else { return [] }
        var rest = names
        for track in tracks.values {
            guard let name = track.waveform, rest.remove(name) != nil, rest.isEmpty else { continue }
            break
        }
        return rest
    }

    /// The names of all tracks' waveforms.
    package var waveformNames: Set<WaveformName> { Set(tracks.values.compactMap(\.waveform)) }
}
