import RoomDomain
import RoomReplica
import RoomWire

/// What a member may do.
public enum Role: String, Sendable, Hashable, CaseIterable {
    /// Everything; one member of a room has this role.
    case owner
    /// Runs the deck and the queue.
    case dj
    /// Votes and, where the settings allow it, adds tracks.
    case guest

    init(_ domain: RoomDomain.Role) {
        switch domain {
        case .owner: self = .owner
        case .dj: self = .dj
        case .guest: self = .guest
        }
    }

    var domain: RoomDomain.Role {
        switch self {
        case .owner: .owner
        case .dj: .dj
        case .guest: .guest
        }
    }
}

/// Whether a room can be found without its code.
public enum Visibility: String, Sendable, Hashable, CaseIterable {
    /// In listings and nearby searches.
    case `public`
    /// Only for those who have its code.
    case unlisted

    init(_ domain: RoomDomain.Visibility) {
        switch domain {
        case .public: self = .public
        case .unlisted: self = .unlisted
        }
    }

    var domain: RoomDomain.Visibility {
        switch self {
        case .public: .public
        case .unlisted: .unlisted
        }
    }
}

/// A member of a room.
public struct Member: Sendable, Hashable, Identifiable {
    /// The number.
    public let id: MemberID
    /// The name that others see.
    public let name: String
    /// What the member may do.
    public let role: Role
    /// When the membership began.
    public let joinedAt: ServerTime

    init(_ wire: ShownState.Member) {
        id = MemberID(wire.id)
        name = wire.name
        role = Role(wire.role)
        joinedAt = ServerTime(wire.joinedAt)
    }
}

/// One's own membership of a room.
public struct Membership: Sendable, Hashable {
    /// The number.
    public let member: MemberID
    /// What one may do.
    public let role: Role

    init(_ membership: OwnMembership) {
        member = MemberID(membership.member)
        role = Role(membership.role)
    }
}

/// What is known of a song.
///
/// No audio is ever sent to a server.
public struct TrackInfo: Sendable, Hashable {
    /// The catalogue that the song is from, for example `files` or `soundcloud`; 1 to 40 characters.
    public var source: String
    /// The song's identity in the catalogue; 1 to 300 characters.
    public var sourceID: String
    /// The title; 1 to 300 characters.
    public var title: String
    /// The artist.
    public var artist: String?
    /// The album.
    public var album: String?
    /// The length, in whole milliseconds up to a week.
    public var duration: Duration?
    /// The address of an image, beginning with `https://`.
    public var artworkURL: String?

    /// What is known of a song.
    public init(
        source: String, sourceID: String, title: String, artist: String? = nil, album: String? = nil,
        duration: Duration? = nil, artworkURL: String? = nil
    ) {
        self.source = source
        self.sourceID = sourceID
        self.title = title
        self.artist = artist
        self.album = album
        self.duration = duration
        self.artworkURL = artworkURL
    }

    init(_ domain: RoomDomain.TrackInfo) {
        source = domain.source
        sourceID = domain.sourceID
        title = domain.title
        artist = domain.artist
        album = domain.album
        duration = domain.durationMs.map { .milliseconds($0) }
        artworkURL = domain.artworkURL
    }

    var domain: RoomDomain.TrackInfo {
        RoomDomain.TrackInfo(
            source: source, sourceID: sourceID, title: title, artist: artist, album: album,
            durationMs: duration.map(\.wholeMilliseconds), artworkURL: artworkURL)
    }
}

/// A waiting entry of the queue.
public struct QueueEntry: Sendable, Hashable, Identifiable {
    /// The number; below zero while the command that adds the entry is on its way.
    public let id: EntryID
    /// The track.
    public let track: TrackID
    /// The member who added it; nil if the server did.
    public let addedBy: MemberID?

    init(_ domain: RoomDomain.QueueEntry) {
        id = EntryID(domain.id)
        track = TrackID(domain.track)
        addedBy = domain.addedBy.map { MemberID($0) }
    }
}

/// What is on air.
public struct Playback: Sendable, Hashable {
    /// The entry, which has left the queue.
    public let entry: EntryID
    /// The track.
    public let track: TrackID
    /// The member who started it; nil if the server did.
    public let startedBy: MemberID?
    /// When it started.
    public let startedAt: ServerTime
    /// Whether it is paused.
    public let isPaused: Bool
    /// The position in the song at ``at``.
    public let position: Duration
    /// The instant at which ``position`` holds.
    public let at: ServerTime
    /// The number of votes to skip it, with those of members who are away.
    public let skipVotes: Int
    /// The members who vote to skip it; a vote counts while its member is online (``Room/countedSkipVotes``).
    public let skipVoters: Set<MemberID>

    init(_ wire: ShownState.Playback) {
        entry = EntryID(wire.entry)
        track = TrackID(wire.track)
        startedBy = wire.startedBy.map { MemberID($0) }
        startedAt = ServerTime(wire.startedAt)
        isPaused = wire.isPaused
        position = .milliseconds(wire.positionMs)
        at = ServerTime(wire.at)
        skipVotes = wire.skipVotes
        skipVoters = Set(wire.skipVoters.map { MemberID($0) })
    }

    /// The position in the song at an instant, for example that of ``RoomClient/time``.
    ///
    /// It is not bounded by the song's length, which the server does not know for certain.
    public func position(at instant: ServerTime) -> Duration {
        isPaused || instant < at ? position : position + instant.duration(since: at)
    }
}

/// An entry that was on air.
public struct HistoryEntry: Sendable, Hashable, Identifiable {
    /// How an entry left the air.
    public enum End: String, Sendable, Hashable {
        /// It was played to its end.
        case ended
        /// It was skipped.
        case skipped
        /// Another entry took its place.
        case replaced
    }

    /// The number.
    public let id: EntryID
    /// The track, which may have left the pool.
    public let track: TrackID
    /// The title.
    public let title: String
    /// The artist.
    public let artist: String?
    /// When it started.
    public let startedAt: ServerTime
    /// When it ended.
    public let endedAt: ServerTime
    /// How it left the air.
    public let end: End
    /// How much of it was heard.
    public let played: Duration

    init(_ domain: RoomDomain.HistoryEntry) {
        id = EntryID(domain.entry)
        track = TrackID(domain.track)
        title = domain.title
        artist = domain.artist
        startedAt = ServerTime(domain.startedAt)
        endedAt = ServerTime(domain.endedAt)
        switch domain.reason {
        case .ended: end = .ended
        case .skipped: end = .skipped
        case .replaced: end = .replaced
        }
        played = .milliseconds(domain.playedMs)
    }
}

extension Duration {
    /// The duration in milliseconds, rounded down; the greatest number for longer ones.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let rest = attoseconds / 1_000_000_000_000_000
        return product.addingReportingOverflow(rest).partialValue
    }
}
