package import GeoSearch
package import RoomDomain

/// A room as clients see it (protocol, section 4): without sessions and bans, and with votes only as counts.
package struct ShownState: Sendable, Equatable {
    /// A member of the room.
    package struct Member: Sendable, Hashable {
        /// The number by which others know the member.
        package var id: MemberID
        /// Display name.
        package var name: String
        /// The member's rights.
        package var role: Role
        /// When the membership began.
        package var joinedAt: Timestamp

        package init(id: MemberID, name: String, role: Role, joinedAt: Timestamp) {
            self.id = id
            self.name = name
            self.role = role
            self.joinedAt = joinedAt
        }
    }

    /// The entry on air.
    package struct Playback: Sendable, Hashable {
        /// The entry's number; the entry has left the queue.
        package var entry: EntryID
        /// The track that is played.
        package var track: TrackID
        /// The member who started it; nil if the server did.
        package var startedBy: MemberID?
        /// The time when it started.
        package var startedAt: Timestamp
        /// The number of the event that started it.
        package var startedSeq: Int
        /// Whether it is paused.
        package var isPaused: Bool
        /// The position in the song at the instant `at`, in milliseconds.
        package var positionMs: Int64
        /// The instant at which `positionMs` holds.
        package var at: Timestamp
        /// The number of members who vote to skip it.
        package var skipVotes: Int
        /// Those members, as far as they are known: a server of an earlier release names only those of new votes.
        package var skipVoters: Set<MemberID>

        package init(
            entry: EntryID, track: TrackID, startedBy: MemberID?, startedAt: Timestamp, startedSeq: Int,
            isPaused: Bool, positionMs: Int64, at: Timestamp, skipVotes: Int, skipVoters: Set<MemberID> = []
        ) {
            self.entry = entry
            self.track = track
            self.startedBy = startedBy
            self.startedAt = startedAt
            self.startedSeq = startedSeq
            self.isPaused = isPaused
            self.positionMs = positionMs
            self.at = at
            self.skipVotes = skipVotes
            self.skipVoters = skipVoters
        }
    }

    /// The room's identifier.
    package var id: RoomID
    /// Its short code.
    package var code: RoomCode
    /// Its name.
    package var name: String
    /// The time when it was made.
    package var createdAt: Timestamp
    /// The time when it was closed; nil while it is open.
    package var closedAt: Timestamp?
    /// Whether the room can be found without its id or code.
    package var visibility: Visibility
    /// Its location, rounded.
    package var location: RoundedLocation?
    /// The settings made by its owner.
    package var settings: RoomSettings
    /// Its members, ascending by number.
    package var members: [Member] = []
    /// The pool in its order; the tracks' plays are not shown.
    package var pool: [Track] = []
    /// The tracks with votes: most votes first, then the smallest ``RoomDomain/Track/requestedSeq``.
    package var requests: [TrackID] = []
    /// Waiting entries in play order; as shown, each is the turn of the member who added it.
    package var queue: [QueueEntry] = []
    /// The entry on air; nil when playback is stopped.
    package var playback: Playback?
    /// The entries that were on air, newest first.
    package var history: [HistoryEntry] = []

    package init(
        id: RoomID, code: RoomCode, name: String, createdAt: Timestamp, closedAt: Timestamp? = nil,
        visibility: Visibility, location: RoundedLocation? = nil, settings: RoomSettings = RoomSettings()
    ) {
        self.id = id
        self.code = code
        self.name = name
        self.createdAt = createdAt
        self.closedAt = closedAt
        self.visibility = visibility
        self.location = location
        self.settings = settings
    }
}
