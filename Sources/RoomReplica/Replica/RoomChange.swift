package import GeoSearch
package import RoomDomain
package import RoomWire

/// A change of a room as a client shows it: a small value, which can go to another thread.
///
/// Values are absolute, so that applying one twice does no harm.
package enum RoomChange: Sendable, Equatable {
    /// Everything may have changed: the room has to be read anew.
    case reset
    /// The room's own values.
    case properties(RoomProperties)
    /// A member has come, or has another name or role.
    case member(ShownState.Member)
    /// A member has gone.
    case memberLeft(MemberID)
    /// Tracks have entered the pool; by place, ascending.
    case tracksAdded([PlacedTrack])
    /// Tracks have left the pool.
    case tracksRemoved([TrackID])
    /// The votes of one track have changed.
    case votes(TrackVotes)
    /// A track has another waveform.
    case waveform(TrackID, WaveformName)
    /// A track has another length, in milliseconds.
    case duration(TrackID, Int64)
    /// The deck lacks exactly these tracks, or cannot play them.
    case missing(Set<TrackID>)
    /// The waiting entries, in play order.
    case queue([QueueEntry])
    /// What is on air; nil: nothing.
    case playback(ShownState.Playback?)
    /// An entry has left the air: the newest one of the history, which keeps ``RoomDomain/RoomLimits/history``.
    case finished(HistoryEntry)
    /// The client's own membership; nil: none.
    case membership(OwnMembership?)
    /// The number of online members; the members, if they are known.
    case online(Int, Set<MemberID>?)
    /// The device that plays; nil: none.
    case deck(ShownDeck?)
}

/// A room's own values.
package struct RoomProperties: Sendable, Hashable {
    /// Its name.
    package var name: String
    /// The time when it was closed; nil while it is open.
    package var closedAt: Timestamp?
    /// Whether the room can be found without its id or code.
    package var visibility: Visibility
    /// Its location, rounded.
    package var location: RoundedLocation?
    /// The settings made by its owner.
    package var settings: RoomSettings

    package init(
        name: String, closedAt: Timestamp?, visibility: Visibility, location: RoundedLocation?, settings: RoomSettings
    ) {
        self.name = name
        self.closedAt = closedAt
        self.visibility = visibility
        self.location = location
        self.settings = settings
    }
}

/// A track with its place in the pool.
package struct PlacedTrack: Sendable, Hashable {
    /// The track.
    package var track: Track
    /// Its place, when all tracks of the change are in the pool.
    package var place: Int

    package init(track: Track, place: Int) {
        self.track = track
        self.place = place
    }
}

/// The votes of one track.
package struct TrackVotes: Sendable, Hashable {
    /// The track.
    package var track: TrackID
    /// The number of its votes.
    package var votes: Int
    /// The number of the event at which its votes last rose from 0 to 1; nil without votes, and while the only vote is
    /// on its way.
    package var requestedSeq: Int?
    /// Whether the client's own member votes for it.
    package var isMine: Bool

    package init(track: TrackID, votes: Int, requestedSeq: Int?, isMine: Bool) {
        self.track = track
        self.votes = votes
        self.requestedSeq = requestedSeq
        self.isMine = isMine
    }
}

/// The client's own membership of a room, without its votes.
package struct OwnMembership: Sendable, Hashable {
    /// Its number.
    package var member: MemberID
    /// Its rights.
    package var role: Role

    package init(member: MemberID, role: Role) {
        self.member = member
        self.role = role
    }
}
