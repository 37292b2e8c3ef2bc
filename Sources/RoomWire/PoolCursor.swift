package import RoomDomain

/// The cursor of a position in a pool: opaque text for clients that is safe in a URL's query.
extension PoolPlace {
    /// Reads a ``cursor``; nil for any other text.
    package init?(cursor: String) {
        let parts = cursor.split(separator: ".", omittingEmptySubsequences: false)
        guard let kind = parts.first else { return nil }
        let numbers = parts.dropFirst().compactMap { Int($0) }.filter { $0 > 0 }
        switch (kind, parts.count, numbers.count) {
        case ("a", 2, 1): self = .added(TrackID(rawValue: numbers[0]))
        case ("v", 4, 3): self = .votes(numbers[0], requestedSeq: numbers[1], TrackID(rawValue: numbers[2]))
        case ("t", 3, _), ("n", 3, _):
            guard let number = Int(parts[1]), number > 0, let key = [UInt8](hexadecimal: parts[2]) else { return nil }
            let track = TrackID(rawValue: number)
            self = kind == "t" ? .title(key, track) : .noVotes(key, track)
        default: return nil
        }
    }

    /// The position as text.
    package var cursor: String {
        switch self {
        case .added(let track): "a.\(track.rawValue)"
        case .votes(let votes, let seq, let track): "v.\(votes).\(seq).\(track.rawValue)"
        case .title(let key, let track): "t.\(track.rawValue).\(key.hexadecimal)"
        case .noVotes(let key, let track): "n.\(track.rawValue).\(key.hexadecimal)"
        }
    }
}

extension [UInt8] {
    /// Reads pairs of lower-case hexadecimal digits; nil for any other text.
    fileprivate init?(hexadecimal text: Substring) {
        let digits = text.utf8.compactMap { Self.digits.firstIndex(of: $0) }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    fileprivate var hexadecimal: String {
        String(decoding: flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
