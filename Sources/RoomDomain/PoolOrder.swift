/// The order of a pool's tracks: by title as the protocol defines it, then by number.
///
/// A room and a client's replica of it use the same order.
package enum PoolOrder {
    /// Inserts tracks that are already in `tracks` into the order of the others.
    ///
    /// A few tracks cost a binary search and a shift of the array each; many are merged in one pass.
    ///
    /// - Returns: The tracks' places in the new order, ascending.
    @discardableResult
    package static func insert(
        _ ids: [TrackID], into order: inout [TrackID], of tracks: TrackTable
    ) -> [Int] {
        let new = keyed(ids.compactMap { tracks[$0] })
        guard new.count <= 16 else { return merge(new, into: &order, of: tracks) }
        var places: [Int] = []
        for (key, id) in new {
            let place = place(of: key, id, from: 0, in: order, of: tracks)
            order.insert(id, at: place)
            places.append(place)
        }
        return places
    }

    /// The numbers of tracks, sorted anew.
    package static func sorted(_ tracks: some Sequence<Track>) -> [TrackID] {
        keyed(tracks).map(\.id)
    }

    /// The first index, not before `start`, whose track does not sort before the given one.
    static func place(
        of key: TitleKey, _ id: TrackID, from start: Int, in order: [TrackID], of tracks: TrackTable
    ) -> Int {
        var low = start
        var high = order.count
        while low < high {
            let middle = low + (high - low) / 2
            let other = tracks[order[middle]]?.titleKey ?? TitleKey(bytes: [])
            if (other, order[middle]) < (key, id) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Tracks in the pool's order, with their keys.
    private static func keyed(_ tracks: some Sequence<Track>) -> [(key: TitleKey, id: TrackID)] {
        tracks.map { (key: $0.titleKey, id: $0.id) }.sorted { ($0.key, $0.id) < ($1.key, $1.id) }
    }

    private static func merge(
        _ new: [(key: TitleKey, id: TrackID)], into order: inout [TrackID], of tracks: TrackTable
    ) -> [Int] {
        var merged: [TrackID] = []
        merged.reserveCapacity(order.count + new.count)
        var places: [Int] = []
        places.reserveCapacity(new.count)
        var start = 0
        for (key, id) in new {
            let place = place(of: key, id, from: start, in: order, of: tracks)
            merged.append(contentsOf: order[start..<place])
            places.append(merged.count)
            merged.append(id)
            start = place
        }
        merged.append(contentsOf: order[start...])
        order = merged
        return places
    }
}

/// Keeps the pool sorted.
extension RoomState {
    /// Inserts tracks that are already in ``tracks`` into the pool's order.
    mutating func addToPoolOrder(_ ids: [TrackID]) {
        PoolOrder.insert(ids, into: &poolOrder, of: tracks)
    }

    /// Removes tracks from the pool's order.
    mutating func removeFromPoolOrder(_ ids: Set<TrackID>) {
        poolOrder.removeAll(where: ids.contains)
    }

    /// Sorts the whole pool again from ``tracks``.
    mutating func rebuildPoolOrder() {
        poolOrder = PoolOrder.sorted(tracks.values)
    }
}
