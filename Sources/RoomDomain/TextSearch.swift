/// Searches texts for a text, all of them in the form by which titles are sorted.
///
/// A search is linear in the length of the searched text, whatever the wanted text is (Knuth, Morris, Pratt 1977).
struct TextSearch {
    private let wanted: [UInt8]
    /// For each length of a matched prefix, the length of the longest part of it that may begin another match.
    private let fallback: [Int]

    init(_ text: String) {
        wanted = TitleKey(text).bytes
        var fallback = [0]
        var length = 0
        for byte in wanted.dropFirst() {
            while length > 0, wanted[length] != byte { length = fallback[length - 1] }
            if wanted[length] == byte { length += 1 }
            fallback.append(length)
        }
        self.fallback = fallback
    }

    /// Whether the wanted text is empty, and so is found everywhere.
    var isEmpty: Bool { wanted.isEmpty }

    /// Whether the title, the artist or the album contains the text.
    func isIn(_ track: SharedTrackInfo) -> Bool {
        guard !isEmpty else { return true }
        let keys = track.keys
        return isIn(keys.title.bytes) || isIn(keys.rest)
    }

    /// Whether the bytes contain the wanted text, which must not be empty.
    func isIn(_ bytes: [UInt8]) -> Bool {
        var length = 0
        for byte in bytes {
            while length > 0, wanted[length] != byte { length = fallback[length - 1] }
            if wanted[length] == byte { length += 1 }
            if length == wanted.count { return true }
        }
        return false
    }
}
