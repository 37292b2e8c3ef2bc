/// Keeps the pool sorted.
extension RoomState {
    /// Inserts tracks that are already in ``tracks`` into the pool's order.
    ///
    /// A few tracks cost a binary search and a shift of the array each; many are merged in one pass.
    mutating func addToPoolOrder(_ ids: [TrackID]) {
        let new = Self.keyed(ids.compactMap { tracks[$0] })
        if new.count <= 16 {
            for (key, id) in new { poolOrder.insert(id, at: pool.place(of: key, id, from: 0)) }
        } else {
            merge(new)
        }
    }

    /// Removes tracks from the pool's order.
    mutating func removeFromPoolOrder(_ ids: Set<TrackID>) {
        poolOrder.removeAll(where: ids.contains)
    }

    /// Sorts the whole pool again from ``tracks``.
    mutating func rebuildPoolOrder() {
        poolOrder = Self.keyed(tracks.values).map(\.id)
    }

    /// Tracks in the pool's order, with their keys.
    private static func keyed(_ tracks: some Sequence<Track>) -> [(key: TitleKey, id: TrackID)] {
        tracks.map { (key: $0.titleKey, id: $0.id) }.sorted { ($0.key, $0.id) < ($1.key, $1.id) }
    }

    private mutating func merge(_ new: [(key: TitleKey, id: TrackID)]) {
        let before = pool
        var order: [TrackID] = []
        order.reserveCapacity(poolOrder.count + new.count)
        var start = 0
        for (key, id) in new {
            let place = before.place(of: key, id, from: start)
            order.append(contentsOf: poolOrder[start..<place])
            order.append(id)
            start = place
        }
        order.append(contentsOf: poolOrder[start...])
        poolOrder = order
    }
}
