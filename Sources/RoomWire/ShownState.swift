package import GeoSearch
package import RoomDomain

/// A room as clients see it (protocol, section 4): no sessions, no bans, and of votes only how many there are.
package struct ShownState: Sendable, Equatable {
    /// Somebody in the room.
    package struct Member: Sendable, Hashable {
        /// The number by which others know the member.
        package var id: MemberID
        /// Display name.
        package var name: String
        /// What the member may do.
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

    /// What is on air.
    package struct Playback: Sendable, Hashable {
        /// The entry, which has left the queue.
        package var entry: EntryID
        /// What is played.
        package var track: TrackID
        /// Who started it; nil where the server did.
        package var startedBy: MemberID?
        /// When it started.
        package var startedAt: Timestamp
        /// The event that started it.
        package var startedSeq: Int
        /// Whether it is paused.
        package var isPaused: Bool
        /// Where in the song it was at `at`, in milliseconds.
        package var positionMs: Int64
        /// The instant that `positionMs` speaks of.
        package var at: Timestamp
        /// How many members want it skipped.
        package var skipVotes: Int

        package init(
            entry: EntryID, track: TrackID, startedBy: MemberID?, startedAt: Timestamp, startedSeq: Int,
            isPaused: Bool, positionMs: Int64, at: Timestamp, skipVotes: Int
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
        }
    }

    /// The room's identity.
    package var id: RoomID
    /// Its short code.
    package var code: RoomCode
    /// Its name.
    package var name: String
    /// When it was made.
    package var createdAt: Timestamp
    /// When it was closed; nil while open.
    package var closedAt: Timestamp?
    /// Who may find it.
    package var visibility: Visibility
    /// Where it is, rounded.
    package var location: RoundedLocation?
    /// What its owner has set.
    package var settings: RoomSettings
    /// Its members, ascending by number.
    package var members: [Member] = []
    /// The pool in its order; plays are not shown.
    package var pool: [Track] = []
    /// The tracks with votes: most votes first, then the smallest ``RoomDomain/Track/requestedSeq``.
    package var requests: [TrackID] = []
    /// Waiting entries in play order; each is the turn of who added it, as far as is shown.
    package var queue: [QueueEntry] = []
    /// What is on air; nil when stopped.
    package var playback: Playback?
    /// What was on air, newest first.
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
