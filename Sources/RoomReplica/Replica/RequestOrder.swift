package import RoomDomain

/// The tracks with votes, most votes first, then the earliest request; kept sorted.
///
/// The ranks are stored in small sorted pieces, so that a change of one track costs three binary searches and moves a
/// few kilobytes. Sorting anew would cost milliseconds where thousands of tracks have votes.
package struct RequestOrder: Sendable {
    /// A piece with more ranks than this is split into two.
    private static let pieceLimit = 128

    /// Sorted ranks; no piece is empty, and the last rank of each is before the first one of the next.
    private var pieces: [[RequestRank]] = []

    package init() {}

    /// The order of all tracks of a table that have votes: `given`, if it is that order, else sorted anew.
    package init(of table: TrackTable, given: [TrackID] = []) {
        let voted = table.values.filter { $0.votes > 0 }
        var ranks = given.compactMap { table.rank(of: $0) }
        let isSorted = zip(ranks, ranks.dropFirst()).allSatisfy { $0 < $1 } && ranks.allSatisfy { $0.votes > 0 }
        if !isSorted || ranks.count != voted.count { ranks = voted.compactMap { table.rank(of: $0.id) }.sorted() }
        let size = Self.pieceLimit / 2
        pieces = stride(from: 0, to: ranks.count, by: size).map { Array(ranks[$0..<min($0 + size, ranks.count)]) }
    }

    /// The tracks in order.
    ///
    /// O(tracks with votes).
    package var tracks: [TrackID] { pieces.flatMap { $0.map(\.track) } }

    /// The number of tracks with votes.
    package var count: Int { pieces.reduce(0) { $0 + $1.count } }

    /// Moves a track from one rank to another; a rank without votes has no place.
    package mutating func move(from old: RequestRank?, to new: RequestRank?) {
        if let old, old.votes > 0 { remove(old) }
        if let new, new.votes > 0 { insert(new) }
    }

    private mutating func remove(_ rank: RequestRank) {
        let index = piece(of: rank)
        guard index < pieces.count else { return }
        let place = Self.place(of: rank, in: pieces[index])
        guard place < pieces[index].count, pieces[index][place] == rank else { return }
        if pieces[index].count == 1 { pieces.remove(at: index) } else { pieces[index].remove(at: place) }
    }

    private mutating func insert(_ rank: RequestRank) {
        guard !pieces.isEmpty else { return pieces = [[rank]] }
        let index = min(piece(of: rank), pieces.count - 1)
        pieces[index].insert(rank, at: Self.place(of: rank, in: pieces[index]))
        guard pieces[index].count > Self.pieceLimit else { return }
        let half = pieces[index].count / 2
        pieces.insert(Array(pieces[index][half...]), at: index + 1)
        pieces[index].removeSubrange(half...)
    }

    /// The first piece that does not end before `rank`.
    private func piece(of rank: RequestRank) -> Int {
        var (low, high) = (0, pieces.count)
        while low < high {
            let middle = low + (high - low) / 2
            if let last = pieces[middle].last, last < rank { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The first place in a piece that is not before `rank`.
    private static func place(of rank: RequestRank, in piece: [RequestRank]) -> Int {
        var (low, high) = (0, piece.count)
        while low < high {
            let middle = low + (high - low) / 2
            if piece[middle] < rank { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
