/// Bounds on the work that is done for one page of a pool.
package struct PoolWork: Sendable, Hashable {
    /// Bytes that are searched: for each word that is looked for, the texts of each track, and ``track`` bytes for each
    /// track.
    package var examined = 2 << 20
    /// Bytes of the texts on the page.
    package var page = 512 << 10

    /// The cost of looking at one track, in bytes.
    static let track = 64

    /// The defaults let 10,000 ordinary tracks be searched in one page.
    package init() {}
}

/// A pool at one position: an immutable copy that can be read on another thread while the room goes on.
package struct PoolView: Sendable {
    let tracks: TrackTable
    let order: [TrackID]

    /// Returns the page of tracks that `query` asks for.
    ///
    /// `work` bounds the cost of a page; a page that this bound ends early has its ``PoolPage/next`` as any other. By
    /// title, a page costs a binary search for its start and the tracks that are read; by votes, the tracks that have
    /// votes are sorted first.
    package func page(_ query: PoolQuery, work: PoolWork = PoolWork()) -> PoolPage {
        switch query.start {
        case .first(.title): page(of: order[...], query, work)
        case .after(.title(let key, let track)): page(of: order(after: key, track), query, work)
        case .first(.votes): page(of: requests(after: nil) + withoutVotes(order[...]), query, work)
        case .after(.votes(let votes, let seq, let track)):
            page(
                of: requests(after: RequestRank(votes: votes, requestedSeq: seq, track: track))
                    + withoutVotes(order[...]), query,
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
        /// The last track that has been examined and need not be examined again.
        var last: Track?
        func end() -> PoolPage {
            page.next = last.map { place(of: $0, by: query.start.sort) }
            return page
        }
        for case let track? in ids.lazy.map({ tracks[$0] }) {
            guard last == nil || examined < work.examined && bytes < work.page else { return end() }
            examined += PoolWork.track
            if search.isIn(track.shared, examined: &examined) {
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
        var place = PoolOrder.place(of: TitleKey(bytes: key), track, from: 0, in: order, of: tracks)
        if place < order.count, order[place] == track { place += 1 }
        return order[place...]
    }

    /// The tracks with votes after a position, in the order of ``RoomState/requestOrder()``.
    private func requests(after place: RequestRank?) -> [TrackID] {
        tracks.values.lazy.filter { $0.votes > 0 }
            .map { RequestRank(votes: $0.votes, requestedSeq: $0.requestedSeq ?? 0, track: $0.id) }
            .filter { request in place.map { $0 < request } ?? true }
            .sorted().map(\.track)
    }

    private func withoutVotes(_ order: ArraySlice<TrackID>) -> [TrackID] {
        order.filter { tracks[$0]?.votes == 0 }
    }
}

extension RoomState {
    /// The pool as it is now.
    ///
    /// Taking the view costs nothing; while it is held, changing the room copies small pieces.
    package var pool: PoolView { PoolView(tracks: tracks, order: poolOrder) }

    /// The page of tracks that `query` asks for; see ``PoolView/page(_:work:)``.
    package func poolPage(_ query: PoolQuery) -> PoolPage { pool.page(query) }
}

extension TrackInfo {
    /// The size of the track's texts in bytes.
    fileprivate var length: Int {
        source.utf8.count + sourceID.utf8.count + searchedLength + (artworkURL?.utf8.count ?? 0)
    }
}
