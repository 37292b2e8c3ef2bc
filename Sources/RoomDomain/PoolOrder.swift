// The standard library's normalization has no public name; Foundation's is not in FoundationEssentials.
@_spi(_Unicode) internal import Swift

/// By what a pool is sorted: a title in NFC, each scalar lower-cased by itself, compared by scalar values.
struct TitleKey: Comparable, Sendable {
    /// The key in UTF-8, whose bytes sort as the scalars do.
    let bytes: [UInt8]

    /// The key that has these bytes.
    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    init(_ title: String) {
        if title.utf8.allSatisfy({ $0 < 0x80 }) {
            // Already in NFC, and only A to Z have another lower case.
            self.bytes = title.utf8.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
        } else {
            var lowered = ""
            for scalar in title._nfc { lowered.unicodeScalars.append(contentsOf: Self.lowercase(scalar)) }
            self.bytes = Array(lowered.utf8)
        }
    }

    static func < (left: Self, right: Self) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }

    /// A scalar's full lower case, without looking at its neighbours: İ becomes two scalars, Σ is never final.
    private static func lowercase(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
        scalar.properties.lowercaseMapping.unicodeScalars
    }
}

/// The sort keys of a pool in its order.
///
/// A cache: it follows from the titles, so two of them never make two rooms differ.
struct PoolKeys: Sendable, Equatable {
    fileprivate var keys: [TitleKey] = []

    static func == (left: Self, right: Self) -> Bool { true }
}

/// Keeping the pool in its order.
extension RoomState {
    /// Puts tracks that are already in ``tracks`` into their places.
    ///
    /// A few cost a search and a move of the places after each; many are merged in, in one pass.
    mutating func addToPoolOrder(_ ids: [TrackID]) {
        let new = Self.keyed(ids.compactMap { tracks[$0] })
        guard poolKeys.keys.count == poolOrder.count else { return rebuildPoolOrder() }
        if new.count <= 16 {
            for (key, id) in new {
                let place = poolPlace(of: key, id, from: 0)
                poolKeys.keys.insert(key, at: place)
                poolOrder.insert(id, at: place)
            }
        } else {
            merge(new)
        }
    }

    /// Takes tracks out of their places.
    mutating func removeFromPoolOrder(_ ids: Set<TrackID>) {
        guard poolKeys.keys.count == poolOrder.count else { return rebuildPoolOrder() }
        var kept = 0
        for place in poolOrder.indices where !ids.contains(poolOrder[place]) {
            if kept < place {
                poolOrder[kept] = poolOrder[place]
                poolKeys.keys.swapAt(kept, place)
            }
            kept += 1
        }
        poolOrder.removeSubrange(kept...)
        poolKeys.keys.removeSubrange(kept...)
    }

    /// Sorts the whole pool again from ``tracks``.
    mutating func rebuildPoolOrder() {
        let sorted = Self.keyed(tracks.values)
        poolKeys.keys = sorted.map(\.key)
        poolOrder = sorted.map(\.id)
    }

    /// Tracks in the pool's order, with their keys.
    private static func keyed(_ tracks: some Sequence<Track>) -> [(key: TitleKey, id: TrackID)] {
        tracks.map { (key: TitleKey($0.info.title), id: $0.id) }.sorted { ($0.key, $0.id) < ($1.key, $1.id) }
    }

    private mutating func merge(_ new: [(key: TitleKey, id: TrackID)]) {
        var keys: [TitleKey] = []
        var order: [TrackID] = []
        keys.reserveCapacity(poolOrder.count + new.count)
        order.reserveCapacity(poolOrder.count + new.count)
        var start = 0
        for (key, id) in new {
            let place = poolPlace(of: key, id, from: start)
            keys.append(contentsOf: poolKeys.keys[start..<place])
            order.append(contentsOf: poolOrder[start..<place])
            keys.append(key)
            order.append(id)
            start = place
        }
        keys.append(contentsOf: poolKeys.keys[start...])
        order.append(contentsOf: poolOrder[start...])
        poolKeys.keys = keys
        poolOrder = order
    }

    /// The first place, not before `start`, whose track does not come before the given one.
    func poolPlace(of key: TitleKey, _ id: TrackID, from start: Int) -> Int {
        var low = start
        var high = poolOrder.count
        while low < high {
            let middle = low + (high - low) / 2
            if (poolKey(at: middle), poolOrder[middle]) < (key, id) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The sort key at a place of the pool.
    private func poolKey(at place: Int) -> TitleKey {
        guard poolKeys.keys.count == poolOrder.count else {
            return TitleKey(tracks[poolOrder[place]]?.info.title ?? "")
        }
        return poolKeys.keys[place]
    }
}
