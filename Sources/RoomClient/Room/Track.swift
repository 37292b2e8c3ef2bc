public import Observation
import RoomDomain

/// A track of a room's pool.
///
/// There is one object for each track of a ``Room``, for as long as the track is in the pool.
@MainActor @Observable public final class Track: Identifiable {
    /// The number.
    public nonisolated let id: TrackID
    /// What is known of the song.
    public nonisolated let info: TrackInfo
    /// The member who added it.
    public nonisolated let addedBy: MemberID
    /// The number of votes as it is shown: confirmed, and one's own that is on its way.
    public internal(set) var votes: Int
    /// Whether one of the votes is one's own.
    public internal(set) var isMine: Bool
    /// Whether a command for this track is on its way.
    public internal(set) var isPending = false
    /// The name of the waveform; nil if nobody has given it one.
    public internal(set) var waveform: WaveformName?
    /// The place among the requests.
    @ObservationIgnored var rank: RequestRank

    init(_ track: RoomDomain.Track, isMine: Bool) {
        id = TrackID(track.id)
        info = TrackInfo(track.info)
        addedBy = MemberID(track.addedBy)
        votes = track.votes
        self.isMine = isMine
        waveform = track.waveform.map { WaveformName($0) }
        rank = RequestRank(votes: track.votes, requestedSeq: track.requestedSeq ?? .max, track: track.id)
    }
}
