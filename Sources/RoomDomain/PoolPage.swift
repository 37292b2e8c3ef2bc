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
    /// How many tracks the page has at most.
    package var limit: Int

    package init(start: Start, text: String = "", limit: Int) {
        self.start = start
        self.text = text
        self.limit = limit
    }
}

/// A part of a pool.
package struct PoolPage: Sendable, Hashable {
    /// Tracks, in the order that was asked for.
    package var tracks: [Track]
    /// Where the next page begins; nil where there are no more.
    package var next: PoolPlace?

    package init(tracks: [Track] = [], next: PoolPlace? = nil) {
        self.tracks = tracks
        self.next = next
    }
}

/// Reading the pool.
extension RoomState {
    /// The tracks that are asked for, in their order, at most so many.
    ///
    /// By title it costs a search for the place and what is read; the other orders are sorted first. With a text, as
    /// many tracks are looked at as it takes to fill the page.
    package func poolPage(_ query: PoolQuery) -> PoolPage {
        switch query.start {
        case .first(.title): page(of: poolOrder[...], query)
        case .after(.title(let key, let track)): page(of: pool(after: key, track), query)
        case .first(.votes): page(of: requestOrder() + withoutVotes(poolOrder[...]), query)
        case .after(.votes(let votes, let seq, let track)):
            page(of: requests(after: (votes, seq, track)) + withoutVotes(poolOrder[...]), query)
        case .after(.noVotes(let key, let track)): page(of: withoutVotes(pool(after: key, track)), query)
        case .first(.added): page(of: tracks.keys.sorted(), query)
        case .after(.added(let track)): page(of: tracks.keys.filter { track < $0 }.sorted(), query)
        }
    }

    private func page(of order: some Sequence<TrackID>, _ query: PoolQuery) -> PoolPage {
        var search = TextSearch(query.text)
        var page = PoolPage()
        for case let track? in order.lazy.map({ tracks[$0] }) where search.isIn(track.info) {
            guard page.tracks.count < query.limit else {
                page.next = page.tracks.last.map { place(of: $0, by: query.start.sort) }
                break
            }
            page.tracks.append(track)
        }
        return page
    }

    private func place(of track: Track, by sort: PoolSort) -> PoolPlace {
        switch sort {
        case .title: .title(TitleKey(track.info.title).bytes, track.id)
        case .votes where track.votes > 0:
            .votes(track.votes, requestedSeq: track.requestedSeq ?? 0, track.id)
        case .votes: .noVotes(TitleKey(track.info.title).bytes, track.id)
        case .added: .added(track.id)
        }
    }

    private func pool(after key: [UInt8], _ track: TrackID) -> ArraySlice<TrackID> {
        var place = poolPlace(of: TitleKey(bytes: key), track, from: 0)
        if place < poolOrder.count, poolOrder[place] == track { place += 1 }
        return poolOrder[place...]
    }

    /// Those of the requests that come after a place, as ``requestOrder()`` has them.
    private func requests(after place: (votes: Int, seq: Int, track: TrackID)) -> [TrackID] {
        requestOrder().filter { id in
            guard let track = tracks[id] else { return false }
            return (track.votes, place.seq, place.track) < (place.votes, track.requestedSeq ?? 0, id)
        }
    }

    private func withoutVotes(_ order: ArraySlice<TrackID>) -> [TrackID] {
        order.filter { tracks[$0]?.votes == 0 }
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

/// Finds a text in others, all of them in the form by which titles are sorted.
private struct TextSearch {
    private let wanted: [UInt8]
    /// What is searched, kept so that not every text takes memory of its own.
    private var buffer: [UInt8] = []

    init(_ text: String) {
        wanted = TitleKey(text).bytes
    }

    /// Whether the title, the artist or the album contains the text.
    mutating func isIn(_ info: TrackInfo) -> Bool {
        guard let first = wanted.first else { return true }
        return isIn(info.title, first) || isIn(info.artist, first) || isIn(info.album, first)
    }

    private mutating func isIn(_ text: String?, _ first: UInt8) -> Bool {
        guard let text else { return false }
        buffer.removeAll(keepingCapacity: true)
        buffer.append(contentsOf: text.utf8)
        for index in buffer.indices {
            guard buffer[index] < 0x80 else {
                buffer = TitleKey(text).bytes
                break
            }
            if (0x41...0x5A).contains(buffer[index]) { buffer[index] += 0x20 }
        }
        let last = buffer.count - wanted.count
        guard last >= 0 else { return false }
        return (0...last).contains { start in
            buffer[start] == first && wanted.indices.allSatisfy { buffer[start + $0] == wanted[$0] }
        }
    }
}
