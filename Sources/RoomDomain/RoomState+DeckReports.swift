/// Decides and folds what the deck reports about tracks: the lengths that it measures, and the tracks that it lacks.
extension RoomState {
    /// Gives a track the length that the deck has measured; the length that it has already causes nothing.
    func setDuration(of id: TrackID, to durationMs: Int64, by: MemberID) throws(RoomRefusal) -> [RoomEvent] {
        guard RoomLimits.measuredMs.contains(durationMs) else {
            throw .badRequest("durationMs must be 1 to \(RoomLimits.measuredMs.upperBound)")
        }
        let track = try existing(id)
        return track.info.durationMs == durationMs
            ? [] : [.durationSet(track: id, durationMs: durationMs, by: by)]
    }

    /// Tells which tracks the deck lacks; numbers that are not in the pool do not count.
    func setMissing(_ ids: [TrackID], by: MemberID) throws(RoomRefusal) -> [RoomEvent] {
        guard ids.count <= RoomLimits.tracks else {
            throw .limitReached("tracks has at most \(RoomLimits.tracks) items")
        }
        let reported = Set(ids.lazy.filter { tracks[$0] != nil })
        return reported == missing ? [] : [.missingSet(tracks: reported.sorted(), by: by)]
    }

    /// The charge follows the newest length.
    mutating func foldDurationSet(_ id: TrackID, _ durationMs: Int64) {
        var change = 0
        tracks.update(id) { track in
            change -= track.charge
            track.setDuration(durationMs)
            change += track.charge
        }
        poolCharge += change
    }

    mutating func foldMissingSet(_ ids: [TrackID]) {
        let reported = Set(ids.filter { tracks[$0] != nil })
        for id in missing.subtracting(reported) { tracks.update(id) { $0.isMissing = false } }
        for id in reported.subtracting(missing) { tracks.update(id) { $0.isMissing = true } }
        missing = reported
    }
}
