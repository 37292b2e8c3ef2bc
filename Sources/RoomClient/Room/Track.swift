public import Observation
import RoomDomain

/// A track of a room's pool.
///
/// There is one object for each track of a ``Room``, for as long as the track is in the pool.
@MainActor public final class Track: Identifiable {
    /// The number.
    public nonisolated let id: TrackID
    /// The member who added it.
    public nonisolated let addedBy: MemberID
    nonisolated let shared: SharedTrackInfo
    private var shownVotes: Int
    private var isShownMine: Bool
    private var isShownPending = false
    private var shownWaveform: WaveformName?
    private var measured: Duration?
    private var isShownMissing: Bool
    /// The place among the requests.
    var rank: RequestRank
    /// Tells observers of changes; nil until somebody reads a member.
    ///
    /// It takes more time and memory than the rest of the track, and of a large pool only the tracks on the screen need
    /// it. The macro `@Observable` would make it together with the track.
    private var registrar: ObservationRegistrar?

    init(_ track: RoomDomain.Track, isMine: Bool) {
        id = TrackID(track.id)
        addedBy = MemberID(track.addedBy)
        shared = track.shared
        shownVotes = track.votes
        isShownMine = isMine
        shownWaveform = track.waveform.map { WaveformName($0) }
        isShownMissing = track.isMissing
        rank = RequestRank(shown: track)
    }

    /// What is known of the song, as it was when the track was first seen.
    public nonisolated var info: TrackInfo { TrackInfo(shared.info) }

    /// The length: what a deck has measured, else what whoever added the track has told.
    public internal(set) var duration: Duration? {
        get {
            look(at: \.duration)
            return measured ?? shared.info.durationMs.map { .milliseconds($0) }
        }
        set { if newValue != measured { change(\.duration) { measured = newValue } } }
    }

    /// Whether the room's deck lacks the song or cannot play it.
    public internal(set) var isMissing: Bool {
        get {
            look(at: \.isMissing)
            return isShownMissing
        }
        set { if newValue != isShownMissing { change(\.isMissing) { isShownMissing = newValue } } }
    }

    /// The number of votes as it is shown: confirmed, and one's own that is on its way.
    public internal(set) var votes: Int {
        get {
            look(at: \.votes)
            return shownVotes
        }
        set { if newValue != shownVotes { change(\.votes) { shownVotes = newValue } } }
    }

    /// Whether one of the votes is one's own.
    public internal(set) var isMine: Bool {
        get {
            look(at: \.isMine)
            return isShownMine
        }
        set { if newValue != isShownMine { change(\.isMine) { isShownMine = newValue } } }
    }

    /// Whether a command for this track is on its way.
    public internal(set) var isPending: Bool {
        get {
            look(at: \.isPending)
            return isShownPending
        }
        set { if newValue != isShownPending { change(\.isPending) { isShownPending = newValue } } }
    }

    /// The name of the waveform; nil if nobody has given it one.
    public internal(set) var waveform: WaveformName? {
        get {
            look(at: \.waveform)
            return shownWaveform
        }
        set { if newValue != shownWaveform { change(\.waveform) { shownWaveform = newValue } } }
    }

    private func look(at member: KeyPath<Track, some Any>) {
        let registrar = self.registrar ?? ObservationRegistrar()
        self.registrar = registrar
        registrar.access(self, keyPath: member)
    }

    /// Changes a member; a track that nobody has looked at tells nobody.
    private func change(_ member: KeyPath<Track, some Any>, _ body: () -> Void) {
        if let registrar { registrar.withMutation(of: self, keyPath: member, body) } else { body() }
    }
}

extension Track: nonisolated Observable {}
