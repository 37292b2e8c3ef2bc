package import RoomDomain

/// The JSON of events (protocol, section 5), for clients and for the log.
package enum EventJSON {
    /// Who reads an event.
    package enum Audience: Sendable, Hashable {
        /// Members and those who watch: `seq`, `at` and `type` are in the object; nothing private is.
        case clients
        /// The log, which keeps `seq`, `at` and `type` beside the object; private fields are in it.
        case log
    }

    /// Writes one event as an object.
    package static func write(_ recorded: RecordedEvent, for audience: Audience, to writer: inout JSONWriter) {
        writer.beginObject()
        switch audience {
        case .clients:
            writer.member("seq", recorded.seq)
            writer.member("at", recorded.at)
            writer.member("type", choice: recorded.event.kind)
        case .log: break
        }
        writer.members(of: recorded.event, for: audience)
        writer.endObject()
    }

    /// The event's object as the log keeps it.
    package static func encodeLog(_ event: RoomEvent) -> [UInt8] {
        var writer = JSONWriter(capacity: 96)
        writer.beginObject()
        writer.members(of: event, for: .log)
        writer.endObject()
        return writer.bytes
    }

    /// Whether an event of this type may have a location.
    package static func mayHaveLocation(type: String) -> Bool {
        RoomEvent.Kind(rawValue: type)?.mayHaveLocation ?? false
    }
}

extension JSONWriter {
    /// The fields that belong to the event's type.
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
        case .playbackStarted(let entry, let track, let positionMs, let at, let by):
            self.member("entry", id: entry)
            self.member("track", id: track)
            self.members(positionMs: positionMs, at: at, by: by)
        case .playbackPaused(let positionMs, let at, let by), .playbackResumed(let positionMs, let at, let by),
            .playbackSeeked(let positionMs, let at, let by):
            self.members(positionMs: positionMs, at: at, by: by)
        case .skipVoteCast(let entry, let by, let skipVotes):
            self.member("entry", id: entry)
            self.member("by", id: by)
            self.member("skipVotes", skipVotes)
        case .entryFinished(let entry, let track, let reason, let startedAt, let playedMs, let by):
            self.member("entry", id: entry)
            self.member("track", id: track)
            self.member("reason", choice: reason)
            self.member("startedAt", startedAt)
            self.member("playedMs", playedMs)
            self.member("by", id: by)
        }
    }

    private mutating func member(privateSession session: SessionID, for audience: EventJSON.Audience) {
        switch audience {
        case .clients: break
        case .log: self.member("session", session.uuid)
        }
    }

    private mutating func members(of room: RoomCreated) {
        self.member("id", room.id.uuid)
        self.member("code", room.code.description)
        self.member("name", room.name)
        self.member("location", room.location)
        self.member("visibility", choice: room.visibility)
        self.member("settings", room.settings)
    }

    private mutating func members(of leaving: MemberLeft) {
        self.member("member", id: leaving.member)
        self.member("reason", choice: leaving.reason)
        self.member("by", id: leaving.by)
        self.member("note", leaving.note)
        self.member("skipVotes", leaving.skipVotes)
        guard !leaving.votes.isEmpty else { return }
        self.name("votes")
        self.beginArray()
        for withdrawal in leaving.votes {
            self.beginObject()
            self.member("track", id: withdrawal.track)
            self.member("votes", withdrawal.votes)
            self.member("requestedSeq", withdrawal.requestedSeq)
            self.endObject()
        }
        self.endArray()
    }

    private mutating func member(why: ChoiceReason?) {
        guard let why else { return }
        self.name("why")
        self.beginObject()
        self.member("rule", choice: why.rule)
        self.name("rank")
        self.beginArray()
        for number in why.rank { self.integer(number) }
        self.endArray()
        self.member("turnOf", id: why.turnOf)
        self.endObject()
    }

    private mutating func members(of changes: RoomChanges) {
        self.member("name", changes.name)
        self.member("location", changes.location)
        if changes.locationCleared { self.member("locationCleared", true) }
        self.member("visibility", choice: changes.visibility)
        self.member("settings", changes.settings)
        self.members(by: changes.by, note: changes.note)
    }

    /// Who did it, and the reason that was given.
    private mutating func members(by: MemberID?, note: String?) {
        self.member("by", id: by)
        self.member("reason", note)
    }

    private mutating func members(positionMs: Int64, at: Timestamp, by: MemberID?) {
        self.member("positionMs", positionMs)
        self.member("atMs", at)
        self.member("by", id: by)
    }
}
