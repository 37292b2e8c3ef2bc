package import FoundationEssentials
package import GeoSearch

/// What the directory says of a stream: columns kept beside its head and written in the append's transaction.
package struct DirectoryEntry: Hashable, Sendable {
    /// Short code, unique among open streams.
    package var code: String
    /// The room's name.
    package var name: String
    /// Whether listings may show it.
    package var isPublic: Bool
    /// WGS-84 degrees of a ``RoundedLocation``, or what a row has in their place; both or neither.
    package private(set) var latitude: Double?
    /// WGS-84 degrees of a ``RoundedLocation``, or what a row has in their place; both or neither.
    package private(set) var longitude: Double?
    /// Milliseconds since the Unix epoch.
    package var createdAt: Int64
    /// Milliseconds since the Unix epoch; nil while open.
    package var closedAt: Int64?
    /// The owner's session; nil where nobody is left.
    package var owner: UUID?
    /// Display name of the DJ.
    package var djName: String?
    /// What is on air.
    package var nowPlayingTitle: String?
    /// Who performs what is on air.
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

    /// The entry with the place that a row of a store has, which nobody has checked.
    package func withStored(latitude: Double?, longitude: Double?) -> DirectoryEntry {
        var entry = self
        entry.latitude = latitude
        entry.longitude = longitude
        return entry
    }

    /// Where the room is; nil where it is nowhere, or the numbers are no point.
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

/// An instant of a directory, from which a reader asks for changes; only the store that gave it can read it.
package struct DirectoryMark: Hashable, Sendable {
    /// What the store made of the instant.
    package var text: String

    package init(_ text: String) { self.text = text }
}

/// What changed in a directory.
package struct DirectoryChanges: Sendable {
    /// The entries as they are, in no order.
    ///
    /// Nil where there was no mark, or one that the store knows nothing of: of another log than it has by now (a backup
    /// was restored), or an old one. Then every entry is to be read after this.
    package var records: [DirectoryRecord]?
    /// Where the next changes begin.
    package var mark: DirectoryMark

    package init(records: [DirectoryRecord]?, mark: DirectoryMark) {
        self.records = records
        self.mark = mark
    }
}
