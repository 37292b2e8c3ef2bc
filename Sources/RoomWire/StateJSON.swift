import ByteText
import GeoSearch
package import RoomDomain

/// The JSON of a room as clients see it (protocol, section 4).
package enum StateJSON {
    /// Writes the `State` object, without private data.
    ///
    /// O(members + tracks + queue), plus sorting the tracks that have votes.
    package static func encode(_ state: RoomState) -> [UInt8] {
        Self.encode(state, tracks: state.poolOrder.count, members: state.members.count)
    }

    /// Writes the `State` object of a client's copy.
    package static func encode(_ state: ShownState) -> [UInt8] {
        Self.encode(state, tracks: state.pool.count, members: state.members.count)
    }

    /// Reads a `State` object.
    package static func decode(_ text: [UInt8]) throws(ServerViolation) -> ShownState {
        try JSONFields.answer(text.contiguous.span, ShownState.init)
    }

    private static func encode(_ state: some StateSource, tracks: Int, members: Int) -> [UInt8] {
        // Approximately the size of a track in the pool, so that large rooms are written with few reallocations.
        var writer = JSONWriter(capacity: 1_024 + tracks * 192 + members * 80)
        writer.beginObject()
        writer.member("id", state.id.uuid)
        writer.member("code", state.code.description)
        writer.member("name", state.name)
        writer.member("createdAt", state.createdAt)
        writer.member("closedAt", state.closedAt)
        writer.member("visibility", choice: state.visibility)
        writer.member("location", state.location)
        writer.member("settings", state.settings)
        writer.members(ofMembers: state.shownMembers)
        writer.member("pool", state.shownPool)
        writer.member("requests", ids: state.shownRequests)
        writer.members(ofQueue: state.queue)
        writer.members(ofPlayback: state.shownPlayback)
        writer.members(ofHistory: state.history)
        writer.endObject()
        return writer.bytes
    }
}

/// The values of a room that clients see, taken from a server's state or from a client's copy.
private protocol StateSource {
    associatedtype Members: Sequence<ShownState.Member>
    associatedtype Pool: Sequence<Track>

    var id: RoomID { get }
    var code: RoomCode { get }
    var name: String { get }
    var createdAt: Timestamp { get }
    var closedAt: Timestamp? { get }
    var visibility: Visibility { get }
    var location: RoundedLocation? { get }
    var settings: RoomSettings { get }
    var shownMembers: Members { get }
    var shownPool: Pool { get }
    var shownRequests: [TrackID] { get }
    var queue: [QueueEntry] { get }
    var shownPlayback: ShownState.Playback? { get }
    var history: [HistoryEntry] { get }
}

extension RoomState: StateSource {
    fileprivate var shownMembers: some Sequence<ShownState.Member> {
        members.values.sorted { $0.id < $1.id }.lazy.map { member in
            ShownState.Member(id: member.id, name: member.name, role: member.role, joinedAt: member.joinedAt)
        }
    }

    fileprivate var shownPool: some Sequence<Track> { poolOrder.lazy.compactMap { tracks[$0] } }

    fileprivate var shownRequests: [TrackID] { requestOrder() }

    fileprivate var shownPlayback: ShownState.Playback? {
        onAir.map { onAir in
            ShownState.Playback(
                entry: onAir.entry, track: onAir.track, startedBy: onAir.startedBy, startedAt: onAir.startedAt,
                startedSeq: onAir.startedSeq, isPaused: onAir.isPaused, positionMs: onAir.positionMs, at: onAir.at,
                skipVotes: onAir.skipVoters.count, skipVoters: onAir.skipVoters)
        }
    }
}

extension ShownState: StateSource {
    fileprivate var shownMembers: [Member] { members }

    fileprivate var shownPool: [Track] { pool }

    fileprivate var shownRequests: [TrackID] { requests }

    fileprivate var shownPlayback: Playback? { playback }
}

extension ShownState {
    init(_ fields: JSONFields) throws(FieldViolation) {
        self.init(
            id: try fields.roomID("id"), code: try fields.roomCode("code"), name: try fields.string("name"),
            createdAt: try fields.instant("createdAt"), closedAt: try fields.instantIfPresent("closedAt"),
            visibility: try fields.choice("visibility"),
            location: try fields.roundedLocationIfPresent("location", at: "location"),
            settings: try fields.settings("settings", at: "settings"))
        members = try fields.elements("members", Member.init)
        pool = try fields.elements("pool", Track.init)
        requests = try fields.ids("requests")
        queue = try fields.elements("queue", QueueEntry.init)
        playback = try fields.object("playback", Playback.read)
        history = try fields.elements("history", HistoryEntry.init)
    }
}

// MARK: Parts

