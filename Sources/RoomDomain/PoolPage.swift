/// The order in which a pool is read.
package enum PoolSort: String, Sendable, Hashable, CaseIterable {
    /// The pool's own order: by title, then by number.
    case title
    /// Most votes first, then the earliest request; tracks without votes follow in the pool's own order.
    case votes
    /// By number: the order in which tracks were added.
    case added
}

/// A position in a sorted pool, just after one of its tracks.
///
/// It holds the values that the track was sorted by, so it stays valid whatever is added or removed.
package enum PoolPlace: Sendable, Hashable {
    /// By title: the track's sort key in UTF-8, and its number.
    case title([UInt8], TrackID)
    /// By votes, among the tracks that have votes.
    case votes(Int, requestedSeq: Int, TrackID)
    /// By votes, among the tracks that have no votes.
    case noVotes([UInt8], TrackID)
    /// By number.
    case added(TrackID)

    /// The order that the position belongs to.
    package var sort: PoolSort {
        switch self {
        case .title: .title
        case .votes, .noVotes: .votes
        case .added: .added
        }
    }
}

/// A request for one page of a pool.
package struct PoolQuery: Sendable, Hashable {
    /// The order, and the position in it where the page begins.
    package enum Start: Sendable, Hashable {
        /// At the first track.
        case first(PoolSort)
        /// After the last track of the previous page.
        case after(PoolPlace)
    }

    /// The start of the page.
    package var start: Start
    /// The words that a track must have in its title, artist or album, as ``TextSearch`` finds them; a text without words
    /// matches every track.
    package var text: String
    /// The most tracks that the page may have; ``PoolWork`` may end it earlier.
    package var limit: Int

    package init(start: Start, text: String = "", limit: Int) {
        self.start = start
        self.text = text
        self.limit = limit
    }
}

/// One page of a pool.
package struct PoolPage: Sendable, Hashable {
    /// Tracks in the requested order; it may be empty although there is a next page.
    package var tracks: [Track]
    /// The start of the next page; nil on the last page.
    package var next: PoolPlace?

    package init(tracks: [Track] = [], next: PoolPlace? = nil) {
        self.tracks = tracks
        self.next = next
    }
}

extension PoolQuery.Start {
    /// The requested order.
    package var sort: PoolSort {
        switch self {
        case .first(let sort): sort
        case .after(let place): place.sort
        }
    }
}
