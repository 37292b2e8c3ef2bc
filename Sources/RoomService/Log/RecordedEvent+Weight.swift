import RoomDomain

extension RecordedEvent {
    /// The event's approximate size in bytes, as JSON and in memory.
    var weight: Int {
        switch event {
        case .tracksAdded(let tracks, _): tracks.reduce(Self.least) { $0 + $1.info.weight }
        case .tracksRemoved(let tracks, _), .missingSet(let tracks, _): Self.least + 8 * tracks.count
        // With the row of the waveform itself.
        case .waveformSet: Self.least + Waveform.byteCount
        case .memberLeft(let left): Self.least + 48 * left.votes.count + (left.note?.utf8.count ?? 0)
        case .memberJoined(_, let name, _, _), .memberRenamed(_, let name): Self.least + name.utf8.count
        case .roomUpdated(let changes):
            Self.least + (changes.name?.utf8.count ?? 0) + (changes.note?.utf8.count ?? 0)
        case .roomClosed(_, _, let note), .roleChanged(_, _, _, let note), .memberBanned(_, _, _, _, let note, _),
            .memberUnbanned(_, _, let note):
            Self.least + (note?.utf8.count ?? 0)
        case .roomCreated, .durationSet, .voteCast, .voteWithdrawn, .votesCleared, .entryEnqueued, .entryRemoved,
            .entryMoved, .playbackStarted, .playbackPaused, .playbackResumed, .playbackSeeked, .playbackStopped,
            .skipVoteCast, .skipVoteWithdrawn, .entryFinished:
            Self.least
        }
    }

    private static let least = 200
}

extension [RecordedEvent] {
    /// The events' approximate size in bytes, as JSON and in memory.
    var weight: Int { reduce(0) { $0 + $1.weight } }
}

extension TrackInfo {
    fileprivate var weight: Int {
        let texts = [source, sourceID, title, artist ?? "", album ?? "", artworkURL ?? ""]
        return texts.reduce(100) { $0 + $1.utf8.count }
    }
}
