import RoomDomain

/// Writes and reads the nested parts of events.
extension JSONWriter {
    mutating func members(of room: RoomCreated) {
        self.member("id", room.id.uuid)
        self.member("code", room.code.description)
        self.member("name", room.name)
        self.member("location", room.location)
        self.member("visibility", choice: room.visibility)
        self.member("settings", room.settings)
    }

    mutating func members(of leaving: MemberLeft) {
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

    mutating func member(why: ChoiceReason?) {
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

    mutating func members(of changes: RoomChanges) {
        self.member("name", changes.name)
        self.member("location", changes.location)
        if changes.locationCleared { self.member("locationCleared", true) }
        self.member("visibility", choice: changes.visibility)
        self.member("settings", changes.settings)
        self.members(by: changes.by, note: changes.note)
    }
}

extension JSONFields {
    func roomCreated() throws(FieldViolation) -> RoomCreated {
        RoomCreated(
            id: try self.roomID("id"), code: try self.roomCode("code"), name: try self.string("name"),
            location: try self.roundedLocationIfPresent("location", at: "location"),
            visibility: try self.choice("visibility"), settings: try self.settings("settings", at: "settings"))
    }

    func memberLeft() throws(FieldViolation) -> MemberLeft {
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

    func reasonIfPresent() throws(FieldViolation) -> ChoiceReason? {
        guard let value = self["why"] else { return nil }
        let fields = try JSONFields(value, at: "why")
        var rank: [Int] = []
        for number in try fields.array("rank") {
            guard let integer = number.integer else { throw fields.violation("rank", "an array of integers") }
            rank.append(Int(integer))
        }
        return ChoiceReason(rule: try fields.choice("rule"), rank: rank, turnOf: try fields.idIfPresent("turnOf"))
    }

    func roomChanges() throws(FieldViolation) -> RoomChanges {
        var changes = RoomChanges()
        changes.name = try self.stringIfPresent("name")
        changes.location = try self.roundedLocationIfPresent("location", at: "location")
        changes.locationCleared = try self.boolIfPresent("locationCleared") ?? false
        changes.visibility = try self.choiceIfPresent("visibility")
        if self["settings"] != nil { changes.settings = try self.settings("settings", at: "settings") }
        changes.by = try self.idIfPresent("by")
        changes.note = try self.note()
        return changes
    }

    func numberedTracks() throws(FieldViolation) -> [NumberedTrack] {
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
