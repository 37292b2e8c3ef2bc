package import RoomDomain

extension EventJSON {
    /// Reads an event that the log has kept.
    ///
    /// Fields that are not known are ignored, so that a later release's events can be read where their meaning is the
    /// same. `at` is in milliseconds since the Unix epoch.
    package static func decodeLog(
        type: String, seq: Int, at: Int64, payload: [UInt8]
    ) throws(StoredEventFault) -> RecordedEvent {
        guard let known = RoomEvent.Kind(rawValue: type) else { throw .unknownType(type) }
        let fields = try JSONFields(stored: payload)
        do throws(FieldViolation) {
            let event = try fields.event(known)
            return RecordedEvent(seq: seq, at: Timestamp(milliseconds: at), event: event)
        } catch {
            throw .field("\(type) \(seq): \(error.message)")
        }
    }
}

extension JSONFields {
    fileprivate func event(_ kind: RoomEvent.Kind) throws(FieldViolation) -> RoomEvent {
        switch kind {
        case .roomCreated: .roomCreated(try self.roomCreated())
        case .memberJoined:
            .memberJoined(
                member: try self.id("member"), name: try self.string("name"), role: try self.choice("role"),
                session: try self.sessionID("session"))
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
                member: try self.id("member"), by: try self.idIfPresent("by"), session: try self.sessionID("session"),
                until: try self.instantIfPresent("until"), note: try self.note(),
                role: try self.choiceIfPresent("role") ?? .guest)
        case .memberUnbanned:
            .memberUnbanned(
                member: try self.id("member"), by: try self.idIfPresent("by"), note: try self.note())
        case .tracksAdded: .tracksAdded(tracks: try self.numberedTracks(), by: try self.id("by"))
        case .tracksRemoved: .tracksRemoved(tracks: try self.ids("tracks"), by: try self.id("by"))
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
                at: try self.instant("atMs"), by: try self.idIfPresent("by"))
        case .playbackPaused:
            .playbackPaused(
                positionMs: try self.integer("positionMs"), at: try self.instant("atMs"),
                by: try self.idIfPresent("by"))
        case .playbackResumed:
            .playbackResumed(
                positionMs: try self.integer("positionMs"), at: try self.instant("atMs"),
                by: try self.idIfPresent("by"))
        case .playbackSeeked:
            .playbackSeeked(
                positionMs: try self.integer("positionMs"), at: try self.instant("atMs"),
                by: try self.idIfPresent("by"))
        case .playbackStopped: .playbackStopped(by: try self.idIfPresent("by"))
        case .skipVoteCast:
            .skipVoteCast(
                entry: try self.id("entry"), by: try self.id("by"), skipVotes: try self.count("skipVotes"))
        case .entryFinished:
            .entryFinished(
                entry: try self.id("entry"), track: try self.id("track"), reason: try self.choice("reason"),
                startedAt: try self.instant("startedAt"), playedMs: try self.integer("playedMs"),
                by: try self.idIfPresent("by"))
        }
    }

    private func roomCreated() throws(FieldViolation) -> RoomCreated {
        RoomCreated(
            id: try self.roomID("id"), code: try self.roomCode("code"), name: try self.string("name"),
            location: try self.locationIfPresent("location", at: "location"), visibility: try self.choice("visibility"),
            settings: try self.settings("settings", at: "settings"))
    }

    private func memberLeft() throws(FieldViolation) -> MemberLeft {
        var votes: [MemberLeft.Withdrawal] = []
        for (index, value) in try (self.arrayIfPresent("votes") ?? []).enumerated() {
            let fields = try JSONFields(value, at: "votes", element: index)
            votes.append(
                MemberLeft.Withdrawal(
                    track: try fields.id("track"), votes: try fields.count("votes"),
                    requestedSeq: try fields.countIfPresent("requestedSeq")))
        }
        return MemberLeft(
            member: try self.id("member"), reason: try self.choice("reason"), by: try self.idIfPresent("by"),
            note: try self.stringIfPresent("note"), votes: votes, skipVotes: try self.countIfPresent("skipVotes"))
    }

    private func reasonIfPresent() throws(FieldViolation) -> ChoiceReason? {
        guard let value = self["why"] else { return nil }
        let fields = try JSONFields(value, at: "why")
        var rank: [Int] = []
        for number in try fields.array("rank") {
            guard let integer = number.integer else { throw fields.violation("rank", "an array of integers") }
            rank.append(Int(integer))
        }
        return ChoiceReason(rule: try fields.choice("rule"), rank: rank, turnOf: try fields.idIfPresent("turnOf"))
    }

    private func roomChanges() throws(FieldViolation) -> RoomChanges {
        var changes = RoomChanges()
        changes.name = try self.stringIfPresent("name")
        changes.location = try self.locationIfPresent("location", at: "location")
        changes.locationCleared = try self.boolIfPresent("locationCleared") ?? false
        changes.visibility = try self.choiceIfPresent("visibility")
        if self["settings"] != nil { changes.settings = try self.settings("settings", at: "settings") }
        changes.by = try self.idIfPresent("by")
        changes.note = try self.note()
        return changes
    }

    private func numberedTracks() throws(FieldViolation) -> [NumberedTrack] {
        let array = try self.array("tracks")
        var tracks: [NumberedTrack] = []
        tracks.reserveCapacity(array.count)
        for (index, value) in array.enumerated() {
            let fields = try JSONFields(value, at: "tracks", element: index)
            tracks.append(NumberedTrack(id: try fields.id("track"), info: try fields.trackInfo()))
        }
        return tracks
    }
}
