import RoomDomain
import RoomReplica
import RoomWire

/// What ``RoomUpdates`` tells of a room.
public enum RoomUpdate: Sendable {
    /// Everything may have changed: read ``RoomClient/snapshot(of:)``.
    case reset(Position)
    /// What has changed, in order, up to a position.
    case changed([RoomChange], through: Position)
    /// The connection is lost; the room is as it was last seen.
    case offline
    /// The room is followed no more.
    case ended(ClientError)
}

/// A change of a room as it is shown: confirmed, or on its way.
///
/// Values are absolute, so that applying one twice does no harm. Cases may be added.
public enum RoomChange: Sendable, Hashable {
    /// The room's own values.
    case details(RoomDetails)
    /// A member has come, or has another name or role.
    case member(Member)
    /// A member has gone.
    case memberLeft(MemberID)
    /// Tracks have entered the pool.
    case tracksAdded([TrackSnapshot])
    /// Tracks have left the pool.
    case tracksRemoved([TrackID])
    /// The votes of one track, and whether one of them is one's own.
    case votes(TrackID, Int, isMine: Bool)
    /// A track has another waveform.
    case waveform(TrackID, WaveformName)
    /// A track has another length, which the deck has measured.
    case duration(TrackID, Duration)
    /// The deck lacks or cannot play exactly these tracks.
    case missing(Set<TrackID>)
    /// The waiting entries, in play order.
    case queue([QueueEntry])
    /// What is on air; nil: nothing.
    case playback(Playback?)
    /// An entry has left the air.
    case finished(HistoryEntry)
    /// One's own membership; nil: none.
    case membership(Membership?)
    /// The number of members online.
    case online(Int)

    /// Nil for a change that is not shown by itself.
    init?(_ change: RoomReplica.RoomChange) {
        switch change {
        case .reset, .deck: return nil
        case .properties(let properties): self = .details(RoomDetails(properties))
        case .member(let member): self = .member(Member(member))
        case .memberLeft(let member): self = .memberLeft(MemberID(member))
        case .tracksAdded(let placed): self = .tracksAdded(placed.map { TrackSnapshot($0.track, isMine: false) })
        case .tracksRemoved(let tracks): self = .tracksRemoved(tracks.map { TrackID($0) })
        case .votes(let votes): self = .votes(TrackID(votes.track), votes.votes, isMine: votes.isMine)
        case .waveform(let track, let name): self = .waveform(TrackID(track), WaveformName(name))
        case .duration(let track, let durationMs): self = .duration(TrackID(track), .milliseconds(durationMs))
        case .missing(let tracks): self = .missing(Set(tracks.map { TrackID($0) }))
        case .queue(let queue): self = .queue(queue.map { QueueEntry($0) })
        case .playback(let playback): self = .playback(playback.map { Playback($0) })
        case .finished(let entry): self = .finished(HistoryEntry(entry))
        case .membership(let me): self = .membership(me.map { Membership($0) })
        case .online(let count, _): self = .online(count)
        }
    }
}

/// A track as a value.
public struct TrackSnapshot: Sendable, Hashable, Identifiable {
    /// The number.
    public let id: TrackID
    /// What is known of the song.
    public let info: TrackInfo
    /// The member who added it.
    public let addedBy: MemberID
    /// The number of votes.
    public let votes: Int
    /// Whether one of them is one's own.
    public let isMine: Bool
    /// The name of its waveform; nil if nobody has given it one.
    public let waveform: WaveformName?
    /// Whether the room's deck lacks it or cannot play it.
    public let isMissing: Bool

    init(_ track: RoomDomain.Track, isMine: Bool) {
        id = TrackID(track.id)
        info = TrackInfo(track.info)
        addedBy = MemberID(track.addedBy)
        votes = track.votes
        self.isMine = isMine
        waveform = track.waveform.map { WaveformName($0) }
        isMissing = track.isMissing
    }
}

/// A whole room as a value, as it is shown at one moment.
public struct RoomSnapshot: Sendable {
    /// The position.
    public let position: Position
    /// The identifier.
    public let id: RoomID
    /// The code.
    public let code: String
    /// The room's own values.
    public let details: RoomDetails
    /// The members, by number.
    public let members: [Member]
    /// One's own membership; nil: none.
    public let me: Membership?
    /// The number of members online; nil before the server has told it.
    public let online: Int?
    /// The pool, by title.
    public let pool: [TrackSnapshot]
    /// The tracks with votes, most votes first.
    public let requests: [TrackID]
    /// The waiting entries, in play order.
    public let queue: [QueueEntry]
    /// What is on air; nil: nothing.
    public let playback: Playback?
    /// The entries that were on air, newest first.
    public let history: [HistoryEntry]

    init?(_ room: ClientRoom) {
        guard let replica = room.replica, let state = room.shown else { return nil }
        position = Position(replica.position)
        id = RoomID(replica.id)
        code = replica.code.description
        details = RoomDetails(replica.properties)
        members = state.members.map { Member($0) }
        me = replica.me.map { Membership($0) }
        online = replica.online
        pool = state.pool.map { TrackSnapshot($0, isMine: room.votes(of: $0.id)?.isMine ?? false) }
        requests = state.requests.map { TrackID($0) }
        queue = state.queue.map { QueueEntry($0) }
        playback = state.playback.map { Playback($0) }
        history = state.history.map { HistoryEntry($0) }
    }
}
