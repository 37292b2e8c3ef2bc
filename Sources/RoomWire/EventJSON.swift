import ByteText
package import RoomDomain

/// The JSON of events (protocol, section 5), for clients and for the log.
package enum EventJSON {
    /// The reader for whom an event is written.
    package enum Audience: Sendable, Hashable {
        /// Members and watching clients: `seq`, `at` and `type` are in the object, private fields are not.
        case clients
        /// The log, which stores `seq`, `at` and `type` beside the object; private fields are in the object.
        case log
    }

    /// Writes one event as an object.
    package static func write(_ recorded: RecordedEvent, for audience: Audience, to writer: inout JSONWriter) {
        writer.beginObject()
        switch audience {
        case .clients: writer.members(seq: recorded.seq, at: recorded.at, type: recorded.event.kind.rawValue)
        case .log: break
        }
        writer.members(of: recorded.event, for: audience)
        writer.endObject()
    }

    /// Writes one event as clients are shown it; an event of an unknown type has only the fields that all events have.
    package static func write(_ shown: ShownEvent, to writer: inout JSONWriter) {
        switch shown {
        case .known(let recorded): Self.write(recorded, for: .clients, to: &writer)
        case .unknown(let type, let seq, let at):
            writer.beginObject()
            writer.members(seq: seq, at: at, type: type)
            writer.endObject()
        }
    }

    /// Reads one event as a client receives it.
    package static func decodeShown(_ text: [UInt8]) throws(ServerViolation) -> ShownEvent {
        try JSONFields.answer(text.contiguous.span, Self.read)
    }

    /// Reads one event as a client receives it; its sessions are ``RoomDomain/SessionID/hidden``.
    static func read(_ fields: JSONFields) throws(FieldViolation) -> ShownEvent {
        let (seq, at, type) = (try fields.count("seq"), try fields.instant("at"), try fields.string("type"))
        guard let kind = RoomEvent.Kind(rawValue: type) else { return .unknown(type: type, seq: seq, at: at) }
        return .known(RecordedEvent(seq: seq, at: at, event: try fields.event(kind, for: .clients)))
    }

    /// Writes the event's object as the log stores it.
    package static func encodeLog(_ event: RoomEvent) -> [UInt8] {
        var writer = JSONWriter(capacity: 96)
        writer.beginObject()
        writer.members(of: event, for: .log)
        writer.endObject()
        return writer.bytes
    }

    /// Reads an event from the log.
    ///
    /// Unknown fields are ignored, so that a later release's events can be read if their meaning is the same. `at` is
    /// in milliseconds since the Unix epoch.
    package static func decodeLog(
        type: String, seq: Int, at: Int64, payload: [UInt8]
    ) throws(StoredEventFault) -> RecordedEvent {
        guard let known = RoomEvent.Kind(rawValue: type) else { throw .unknownType(type) }
        let fields = try JSONFields(stored: payload)
        do throws(FieldViolation) {
            let event = try fields.event(known, for: .log)
            return RecordedEvent(seq: seq, at: Timestamp(milliseconds: at), event: event)
        } catch {
            throw .field("\(type) \(seq): \(error.message)")
        }
    }

    /// Whether an event of this type can contain a location.
    package static func mayHaveLocation(type: String) -> Bool {
        RoomEvent.Kind(rawValue: type)?.mayHaveLocation ?? false
    }
}

extension JSONWriter {
    /// Writes an array of events as clients are shown them.
    mutating func member(_ name: StaticString, _ events: some Sequence<RecordedEvent>) {
        self.name(name)
        self.beginArray()
        for event in events { EventJSON.write(event, for: .clients, to: &self) }
        self.endArray()
    }

    mutating func member(_ name: StaticString, _ events: [ShownEvent]) {
        self.name(name)
        self.beginArray()
        for event in events { EventJSON.write(event, to: &self) }
        self.endArray()
    }

