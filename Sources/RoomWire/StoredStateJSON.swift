package import RoomDomain

/// The JSON of a whole room, including its private parts, as the log's snapshots store it.
///
/// It is not shown to anyone. Decoding an encoded room gives an equal room, which encodes to the same bytes.
package enum StoredStateJSON {
    /// The version of this format and of the fold that produced the state.
    ///
    /// It must grow whenever a release folds the same events into a different state or writes the state differently.
    /// Snapshots of other versions are not read; they are made again from the events.
    package static let reducerVersion = 7

    /// Writes the whole room.
    package static func encode(_ state: RoomState) -> [UInt8] {
        var writer = JSONWriter(capacity: 1_024 + state.poolOrder.count * 192 + state.members.count * 160)
        writer.beginObject()
        writer.member("id", state.id.uuid)
        writer.member("seq", state.seq)
        writer.member("lastEventAt", state.lastEventAt)
        writer.member("code", state.code.description)
        writer.member("name", state.name)
        writer.member("createdAt", state.createdAt)
        writer.member("closedAt", state.closedAt)
        if state.isForgotten { writer.member("isForgotten", true) }
        writer.member("visibility", choice: state.visibility)
        writer.member("location", state.location)
        writer.member("clearing", state.clearing)
        writer.member("settings", state.settings)
        writer.member("nextMember", state.nextMember)
        writer.member("nextTrack", state.nextTrack)
        writer.member("nextEntry", state.nextEntry)
        writer.member("plays", state.plays)
        writer.members(ofPeople: state)
        writer.members(ofTracks: state)
        writer.members(ofQueue: state.queue, withTurns: true)
        writer.members(ofOnAir: state.onAir)
        writer.members(ofHistory: state.history)
        writer.endObject()
        return writer.bytes
    }

    /// Reads a text that ``encode(_:)`` wrote.
    package static func decode(_ text: [UInt8]) throws(StoredEventFault) -> RoomState {
        let fields = try JSONFields(stored: text)
        do throws(FieldViolation) {
            return try fields.roomState()
        } catch {
            throw .field(error.message)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func members(ofPeople state: RoomState) {
        self.name("members")
        self.beginArray()
        for member in state.members.values.sorted(by: { $0.id < $1.id }) {
            self.beginObject()
            self.member("member", id: member.id)
            self.member("session", member.session.uuid)
            self.member("name", member.name)
            self.member("role", choice: member.role)
            self.member("joinedAt", member.joinedAt)
            self.member("turns", state.turns[member.id])
            self.endObject()
        }
        self.endArray()
        self.name("bans")
        self.beginArray()
        for (session, ban) in state.bans.sorted(by: {
            ($0.value.member, $0.key.description) < ($1.value.member, $1.key.description)
        }) {
            self.beginObject()
            self.member("session", session.uuid)
            self.member("member", id: ban.member)
            self.member("until", ban.until)
            if ban.role != .guest { self.member("role", choice: ban.role) }
            self.member("reason", ban.note)
            self.endObject()
        }
        self.endArray()
        self.name("additions")
        self.beginArray()
        for (session, at) in state.additions.sorted(by: { $0.key.description < $1.key.description }) {
            self.beginObject()
            self.member("session", session.uuid)
            self.member("at", at)
            self.endObject()
        }
        self.endArray()
    }

    /// Writes the pool in its order, each track with its voters.
    fileprivate mutating func members(ofTracks state: RoomState) {
        self.name("tracks")
        self.beginArray()
        for id in state.poolOrder {
            guard let track = state.tracks[id] else { continue }
            self.beginObject()
            self.members(of: track)
            self.member("lastPlay", track.lastPlay)
            self.members(of: track.waveformHour)
            if let voters = state.voters[id] { self.member("voters", ids: voters.sorted()) }
            self.endObject()
        }
        self.endArray()
    }

    private mutating func members(of hour: WaveformHour?) {
        guard let hour else { return }
        self.member("waveformsSince", hour.began)
        if hour.byGuests > 0 { self.member("guestWaveforms", hour.byGuests) }
        if hour.byDJs > 0 { self.member("djWaveforms", hour.byDJs) }
    }

    private mutating func member(_ name: StaticString, _ turns: Turns?) {
        guard let turns else { return }
        self.name(name)
        self.beginObject()
        self.member("taken", turns.taken)
        self.member("round", turns.round)
        self.endObject()
    }

    fileprivate mutating func members(ofOnAir onAir: OnAir?) {
        guard let onAir else { return }
        self.name("onAir")
        self.beginObject()
        self.member("entry", id: onAir.entry)
        self.member("track", id: onAir.track)
        self.member("startedBy", id: onAir.startedBy)
        self.member("startedAt", onAir.startedAt)
        self.member("startedSeq", onAir.startedSeq)
        self.member("isPaused", onAir.isPaused)
        self.member("positionMs", onAir.positionMs)
        self.member("at", onAir.at)
        self.member("heardMs", onAir.heardMs)
        self.member("skipVoters", ids: onAir.skipVoters.sorted())
        self.member("turnOf", id: onAir.turnOf)
        self.member("turnsBefore", onAir.turnsBefore)
        self.endObject()
    }
}

extension JSONFields {
    fileprivate func roomState() throws(FieldViolation) -> RoomState {
        var state = RoomState(id: try self.roomID("id"))
        state.seq = try self.count("seq")
        state.lastEventAt = try self.instant("lastEventAt")
        state.code = try self.roomCode("code")
        state.name = try self.string("name")
        state.createdAt = try self.instant("createdAt")
        state.closedAt = try self.instantIfPresent("closedAt")
        state.isForgotten = try self.boolIfPresent("isForgotten") ?? false
        state.visibility = try self.choice("visibility")
        state.location = try self.roundedLocationIfPresent("location", at: "location")
        state.clearing = try self.countIfPresent("clearing")
        state.settings = try self.settings("settings", at: "settings")
        state.nextMember = try self.count("nextMember")
        state.nextTrack = try self.count("nextTrack")
        state.nextEntry = try self.count("nextEntry")
        state.plays = try self.count("plays")
        try self.readPeople(into: &state)
        try self.readTracks(into: &state)
        state.queue = try self.elements("queue", QueueEntry.init)
        if let onAir = self["onAir"] { state.onAir = try JSONFields(onAir, at: "onAir").onAir() }
        state.history = try self.elements("history", HistoryEntry.init)
        return state
    }

    private func readPeople(into state: inout RoomState) throws(FieldViolation) {
        let members = try self.array("members")
        state.members.reserveCapacity(members.count)
        state.memberOfSession.reserveCapacity(members.count)
        for (index, value) in members.enumerated() {
            let fields = try JSONFields(value, at: "members", element: index)
            let member = Member(
                id: try fields.id("member"), session: try fields.sessionID("session"), name: try fields.string("name"),
                role: try fields.choice("role"), joinedAt: try fields.instant("joinedAt"))
            state.members[member.id] = member
            state.memberOfSession[member.session] = member.id
            state.turns[member.id] = try fields.turnsIfPresent("turns", at: "turns")
        }
        for (index, value) in try self.array("bans").enumerated() {
            let fields = try JSONFields(value, at: "bans", element: index)
            state.bans[try fields.sessionID("session")] = Ban(
                member: try fields.id("member"), until: try fields.instantIfPresent("until"),
                role: try fields.choiceIfPresent("role") ?? .guest, note: try fields.note())
        }
        for (index, value) in try self.array("additions").enumerated() {
            let fields = try JSONFields(value, at: "additions", element: index)
            state.additions[try fields.sessionID("session")] = try fields.instant("at")
        }
    }

    private func readTracks(into state: inout RoomState) throws(FieldViolation) {
        let tracks = try self.array("tracks")
        state.poolOrder.reserveCapacity(tracks.count)
        var votes: [MemberID: [TrackID]] = [:]
        for (index, value) in tracks.enumerated() {
            let fields = try JSONFields(value, at: "tracks", element: index)
            let id: TrackID = try fields.id("track")
            let track = Track(
                id: id, info: try fields.trackInfo(), addedBy: try fields.id("addedBy"),
                votes: try fields.count("votes"), requestedSeq: try fields.countIfPresent("requestedSeq"),
                lastPlay: try fields.countIfPresent("lastPlay"),
                waveform: try fields.waveformNameIfPresent("waveform"), waveformHour: try fields.waveformHour(),
                isMissing: try fields.boolIfPresent("missing") ?? false)
            // A track listed twice in the pool's order would be removed only once.
            guard state.tracks.updateValue(track, forKey: id) == nil else {
                throw fields.violation("track", "listed only once")
            }
            state.poolOrder.append(id)
            guard fields["voters"] != nil else { continue }
            let voters: [MemberID] = try fields.ids("voters")
            state.voters[id] = Set(voters)
            for voter in voters { votes[voter, default: []].append(id) }
        }
        state.votesOfMember = votes.mapValues { Set($0) }
        state.rebuildPoolValues()
    }

    private func waveformHour() throws(FieldViolation) -> WaveformHour? {
        guard let began = try self.instantIfPresent("waveformsSince") else { return nil }
        return WaveformHour(
            began: began, byGuests: try self.countIfPresent("guestWaveforms") ?? 0,
            byDJs: try self.countIfPresent("djWaveforms") ?? 0)
    }

    private func turnsIfPresent(_ name: String, at path: StaticString) throws(FieldViolation) -> Turns? {
        guard let value = self[name] else { return nil }
        let fields = try JSONFields(value, at: path)
        return Turns(taken: try fields.count("taken"), round: try fields.count("round"))
    }

    private func onAir() throws(FieldViolation) -> OnAir {
        var onAir = OnAir(
            entry: try self.id("entry"), track: try self.id("track"), startedBy: try self.idIfPresent("startedBy"),
            startedAt: try self.instant("startedAt"), startedSeq: try self.count("startedSeq"),
            isPaused: try self.bool("isPaused"), positionMs: try self.integer("positionMs"),
            at: try self.instant("at"), heardMs: try self.integer("heardMs"),
            skipVoters: Set(try self.ids("skipVoters")), turnOf: try self.idIfPresent("turnOf"))
        onAir.turnsBefore = try self.turnsIfPresent("turnsBefore", at: "turnsBefore")
        return onAir
    }
}
