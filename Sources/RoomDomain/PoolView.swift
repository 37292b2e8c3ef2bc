/// How much is done for one page of a pool.
package struct PoolWork: Sendable, Hashable {
    /// Bytes that are looked through for a text, with ``track`` for each track beside its keys.
    package var examined = 2 << 20
    /// Bytes of the page's texts.
    package var page = 512 << 10

    /// What it costs to look at a track, in bytes.
    static let track = 64

    /// Enough for 10,000 usual tracks to be searched at once.
    package init() {}
}

/// A pool at one position: a value that others may read while the room goes on.
package struct PoolView: Sendable {
    let tracks: TrackTable
    let order: [TrackID]

    /// The tracks that are asked for, in their order, at most so many.
    ///
    /// What a page costs is bounded by `work`; where that ends it, the page has its ``PoolPage/next`` all the same. By
    /// title it costs a search for the place and what is read; by votes, the tracks that have some are sorted first.
    package func page(_ query: PoolQuery, work: PoolWork = PoolWork()) -> PoolPage {
        switch query.start {
        case .first(.title): page(of: order[...], query, work)
        case .after(.title(let key, let track)): page(of: order(after: key, track), query, work)
        case .first(.votes): page(of: requests(after: nil) + withoutVotes(order[...]), query, work)
        case .after(.votes(let votes, let seq, let track)):
            page(
                of: requests(after: Request(votes: votes, seq: seq, track: track)) + withoutVotes(order[...]), query,
                work)
        case .after(.noVotes(let key, let track)): page(of: withoutVotes(order(after: key, track)), query, work)
        case .first(.added): page(of: tracks.ids(after: nil), query, work)
        case .after(.added(let track)): page(of: tracks.ids(after: track), query, work)
        }
    }

    private func page(of ids: some Sequence<TrackID>, _ query: PoolQuery, _ work: PoolWork) -> PoolPage {
        let search = TextSearch(query.text)
        var page = PoolPage()
        var (examined, bytes) = (0, 0)
        /// The last track that was looked at and need not be looked at again.
        var last: Track?
        func end() -> PoolPage {
            page.next = last.map { place(of: $0, by: query.start.sort) }
            return page
        }
        for case let track? in ids.lazy.map({ tracks[$0] }) {
            guard last == nil || examined < work.examined && bytes < work.page else { return end() }
            examined += PoolWork.track + (search.isEmpty ? 0 : track.shared.keys.count)
            if search.isIn(track.shared) {
                guard page.tracks.count < query.limit else { return end() }
                page.tracks.append(track)
                bytes += track.info.length
            }
            last = track
        }
        return page
    }

    private func place(of track: Track, by sort: PoolSort) -> PoolPlace {
        switch sort {
        case .title: .title(track.titleKey.bytes, track.id)
        case .votes where track.votes > 0:
            .votes(track.votes, requestedSeq: track.requestedSeq ?? 0, track.id)
        case .votes: .noVotes(track.titleKey.bytes, track.id)
        case .added: .added(track.id)
        }
    }

    // MARK: Orders

    private func order(after key: [UInt8], _ track: TrackID) -> ArraySlice<TrackID> {
        var place = place(of: TitleKey(bytes: key), track, from: 0)
        if place < order.count, order[place] == track { place += 1 }
        return order[place...]
    }

    /// The first place, not before `start`, whose track does not come before the given one.
    func place(of key: TitleKey, _ id: TrackID, from start: Int) -> Int {
        var low = start
        var high = order.count
        while low < high {
            let middle = low + (high - low) / 2
            let other = tracks[order[middle]]?.titleKey ?? TitleKey(bytes: [])
            if (other, order[middle]) < (key, id) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private struct Request: Comparable {
        var votes: Int
        var seq: Int
        var track: TrackID

        /// Most votes first, then who asked first.
        static func < (left: Self, right: Self) -> Bool {
            (right.votes, left.seq, left.track) < (left.votes, right.seq, right.track)
        }
    }

    /// The tracks with votes after a place, as ``RoomState/requestOrder()`` has them.
    private func requests(after place: Request?) -> [TrackID] {
        tracks.values.lazy.filter { $0.votes > 0 }
            .map { Request(votes: $0.votes, seq: $0.requestedSeq ?? 0, track: $0.id) }
            .filter { request in place.map { $0 < request } ?? true }
            .sorted().map(\.track)
    }

    private func withoutVotes(_ order: ArraySlice<TrackID>) -> [TrackID] {
        order.filter { tracks[$0]?.votes == 0 }
    }
}

extension RoomState {
    /// The pool as it is; it costs nothing, and little what the room changes while somebody has it.
    package var pool: PoolView { PoolView(tracks: tracks, order: poolOrder) }

    /// The tracks that are asked for; see ``PoolView/page(_:work:)``.
    package func poolPage(_ query: PoolQuery) -> PoolPage { pool.page(query) }
}

extension TrackInfo {
    /// How many bytes its texts have.
    fileprivate var length: Int {
        var length = source.utf8.count + sourceID.utf8.count + title.utf8.count
        for text in [artist, album, artworkURL] { length += text?.utf8.count ?? 0 }
        return length
    }
}