    /// Writes the fields that belong to the event's type.
    fileprivate mutating func members(of event: RoomEvent, for audience: EventJSON.Audience) {
        switch event {
        case .roomCreated(let room): self.members(of: room)
        case .memberJoined(let member, let name, let role, let session):
            self.member("member", id: member)
            self.member("name", name)
            self.member("role", choice: role)
            self.member(privateSession: session, for: audience)
        case .memberLeft(let leaving): self.members(of: leaving)
        case .memberRenamed(let member, let name):
            self.member("member", id: member)
            self.member("name", name)
        case .roomUpdated(let changes): self.members(of: changes)
        case .roomClosed(let forget, let by, let note):
            if forget { self.member("forget", true) }
            self.members(by: by, note: note)
        case .playbackStopped(let by): self.member("by", id: by)
        case .roleChanged(let member, let role, let by, let note):
            self.member("member", id: member)
            self.member("role", choice: role)
            self.members(by: by, note: note)
        case .memberBanned(let member, let by, let session, let until, let note, let role):
            self.member("member", id: member)
            self.member("by", id: by)
            if role != .guest { self.member("role", choice: role) }
            self.member("until", until)
            self.member("reason", note)
            self.member(privateSession: session, for: audience)
        case .memberUnbanned(let member, let by, let note):
            self.member("member", id: member)
            self.members(by: by, note: note)
        case .tracksAdded(let tracks, let by):
            self.name("tracks")
            self.beginArray()
            for track in tracks {
                self.beginObject()
                self.member("track", id: track.id)
                self.members(of: track.info)
                self.endObject()
            }
            self.endArray()
            self.member("by", id: by)
        case .tracksRemoved(let tracks, let by):
            self.member("tracks", ids: tracks)
            self.member("by", id: by)
        case .waveformSet(let track, let waveform, let by):
            self.member("track", id: track)
            self.member("waveform", waveform.description)
            self.member("by", id: by)
        case .durationSet(let track, let durationMs, let by):
            self.member("track", id: track)
            self.member("durationMs", durationMs)
            self.member("by", id: by)
        case .missingSet(let tracks, let by):
            self.member("tracks", ids: tracks)
            self.member("by", id: by)
        case .voteCast(let track, let by, let votes, let requestedSeq):
            self.member("track", id: track)
            self.member("by", id: by)
            self.member("votes", votes)
            self.member("requestedSeq", requestedSeq)
        case .voteWithdrawn(let track, let by, let votes, let requestedSeq):
            self.member("track", id: track)
            self.member("by", id: by)
            self.member("votes", votes)
            self.member("requestedSeq", requestedSeq)
        case .votesCleared(let track): self.member("track", id: track)
        case .entryEnqueued(let entry, let track, let index, let by, let why):
            self.member("entry", id: entry)
            self.member("track", id: track)
            self.member("index", index)
            self.member("by", id: by)
            self.member(why: why)
        case .entryRemoved(let entry, let by, let why):
            self.member("entry", id: entry)
            self.member("by", id: by)
            self.member(why: why)
        case .entryMoved(let entry, let index, let by):
            self.member("entry", id: entry)
            self.member("index", index)
            self.member("by", id: by)
        case .playbackStarted(let entry, let track, let positionMs, let at, let by, let startedAt, let playedMs):
            self.member("entry", id: entry)
            self.member("track", id: track)
            self.member("startedAt", startedAt)
            self.members(positionMs: positionMs, at: at, by: by, playedMs: playedMs)
        case .playbackPaused(let positionMs, let at, let by, let playedMs),
            .playbackResumed(let positionMs, let at, let by, let playedMs),
            .playbackSeeked(let positionMs, let at, let by, let playedMs):
            self.members(positionMs: positionMs, at: at, by: by, playedMs: playedMs)
        case .skipVoteCast(let entry, let by, let skipVotes), .skipVoteWithdrawn(let entry, let by, let skipVotes):
            self.member("entry", id: entry)
            self.member("by", id: by)
            self.member("skipVotes", skipVotes)
        case .entryFinished(
            let entry, let track, let reason, let startedAt, let playedMs, let by, let endedAt, let isMissing):
            self.member("entry", id: entry)
            self.member("track", id: track)
            self.member("reason", choice: reason)
            if isMissing { self.member("missing", true) }
            self.member("startedAt", startedAt)
            self.member("endedAt", endedAt)
            self.member("playedMs", playedMs)
            self.member("by", id: by)
        }
    }

    /// Writes the fields that all events have when clients are shown them.
    fileprivate mutating func members(seq: Int, at: Timestamp, type: String) {
        self.member("seq", seq)
        self.member("at", at)
        self.member("type", type)
    }

    private mutating func member(privateSession session: SessionID, for audience: EventJSON.Audience) {
        switch audience {
        case .clients: break
        case .log: self.member("session", session.uuid)
        }
    }

    /// Writes the member who caused the event, and the reason that was given.
    mutating func members(by: MemberID?, note: String?) {
        self.member("by", id: by)
        self.member("reason", note)
    }

    private mutating func members(positionMs: Int64, at: Timestamp, by: MemberID?, playedMs: Int64?) {
        self.member("positionMs", positionMs)
        self.member("atMs", at)
        self.member("playedMs", playedMs)
        self.member("by", id: by)
    }
}

extension JSONFields {
    /// Reads the session; in events for clients, which have none, it is ``RoomDomain/SessionID/hidden``.
    private func session(for audience: EventJSON.Audience) throws(FieldViolation) -> SessionID {
        switch audience {
        case .clients: .hidden
        case .log: try self.sessionID("session")
        }
    }

