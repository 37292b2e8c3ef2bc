package import FoundationEssentials
package import GeoSearch

/// A stream's row in the directory, written in the append's transaction.
package struct DirectoryEntry: Hashable, Sendable {
    /// Short code, unique among open streams.
    package var code: String
    /// The room's name.
    package var name: String
    /// Whether listings may show it.
    package var isPublic: Bool
    /// WGS-84 degrees of a ``RoundedLocation``, or the values that a row has instead; both are nil or neither is.
    package private(set) var latitude: Double?
    /// WGS-84 degrees of a ``RoundedLocation``, or the values that a row has instead; both are nil or neither is.
    package private(set) var longitude: Double?
    /// Milliseconds since the Unix epoch.
    package var createdAt: Int64
    /// Milliseconds since the Unix epoch; nil while open.
    package var closedAt: Int64?
    /// The owner's session; nil if the room has no members.
    package var owner: UUID?
    /// Display name of the DJ.
    package var djName: String?
    /// The title on air.
    package var nowPlayingTitle: String?
    /// The performer of the song on air.
    package var nowPlayingArtist: String?

    package init(
        code: String, name: String, isPublic: Bool, location: RoundedLocation? = nil,
        createdAt: Int64, closedAt: Int64? = nil, owner: UUID? = nil, djName: String? = nil,
        nowPlayingTitle: String? = nil, nowPlayingArtist: String? = nil
    ) {
        self.code = code
        self.name = name
        self.isPublic = isPublic
        latitude = location?.latitude
        longitude = location?.longitude
        self.createdAt = createdAt
        self.closedAt = closedAt
        self.owner = owner
        self.djName = djName
        self.nowPlayingTitle = nowPlayingTitle
        self.nowPlayingArtist = nowPlayingArtist
    }

    /// The entry with the coordinates from a row of a store, which have not been checked.
    package func withStored(latitude: Double?, longitude: Double?) -> DirectoryEntry {
        var entry = self
        entry.latitude = latitude
        entry.longitude = longitude
        return entry
    }

    /// The room's location; nil if it has none, or if the numbers are not a valid point.
    package var location: RoundedLocation? {
        guard let latitude, let longitude else { return nil }
        return Coordinate(latitude: latitude, longitude: longitude).map { RoundedLocation(stored: $0) }
    }
}

/// A stream's entry together with its id.
package struct DirectoryRecord: Hashable, Sendable {
    /// The stream.
    package var stream: UUID
    /// Its entry.
    package var entry: DirectoryEntry

    package init(stream: UUID, entry: DirectoryEntry) {
        self.stream = stream
        self.entry = entry
    }
}

/// A point in a directory's history from which a reader asks for changes; only the store that issued it can read it.
package struct DirectoryMark: Hashable, Sendable {
    /// The store's own text for the point.
    package var text: String

    package init(_ text: String) { self.text = text }
}

/// Changes in a directory since a mark.
package struct DirectoryChanges: Sendable {
    /// The entries as they are now, in no particular order.
    ///
    /// Nil if there was no mark, or if the store does not know the mark: it is too old, or belongs to a log that a
    /// restored backup has replaced. The reader must then read every entry.
    package var records: [DirectoryRecord]?
    /// The mark from which to ask for the next changes.
    package var mark: DirectoryMark

    package init(records: [DirectoryRecord]?, mark: DirectoryMark) {
        self.records = records
        self.mark = mark
    }
}
