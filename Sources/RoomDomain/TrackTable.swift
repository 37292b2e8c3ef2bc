/// The tracks of a pool by number, stored in small pieces.
///
/// Copying the table costs nothing. A change while a copy exists copies the dictionary of pieces and one piece of at
/// most 64 tracks. A reader of a copy therefore never delays the room's event loop.
package struct TrackTable: Sendable, Equatable {
    /// Tracks grouped by the upper bits of their numbers; each piece is sorted by number.
    private var pieces: [Int: [Track]] = [:]
    /// The number of tracks.
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// The track with this number; a track that is assigned must have the same number.
    package subscript(id: TrackID) -> Track? {
        get {
            guard let piece = pieces[Self.piece(of: id)] else { return nil }
            let place = Self.place(of: id, in: piece)
            return place < piece.count && piece[place].id == id ? piece[place] : nil
        }
        set { _ = updateValue(newValue, forKey: id) }
    }

    /// Sets the track with a number, or removes it if `track` is nil; returns the track that was there.
    @discardableResult
    package mutating func updateValue(_ track: Track?, forKey id: TrackID) -> Track? {
        let number = Self.piece(of: id)
        let place = pieces[number].map { Self.place(of: id, in: $0) } ?? 0
        var old: Track?
        if let piece = pieces[number], place < piece.count, piece[place].id == id { old = piece[place] }
        switch (old, track) {
        case (nil, nil): break
        case (nil, let track?):
            pieces[number, default: []].insert(track, at: place)
            count += 1
        case (_?, let track?): pieces[number]?[place] = track
        case (_?, nil):
            pieces[number]?.remove(at: place)
            if pieces[number]?.isEmpty == true { pieces[number] = nil }
            count -= 1
        }
        return old
    }

    /// Changes a track in place; false if there is none with this number.
    @discardableResult
    package mutating func update(_ id: TrackID, _ body: (inout Track) -> Void) -> Bool {
        guard let index = pieces.index(forKey: Self.piece(of: id)) else { return false }
        let place = Self.place(of: id, in: pieces.values[index])
        guard place < pieces.values[index].count, pieces.values[index][place].id == id else { return false }
        body(&pieces.values[index][place])
        return true
    }

    /// The rank of a track among the requests, without a copy of the track; nil if there is none with this number.
    package func rank(of id: TrackID) -> RequestRank? {
        guard let piece = pieces[Self.piece(of: id)] else { return nil }
        let place = Self.place(of: id, in: piece)
        guard place < piece.count, piece[place].id == id else { return nil }
        return RequestRank(votes: piece[place].votes, requestedSeq: piece[place].requestedSeq ?? 0, track: id)
    }

    /// The tracks, in no particular order.
    package var values: some Sequence<Track> { pieces.values.joined() }

    /// Their numbers, in no particular order.
    package var keys: some Sequence<TrackID> { values.lazy.map(\.id) }

    /// The numbers greater than the given one, ascending; nil: all numbers.
    package func ids(after id: TrackID?) -> some Sequence<TrackID> {
        let last = id ?? TrackID(rawValue: .min)
        let pieces = pieces
        return pieces.keys.filter { $0 >= Self.piece(of: last) }.sorted().lazy
            .flatMap { pieces[$0] ?? [] }.map(\.id).filter { last < $0 }
    }

    private static func piece(of id: TrackID) -> Int { id.rawValue >> 6 }

    /// The first index in a piece whose number is not less than the given one.
    private static func place(of id: TrackID, in piece: [Track]) -> Int {
        guard !piece.isEmpty else { return 0 }
        // Where no track was removed, the number tells the place.
        let guess = id.rawValue &- piece[0].id.rawValue
        if piece.indices.contains(guess), piece[guess].id == id { return guess }
        // Tracks mostly come with growing numbers.
        guard id <= piece[piece.count - 1].id else { return piece.count }
        var (low, high) = (0, piece.count)
        while low < high {
            let middle = low + (high - low) / 2
            if piece[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