    /// Reads the event of a kind.
    fileprivate func event(
        _ kind: RoomEvent.Kind, for audience: EventJSON.Audience
    ) throws(FieldViolation) -> RoomEvent {
        switch kind {
        case .roomCreated: .roomCreated(try self.roomCreated())
        case .memberJoined:
            .memberJoined(
                member: try self.id("member"), name: try self.string("name"), role: try self.choice("role"),
                session: try self.session(for: audience))
        case .memberLeft: .memberLeft(try self.memberLeft())
        case .memberRenamed: .memberRenamed(member: try self.id("member"), name: try self.string("name"))
        case .roomUpdated: .roomUpdated(try self.roomChanges())
        case .roomClosed:
            .roomClosed(
                forget: try self.boolIfPresent("forget") ?? false, by: try self.idIfPresent("by"),
                note: try self.note())
        case .roleChanged:
            .roleChanged(
                member: try self.id("member"), role: try self.choice("role"), by: try self.idIfPresent("by"),
                note: try self.note())
        case .memberBanned:
            .memberBanned(
                member: try self.id("member"), by: try self.idIfPresent("by"), session: try self.session(for: audience),
                until: try self.instantIfPresent("until"), note: try self.note(),
                role: try self.choiceIfPresent("role") ?? .guest)
        case .memberUnbanned:
            .memberUnbanned(
                member: try self.id("member"), by: try self.idIfPresent("by"), note: try self.note())
        case .tracksAdded: .tracksAdded(tracks: try self.numberedTracks(), by: try self.id("by"))
        case .tracksRemoved: .tracksRemoved(tracks: try self.ids("tracks"), by: try self.id("by"))
        case .waveformSet:
            .waveformSet(
                track: try self.id("track"), waveform: try self.waveformName("waveform"), by: try self.id("by"))
        case .durationSet:
            .durationSet(
                track: try self.id("track"), durationMs: try self.integer("durationMs"), by: try self.id("by"))
        case .missingSet: .missingSet(tracks: try self.ids("tracks"), by: try self.id("by"))
        case .voteCast:
            .voteCast(
                track: try self.id("track"), by: try self.id("by"), votes: try self.count("votes"),
                requestedSeq: try self.count("requestedSeq"))
        case .voteWithdrawn:
            .voteWithdrawn(
                track: try self.id("track"), by: try self.id("by"), votes: try self.count("votes"),
                requestedSeq: try self.countIfPresent("requestedSeq"))
        case .votesCleared: .votesCleared(track: try self.id("track"))
        case .entryEnqueued:
            .entryEnqueued(
                entry: try self.id("entry"), track: try self.id("track"), index: try self.count("index"),
                by: try self.idIfPresent("by"), why: try self.reasonIfPresent())
        case .entryRemoved:
            .entryRemoved(
                entry: try self.id("entry"), by: try self.idIfPresent("by"), why: try self.reasonIfPresent())
        case .entryMoved:
            .entryMoved(entry: try self.id("entry"), index: try self.count("index"), by: try self.idIfPresent("by"))
        case .playbackStarted:
            .playbackStarted(
                entry: try self.id("entry"), track: try self.id("track"), positionMs: try self.integer("positionMs"),
                at: try self.instant("atMs"), by: try self.idIfPresent("by"),
                startedAt: try self.instantIfPresent("startedAt"), playedMs: try self.integerIfPresent("playedMs"))
        case .playbackPaused:
            .playbackPaused(
                positionMs: try self.integer("positionMs"), at: try self.instant("atMs"),
                by: try self.idIfPresent("by"), playedMs: try self.integerIfPresent("playedMs"))
        case .playbackResumed:
            .playbackResumed(
                positionMs: try self.integer("positionMs"), at: try self.instant("atMs"),
                by: try self.idIfPresent("by"), playedMs: try self.integerIfPresent("playedMs"))
        case .playbackSeeked:
            .playbackSeeked(
                positionMs: try self.integer("positionMs"), at: try self.instant("atMs"),
                by: try self.idIfPresent("by"), playedMs: try self.integerIfPresent("playedMs"))
        case .playbackStopped: .playbackStopped(by: try self.idIfPresent("by"))
        case .skipVoteCast:
            .skipVoteCast(
                entry: try self.id("entry"), by: try self.id("by"), skipVotes: try self.count("skipVotes"))
        case .skipVoteWithdrawn:
            .skipVoteWithdrawn(
                entry: try self.id("entry"), by: try self.id("by"), skipVotes: try self.count("skipVotes"))
        case .entryFinished:
            .entryFinished(
                entry: try self.id("entry"), track: try self.id("track"), reason: try self.choice("reason"),
                startedAt: try self.instant("startedAt"), playedMs: try self.integer("playedMs"),
                by: try self.idIfPresent("by"), endedAt: try self.instantIfPresent("endedAt"),
                isMissing: try self.boolIfPresent("missing") ?? false)
        }
    }
}
