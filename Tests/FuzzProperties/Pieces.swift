import RandomTestSupport

/// Ways to split bytes into the pieces in which they arrive.
enum Pieces {
    /// All bytes at once.
    static func whole(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] { [bytes] }

    /// One byte at a time.
    static func single(_ bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] { bytes.indices.map { bytes[$0...$0] } }

    /// Pieces whose lengths are derived from `seed`, some of them empty.
    static func cut(_ bytes: ArraySlice<UInt8>, seed: UInt64) -> [ArraySlice<UInt8>] {
        var random = SeededRandom(seed: seed)
        let longest = [2, 9, 70, 1_000][Int(random.next() & 3)]
        var pieces: [ArraySlice<UInt8>] = []
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 0...longest, using: &random))
            pieces.append(piece)
            rest = rest.dropFirst(piece.count)
        }
        return pieces
    }
}