extension JSONWriter {
    fileprivate mutating func members(ofMembers members: some Sequence<ShownState.Member>) {
        self.name("members")
        self.beginArray()
        for member in members {
            self.beginObject()
            self.member("member", id: member.id)
            self.member("name", member.name)
            self.member("role", choice: member.role)
            self.member("joinedAt", member.joinedAt)
            self.endObject()
        }
        self.endArray()
    }

    /// Writes tracks of the pool.
    mutating func member(_ name: StaticString, _ tracks: some Sequence<Track>) {
        self.name(name)
        self.beginArray()
        for track in tracks {
            self.beginObject()
            self.members(of: track)
            self.endObject()
        }
        self.endArray()
    }

    /// Writes the members of a track in the pool.
    mutating func members(of track: Track) {
        self.member("track", id: track.id)
        self.members(of: track.info)
        self.member("addedBy", id: track.addedBy)
        self.member("votes", track.votes)
        self.member("requestedSeq", track.requestedSeq)
        self.member("waveform", track.waveform?.description)
        if track.isMissing { self.member("missing", true) }
    }

    /// Writes the waiting entries, in play order.
    mutating func members(ofQueue queue: [QueueEntry], withTurns: Bool = false) {
        self.name("queue")
        self.beginArray()
        for entry in queue {
            self.beginObject()
            self.member("entry", id: entry.id)
            self.member("track", id: entry.track)
            self.member("addedBy", id: entry.addedBy)
            if withTurns, entry.turnOf != entry.addedBy { self.member("turnOf", id: entry.turnOf) }
            self.endObject()
        }
        self.endArray()
    }

    fileprivate mutating func members(ofPlayback playback: ShownState.Playback?) {
        self.name("playback")
        self.beginObject()
        if let playback {
            self.member("status", playback.isPaused ? "paused" : "playing")
            self.member("entry", id: playback.entry)
            self.member("track", id: playback.track)
            self.member("startedBy", id: playback.startedBy)
            self.member("startedAt", playback.startedAt)
            self.member("startedSeq", playback.startedSeq)
            self.member("positionMs", playback.positionMs)
            self.member("atMs", playback.at)
            self.member("skipVotes", playback.skipVotes)
            if !playback.skipVoters.isEmpty { self.member("skipVoters", ids: playback.skipVoters.sorted()) }
        } else {
            self.member("status", "stopped")
        }
        self.endObject()
    }

    /// Writes the entries that were on air, newest first.
    mutating func members(ofHistory history: [HistoryEntry]) {
        self.name("history")
        self.beginArray()
        for entry in history {
            self.beginObject()
            self.members(of: entry)
            self.endObject()
        }
        self.endArray()
    }
}

extension ShownState.Member {
    fileprivate init(_ fields: JSONFields) throws(FieldViolation) {
        self.init(
            id: try fields.id("member"), name: try fields.string("name"), role: try fields.choice("role"),
            joinedAt: try fields.instant("joinedAt"))
    }
}

extension ShownState.Playback {
    /// Reads `playback`; nil if it is stopped.
    fileprivate static func read(_ fields: JSONFields) throws(FieldViolation) -> Self? {
        let isPaused: Bool
        switch fields["status"]?.string {
        case "stopped": return nil
        case "playing": isPaused = false
        case "paused": isPaused = true
        default: throw fields.violation("status", "stopped, playing or paused")
        }
        return Self(
            entry: try fields.id("entry"), track: try fields.id("track"),
            startedBy: try fields.idIfPresent("startedBy"),
            startedAt: try fields.instant("startedAt"), startedSeq: try fields.count("startedSeq"), isPaused: isPaused,
            positionMs: try fields.integer("positionMs"), at: try fields.instant("atMs"),
            skipVotes: try fields.count("skipVotes"),
            skipVoters: fields["skipVoters"] == nil ? [] : Set(try fields.ids("skipVoters")))
    }
}

extension Track {
    /// Reads a track of the pool as clients see it.
    init(_ fields: JSONFields) throws(FieldViolation) {
        self.init(
            id: try fields.id("track"), info: try fields.trackInfo(), addedBy: try fields.id("addedBy"),
            votes: try fields.count("votes"), requestedSeq: try fields.countIfPresent("requestedSeq"),
            waveform: try fields.waveformNameIfPresent("waveform"),
            isMissing: try fields.boolIfPresent("missing") ?? false)
    }
}

extension QueueEntry {
    /// Reads a waiting entry.
    init(_ fields: JSONFields) throws(FieldViolation) {
        self.init(
            id: try fields.id("entry"), track: try fields.id("track"), addedBy: try fields.idIfPresent("addedBy"),
            turnOf: try fields.idIfPresent("turnOf"))
    }
}
