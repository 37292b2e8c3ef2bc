/// Finds a room's slot by its id: a hash table of slot numbers; the ids themselves stay in the slots.
///
/// Open addressing with linear probing, at most three quarters full: 8 bytes for each entry, 11 to 21 bytes for each
/// room. It stores 32 bits of each hash, so that it grows without reading the ids, and rarely compares a wrong id.
struct SlotTable {
    /// The upper 32 bits are the hash, the lower ones the slot plus one; 0 is free.
    private var entries = [UInt64](repeating: 0, count: 16)
    private var count = 0

    /// Returns the slot of the id with this hash; `matches` tells whether a slot has the id.
    func slot(hash: Int, where matches: (UInt32) -> Bool) -> UInt32? {
        position(hash: hash, where: matches).map { Self.slot(of: entries[$0]) }
    }

    /// Adds the slot of an id that is not in the table.
    mutating func insert(_ slot: UInt32, hash: Int) {
        if count >= entries.count / 4 * 3 { grow() }
        place(UInt64(Self.tag(hash)) << 32 | UInt64(slot &+ 1))
        count += 1
    }

    /// Removes an id and returns its slot.
    mutating func remove(hash: Int, where matches: (UInt32) -> Bool) -> UInt32? {
        guard var hole = position(hash: hash, where: matches) else { return nil }
        let removed = Self.slot(of: entries[hole])
        // Entries after the hole move up if a search would otherwise stop at the hole before finding them.
        var next = following(hole)
        while entries[next] != 0 {
            let home = home(of: entries[next])
            if (next &- home) & mask >= (next &- hole) & mask {
                entries[hole] = entries[next]
                hole = next
            }
            next = following(next)
        }
        entries[hole] = 0
        count -= 1
        return removed
    }

    private var mask: Int { entries.count &- 1 }

    private static func tag(_ hash: Int) -> UInt32 { UInt32(truncatingIfNeeded: hash) }
    private static func slot(of entry: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: entry) &- 1 }
    private func home(of entry: UInt64) -> Int { Int(entry >> 32) & mask }
    private func following(_ position: Int) -> Int { (position &+ 1) & mask }

    private func position(hash: Int, where matches: (UInt32) -> Bool) -> Int? {
        let tag = UInt64(Self.tag(hash))
        var position = Int(tag) & mask
        while entries[position] != 0 {
            let entry = entries[position]
            if entry >> 32 == tag, matches(Self.slot(of: entry)) { return position }
            position = following(position)
        }
        return nil
    }

    private mutating func place(_ entry: UInt64) {
        var position = home(of: entry)
        while entries[position] != 0 { position = following(position) }
        entries[position] = entry
    }

    private mutating func grow() {
        let old = entries
        entries = [UInt64](repeating: 0, count: old.count * 2)
        for entry in old where entry != 0 { place(entry) }
    }
}
