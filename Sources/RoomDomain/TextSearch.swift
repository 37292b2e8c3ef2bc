/// Finds tracks by the words of a query, as Protocol.md specifies it (section 2, *Searching a pool*).
package struct TextSearch: Sendable, Hashable {
    private let words: [SoughtWord]

    package init(_ query: String) {
        words = SearchKey(query).bytes.split(separator: 0x20).map(SoughtWord.init)
    }

    /// Whether the query has no words, and so finds everything.
    package var isEmpty: Bool { words.isEmpty }

    /// Whether every word is in the title, the artist or the album.
    package func finds(title: String, artist: String?, album: String?) -> Bool {
        isEmpty || isIn(SearchKey(title, artist, album).bytes)
    }

    /// Whether every word is in a track's texts.
    package func isIn(_ track: SharedTrackInfo) -> Bool { isEmpty || isIn(track.searchKey.bytes) }

    /// Whether every word is in a track's texts; adds the bytes that were examined.
    func isIn(_ track: SharedTrackInfo, examined: inout Int) -> Bool {
        guard !isEmpty else { return true }
        let key = track.searchKey.bytes
        examined += max(track.info.searchedLength, key.count)
        for (place, word) in words.enumerated() {
            if place > 0 { examined += key.count }
            guard word.isIn(key) else { return false }
        }
        return true
    }

    private func isIn(_ key: [UInt8]) -> Bool { words.allSatisfy { $0.isIn(key) } }
}

/// A word that is searched for in keys.
///
/// A search is linear in the length of the searched text, whatever the word is (Knuth, Morris, Pratt 1977).
private struct SoughtWord: Sendable, Hashable {
    let bytes: [UInt8]
    /// For each length of a matched prefix, the length of the longest part of it that may begin another match.
    private let fallback: [Int]

    init(_ word: ArraySlice<UInt8>) {
        bytes = Array(word)
        var fallback = [0]
        var length = 0
        for byte in bytes.dropFirst() {
            while length > 0, bytes[length] != byte { length = fallback[length - 1] }
            if bytes[length] == byte { length += 1 }
            fallback.append(length)
        }
        self.fallback = fallback
    }

    /// Whether the word stands within a word of the key, or begins at the beginning of one and goes on through the next.
    func isIn(_ key: [UInt8]) -> Bool {
        var length = 0
        /// Whether each of the newest bytes, as many as the word has, begins a word of the key.
        var begins = [Bool](repeating: false, count: bytes.count)
        /// The place in `begins` of the byte after the newest one, which is the oldest one's.
        var place = 0
        /// The bytes since the newest beginning of a word, with that one.
        var inWord = 0
        var isBeginning = true
        for byte in key {
            if byte == 0x20 || byte == SearchKey.separator {
                isBeginning = true
                if byte == SearchKey.separator { length = 0 }
                continue
            }
            while length > 0, bytes[length] != byte { length = fallback[length - 1] }
            if bytes[length] == byte { length += 1 }
            begins[place] = isBeginning
            place = place + 1 == bytes.count ? 0 : place + 1
            inWord = isBeginning ? 1 : inWord + 1
            isBeginning = false
            guard length == bytes.count else { continue }
            if inWord >= length || begins[place] { return true }
            length = fallback[length - 1]
        }
        return false
    }
}
