package import FoundationEssentials

/// What the directory says of a stream: columns kept beside its head and written in the append's transaction.
package struct DirectoryEntry: Hashable, Sendable {
    /// Short code, unique among open streams.
    package var code: String
    /// The room's name.
    package var name: String
    /// Whether listings may show it.
    package var isPublic: Bool
    /// WGS-84 degrees, already rounded; both or neither.
    package var latitude: Double?
    /// WGS-84 degrees, already rounded; both or neither.
    package var longitude: Double?
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
        code: String, name: String, isPublic: Bool, latitude: Double? = nil, longitude: Double? = nil,
        createdAt: Int64, closedAt: Int64? = nil, owner: UUID? = nil, djName: String? = nil,
        nowPlayingTitle: String? = nil, nowPlayingArtist: String? = nil
    ) {
        self.code = code
        self.name = name
        self.isPublic = isPublic
        self.latitude = latitude
        self.longitude = longitude
        self.createdAt = createdAt
        self.closedAt = closedAt
        self.owner = owner
        self.djName = djName
        self.nowPlayingTitle = nowPlayingTitle
        self.nowPlayingArtist = nowPlayingArtist
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
