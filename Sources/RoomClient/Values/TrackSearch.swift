import RoomDomain

/// A search for songs by the words that a person types, as every part of Backline searches.
///
/// A song is found if it has every word in its title, its artist or its album. Neither case, accents, punctuation nor
/// the kind of hyphens and quotes matter: `acdc` finds AC/DC, `beyonce` finds Beyoncé, and `semi charmed` finds
/// Semi-Charmed Life.
///
/// ```swift
/// let found = room.tracks(with: "don't stop")
/// ```
public struct TrackSearch: Sendable, Hashable {
    private let search: TextSearch

    /// A search for all words of a text.
    public init(_ query: String) { search = TextSearch(query) }

    /// Whether the text has no words, and so every song is found.
    public var isEmpty: Bool { search.isEmpty }

    /// Whether a song of this title, artist and album is found.
    public func finds(title: String, artist: String? = nil, album: String? = nil) -> Bool {
        search.finds(title: title, artist: artist, album: album)
    }

    func finds(_ track: SharedTrackInfo) -> Bool { search.isIn(track) }
}

extension Room {
    /// The tracks of the pool that have every word of a text, in the pool's order; see ``TrackSearch``.
    ///
    /// A pool of ten thousand tracks takes some milliseconds.
    public func tracks(with words: String) -> [Track] {
        let search = TrackSearch(words)
        return search.isEmpty ? pool : pool.filter { search.finds($0.shared) }
    }
}
