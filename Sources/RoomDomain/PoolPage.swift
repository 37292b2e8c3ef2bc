/// In which order a pool is read.
package enum PoolSort: String, Sendable, Hashable, CaseIterable {
    /// The pool's own: by title, then by number.
    case title
    /// Most votes first, then who was asked for first; those without votes as in the pool.
    case votes
    /// By number: as they were added.
    case added
}

/// A place in a pool, behind one of its tracks.
///
/// It holds what the track was sorted by, and so stays where it is whatever is added or removed.
package enum PoolPlace: Sendable, Hashable {
    /// By title: the track's sort key in UTF-8, and its number.
    case title([UInt8], TrackID)
    /// By votes, among the tracks that have some.
    case votes(Int, requestedSeq: Int, TrackID)
    /// By votes, among the tracks that have none.
    case noVotes([UInt8], TrackID)
    /// By number.
    case added(TrackID)

    /// The order that it is a place of.
    package var sort: PoolSort {
        switch self {
        case .title: .title
        case .votes, .noVotes: .votes
        case .added: .added
        }
    }
}

/// What is wanted of a pool.
package struct PoolQuery: Sendable, Hashable {
    /// The order, and where in it the page begins.
    package enum Start: Sendable, Hashable {
        /// With the first track.
        case first(PoolSort)
        /// Behind a track of the page before.
        case after(PoolPlace)
    }

    /// Where the page begins.
    package var start: Start
    /// What a track's title, artist or album must contain; empty: anything.
    ///
    /// All of them are compared as titles are sorted: in NFC, each scalar lower-cased by itself.
    package var text: String
    /// How many tracks the page has at most; it ends before where ``PoolWork`` says so.
    package var limit: Int

    package init(start: Start, text: String = "", limit: Int) {
        self.start = start
        self.text = text
        self.limit = limit
    }
}

/// A part of a pool.
package struct PoolPage: Sendable, Hashable {
    /// Tracks, in the order that was asked for; there may be none although there is a next page.
    package var tracks: [Track]
    /// Where the next page begins; nil where there are no more.
    package var next: PoolPlace?

    package init(tracks: [Track] = [], next: PoolPlace? = nil) {
        self.tracks = tracks
        self.next = next
    }
}

extension PoolQuery.Start {
    /// The order that is asked for.
    package var sort: PoolSort {
        switch self {
        case .first(let sort): sort
        case .after(let place): place.sort
        }
    }
}
