import RoomDomain
import RoomReplica

/// The tracks with votes as a room shows them: most votes first, then the earliest request; kept sorted.
@MainActor struct RequestList {
    /// The tracks in order.
    private(set) var tracks: [Track] = []

    nonisolated init() {}

    /// The order of tracks, which mostly is the given one.
    init(_ tracks: [Track]) {
        let isSorted = zip(tracks, tracks.dropFirst()).allSatisfy { $0.rank < $1.rank }
        self.tracks = isSorted ? tracks : tracks.sorted { $0.rank < $1.rank }
    }

    /// Gives a track another rank, and its place; a rank without votes has none.
    mutating func move(_ track: Track, to rank: RequestRank) {
        let old = track.rank.votes > 0 ? place(of: track.rank) : tracks.count
        let isListed = old < tracks.count && tracks[old] === track
        let new = place(of: rank)
        switch (isListed, rank.votes > 0) {
        case (false, false): break
        case (false, true): tracks.insert(track, at: new)
        case (true, false): tracks.remove(at: old)
        case (true, true): moveTrack(at: old, to: new > old ? new - 1 : new)
        }
        track.rank = rank
    }

    /// Takes a track in that is not there yet.
    mutating func insert(_ track: Track) {
        if track.rank.votes > 0 { tracks.insert(track, at: place(of: track.rank)) }
    }

    /// Takes tracks out.
    mutating func remove(_ removed: Set<TrackID>) { tracks.removeAll { removed.contains($0.id) } }

    /// Moves only what lies between the two places: a removal and an insertion would move everything behind them.
    private mutating func moveTrack(at old: Int, to new: Int) {
        // Both places are in bounds. Each place but `old` is full before the move between, and all are full at the end.
        unsafe tracks.withUnsafeMutableBufferPointer { tracks in
            let track = unsafe tracks.moveElement(from: old)
            if new < old {
                unsafe _ = tracks[new + 1..<old + 1].moveInitialize(fromContentsOf: tracks[new..<old])
            } else {
                unsafe _ = tracks[old..<new].moveInitialize(fromContentsOf: tracks[old + 1..<new + 1])
            }
            unsafe tracks.initializeElement(at: new, to: track)
        }
    }

    /// The first place whose track is not before a rank.
    private func place(of rank: RequestRank) -> Int {
        var (low, high) = (0, tracks.count)
        while low < high {
            let middle = low + (high - low) / 2
            if tracks[middle].rank < rank { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension RequestRank {
    /// The rank of a track; a vote that is on its way comes after those that are confirmed.
    init(shown track: RoomDomain.Track) {
        self.init(votes: track.votes, requestedSeq: track.requestedSeq ?? .max, track: track.id)
    }

    /// The same of its votes.
    init(shown votes: TrackVotes) {
        self.init(votes: votes.votes, requestedSeq: votes.requestedSeq ?? .max, track: votes.track)
    }
}
