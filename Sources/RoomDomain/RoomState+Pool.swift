/// Decides changes of the pool.
extension RoomState {
    func addTracks(
        _ tracks: [TrackInfo], by member: Member, at now: Timestamp, within budget: PoolBudget
    ) throws(RoomRefusal) -> [RoomEvent] {
        try Self.requireBatch(tracks.count)
        var numbered: [NumberedTrack] = []
        numbered.reserveCapacity(tracks.count)
        for info in tracks {
            let id = TrackID(rawValue: nextTrack &+ numbered.count)
            numbered.append(NumberedTrack(id: id, info: try info.accepted()))
        }
        guard self.tracks.count + tracks.count <= RoomLimits.tracks else {
            throw .limitReached("a pool has at most \(RoomLimits.tracks) tracks")
        }
        let charge = numbered.reduce(0) { $0 + Track(id: $1.id, info: $1.info, addedBy: member.id).charge }
        guard poolCharge + charge <= budget.bytes else {
            throw .limitReached("a pool has at most \(budget.bytes) bytes of tracks")
        }
        try requireSlowness(of: member, at: now)
        return [.tracksAdded(tracks: numbered, by: member.id)]
    }

    /// Refuses a guest who adds tracks again before the room's slow mode allows it.
    private func requireSlowness(of member: Member, at now: Timestamp) throws(RoomRefusal) {
        guard member.role == .guest, let last = additions[member.session] else { return }
        let wait = Int64(settings.slowModeMs) &- (now.milliseconds &- last.milliseconds)
        guard wait > 0 else { return }
        throw .rateLimited("in this room a guest adds tracks once in \(settings.slowModeMs) ms", retryAfterMs: wait)
    }

    /// Repeated numbers count once; one unknown track refuses the whole command.
    func removeTracks(_ ids: [TrackID], by: MemberID) throws(RoomRefusal) -> [RoomEvent] {
        try Self.requireBatch(ids.count)
        var seen: Set<TrackID> = []
        let distinct = ids.filter { seen.insert($0).inserted }
        for id in distinct { try existing(id) }
        if let onAir, seen.contains(onAir.track) { throw .conflict("track \(onAir.track.rawValue) is on air") }
        return [.tracksRemoved(tracks: distinct, by: by)]
    }

    /// Returns the track; refuses a number that is not in the pool.
    @discardableResult
    func existing(_ id: TrackID) throws(RoomRefusal) -> Track {
        guard let track = tracks[id] else { throw .notFound("no track \(id.rawValue)") }
        return track
    }

    private static func requireBatch(_ count: Int) throws(RoomRefusal) {
        guard count > 0 else { throw .badRequest("tracks must not be empty") }
        guard count <= RoomLimits.tracksPerCommand else {
            throw .limitReached("a command names at most \(RoomLimits.tracksPerCommand) tracks")
        }
    }
}

extension TrackInfo {
    /// The same metadata with trimmed texts; refuses values that are out of range.
    fileprivate func accepted() throws(RoomRefusal) -> TrackInfo {
        var info = self
        info.source = try TextRule.require(source, "source", RoomLimits.source)
        info.sourceID = try TextRule.require(sourceID, "sourceId", RoomLimits.sourceID)
        info.title = try TextRule.require(title, "title", RoomLimits.title)
        if let artist { info.artist = try TextRule.require(artist, "artist", RoomLimits.artist) }
        if let album { info.album = try TextRule.require(album, "album", RoomLimits.artist) }
        if let artworkURL {
            info.artworkURL = try WebAddressRule.require(artworkURL, "artworkUrl", RoomLimits.artworkURL)
        }
        if let durationMs, !RoomLimits.durationMs.contains(durationMs) {
            throw .badRequest("durationMs must be 0 to \(RoomLimits.durationMs.upperBound)")
        }
        return info
    }
}
