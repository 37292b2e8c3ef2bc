import ByteText
package import RoomDomain

/// The JSON of commands (protocol, section 5).
package enum CommandJSON {
    /// Writes the command's object: `type` and the type's fields.
    ///
    /// Commands that only the server sends are written too, but never read.
    ///
    /// - Precondition: the numbers in the command are finite; JSON has no others.
    package static func encode(_ command: RoomCommand) -> [UInt8] {
        var writer = JSONWriter(capacity: 96 + command.itemCount * 96)
        writer.value(command)
        return writer.bytes
    }

    /// Writes the body of an HTTP request: `{"command":Command}`; see ``encode(_:)``.
    package static func encode(body command: RoomCommand) -> [UInt8] {
        var writer = JSONWriter(capacity: 128 + command.itemCount * 96)
        writer.beginObject()
        writer.member("command", command)
        writer.endObject()
        return writer.bytes
    }

    /// Reads a command: an object with a `type` and the type's fields.
    ///
    /// Checks types and names, not values: the room checks the values. Fields that the protocol does not name are
    /// ignored, and `null` counts as absent. A violation names the field, as in `command.track`.
    package static func parse(_ value: JSONValue) throws(MessageViolation) -> RoomCommand {
        do throws(FieldViolation) {
            let fields = try JSONFields(value, at: "command")
            let type = try fields.string("type")
            guard let kind = RoomCommand.Kind(rawValue: type), let command = try Self.command(kind, fields) else {
                throw fields.violation("type", "a command that this server supports")
            }
            return command
        } catch {
            throw MessageViolation(error)
        }
    }

    /// Reads the body of an HTTP request: `{"command":Command}`.
    package static func parse(body: Span<UInt8>) throws(MessageViolation) -> RoomCommand {
        try Self.parse(in: JSONFields(message: body))
    }

    /// Reads the body of an HTTP request: `{"command":Command}`.
    package static func parse(body: [UInt8]) throws(MessageViolation) -> RoomCommand {
        try Self.parse(body: body.contiguous.span)
    }

    /// Reads the `command` of a message or body.
    static func parse(in fields: JSONFields) throws(MessageViolation) -> RoomCommand {
        guard let command = fields["command"] else {
            throw MessageViolation(fields.violation("command", "an object"))
        }
        return try Self.parse(command)
    }

    /// Reads the command of this kind; nil for a kind that only the server sends.
    private static func command(
        _ kind: RoomCommand.Kind, _ fields: JSONFields
    ) throws(FieldViolation) -> RoomCommand? {
        switch kind {
        case .join: .join(name: try fields.stringIfPresent("name"))
        case .leave: .leave
        case .rename: .rename(name: try fields.string("name"))
        case .updateRoom: .updateRoom(try Self.update(fields))
        case .closeRoom: .closeRoom(forget: try fields.boolIfPresent("forget") ?? false, note: try fields.note())
        case .setRole:
            .setRole(member: try fields.id("member"), role: try Self.role(fields), note: try fields.note())
        case .transferOwnership: .transferOwnership(member: try fields.id("member"), note: try fields.note())
        case .kick:
            .kick(
                members: try Self.kicked(fields), ban: try fields.boolIfPresent("ban") ?? false,
                durationMs: try fields.integerIfPresent("durationMs"), note: try fields.note())
        case .unban: .unban(member: try fields.id("member"), note: try fields.note())
        case .addTracks: .addTracks(try Self.tracks(fields))
        case .removeTracks: .removeTracks(try fields.ids("tracks"))
        case .setWaveform: .setWaveform(track: try fields.id("track"), waveform: try Self.waveform(fields))
        case .setDuration:
            .setDuration(track: try fields.id("track"), durationMs: try fields.integer("durationMs"))
        case .setMissing: .setMissing(try fields.ids("tracks"))
        case .vote: .vote(track: try fields.id("track"))
        case .unvote: .unvote(track: try fields.id("track"))
        case .enqueue: .enqueue(track: try fields.id("track"), index: try fields.countIfPresent("at"))
        case .dequeue: .dequeue(entry: try fields.id("entry"))
        case .move: .move(entry: try fields.id("entry"), index: try fields.count("to"))
        case .play: .play(entry: try fields.idIfPresent("entry"))
        case .pause: .pause(entry: try fields.idIfPresent("entry"))
        case .resume: .resume(entry: try fields.idIfPresent("entry"))
        case .seek: .seek(positionMs: try fields.integer("positionMs"), entry: try fields.idIfPresent("entry"))
        case .skip: .skip(entry: try fields.idIfPresent("entry"))
        case .finish:
            .finish(entry: try fields.id("entry"), isMissing: try fields.boolIfPresent("missing") ?? false)
        case .voteSkip: .voteSkip(entry: try fields.id("entry"))
        case .unvoteSkip: .unvoteSkip(entry: try fields.id("entry"))
        case .syncDeck: .syncDeck(try Self.deck(fields))
        case .countSkipVotes, .replaceOwner, .endMembership: nil
        }
    }

    /// The members to kick: `member` or `members`.
    private static func kicked(_ fields: JSONFields) throws(FieldViolation) -> [MemberID] {
        switch (fields["member"], fields["members"]) {
        case (_, nil): [try fields.id("member")]
        case (nil, .some): try fields.ids("members")
        case (.some, .some): throw fields.violation("members", "absent if member is given")
        }
    }

    private static func update(_ fields: JSONFields) throws(FieldViolation) -> RoomUpdate {
        var update = RoomUpdate()
        update.name = try fields.stringIfPresent("name")
        update.location = try fields.locationIfPresent("location", at: "command.location")
        update.clearLocation = try fields.boolIfPresent("clearLocation") ?? false
        update.visibility = try fields.choiceIfPresent("visibility")
        update.settings = try fields.settingsUpdate("settings", at: "command.settings")
        update.note = try fields.note()
        return update
    }

    private static func deck(_ fields: JSONFields) throws(FieldViolation) -> Deck {
        let played = try Self.played(fields)
        let known = try fields.integerIfPresent("known")
        guard known.map({ $0 >= 0 }) ?? true else { throw fields.violation("known", "the number of an entry, or 0") }
        let newest = known.map { EntryID(rawValue: Int($0)) }
        let array = try fields.array("queue")
        var queue: [Deck.Item] = []
        queue.reserveCapacity(array.count)
        for (index, value) in array.enumerated() {
            queue.append(try Self.item(JSONFields(value, at: "command.queue", element: index)))
        }
        guard let value = fields["playback"] else { throw fields.violation("playback", "an object") }
        let playback = try JSONFields(value, at: "command.playback")
        let isPaused: Bool
        switch playback["status"]?.string {
        case "stopped": return Deck(played: played, queue: queue, playback: .stopped, known: newest)
        case "playing": isPaused = false
        case "paused": isPaused = true
        default: throw playback.violation("status", "stopped, playing or paused")
        }
        return Deck(
            played: played, queue: queue,
            playback: .onAir(
                try Self.item(playback), isPaused: isPaused, positionMs: try playback.integer("positionMs"),
                at: try playback.instant("atMs"), startedAt: try playback.instantIfPresent("startedAtMs"),
                playedMs: try playback.integerIfPresent("playedMs")),
            known: newest)
    }

    private static func played(_ fields: JSONFields) throws(FieldViolation) -> [Deck.Played] {
        guard fields["played"] != nil else { return [] }
        let array = try fields.array("played")
        var played: [Deck.Played] = []
        played.reserveCapacity(array.count)
        for (index, value) in array.enumerated() {
            let fields = try JSONFields(value, at: "command.played", element: index)
            let item = try Self.item(fields)
            guard let reason = fields["reason"]?.string.flatMap(FinishReason.init(rawValue:)), reason != .replaced
            else { throw fields.violation("reason", "ended or skipped") }
            played.append(
                Deck.Played(
                    item: item, startedAt: try fields.instant("startedAtMs"), playedMs: try fields.integer("playedMs"),
                    reason: reason, endedAt: try fields.instantIfPresent("endedAtMs")))
        }
        return played
    }

    private static func item(_ fields: JSONFields) throws(FieldViolation) -> Deck.Item {
        switch (fields["track"], fields["entry"]) {
        case (.some, nil): .track(try fields.id("track"))
        case (nil, .some): .entry(try fields.id("entry"))
        case (nil, nil), (.some, .some): throw fields.violation("track", "given if and only if entry is not")
        }
    }

    /// The role to give; `owner` is not among them.
    private static func role(_ fields: JSONFields) throws(FieldViolation) -> Role {
        guard let role = fields["role"]?.string.flatMap(Role.init(rawValue:)), role != .owner else {
            throw fields.violation("role", "dj or guest")
        }
        return role
    }

    private static func waveform(_ fields: JSONFields) throws(FieldViolation) -> Waveform {
        guard let waveform = fields["data"]?.string.flatMap(Waveform.init(text:)) else {
            throw fields.violation(
                "data", "\(Waveform.byteCount) bytes in base64url: \(Waveform.textLength) characters without padding")
        }
        return waveform
    }

    private static func tracks(_ fields: JSONFields) throws(FieldViolation) -> [TrackInfo] {
        let array = try fields.array("tracks")
        var tracks: [TrackInfo] = []
        tracks.reserveCapacity(array.count)
        for (index, value) in array.enumerated() {
            tracks.append(try JSONFields(value, at: "command.tracks", element: index).trackInfo())
        }
        return tracks
    }
}

// MARK: Writing

extension JSONWriter {
    mutating func member(_ name: StaticString, _ command: RoomCommand) {
        self.name(name)
        self.value(command)
    }

    fileprivate mutating func value(_ command: RoomCommand) {
        self.beginObject()
        self.member("type", choice: command.kind)
        self.members(of: command)
        self.endObject()
    }

    /// Writes the fields that belong to the command's kind.
    private mutating func members(of command: RoomCommand) {
        switch command {
        case .join(let name): self.member("name", name)
        case .rename(let name): self.member("name", name)
        case .updateRoom(let update): self.members(of: update)
        case .closeRoom(let forget, let note):
            if forget { self.member("forget", true) }
            self.member("reason", note)
        case .setRole(let member, let role, let note):
            self.member("member", id: member)
            self.member("role", choice: role)
            self.member("reason", note)
        case .transferOwnership(let member, let note), .unban(let member, let note):
            self.member("member", id: member)
            self.member("reason", note)
        case .kick(let members, let ban, let durationMs, let note):
            if members.count == 1 {
                self.member("member", id: members.first)
            } else {
                self.member("members", ids: members)
            }
            if ban { self.member("ban", true) }
            self.member("durationMs", durationMs)
            self.member("reason", note)
        case .addTracks(let tracks):
            self.name("tracks")
            self.beginArray()
            for track in tracks {
                self.beginObject()
                self.members(of: track)
                self.endObject()
            }
            self.endArray()
        case .removeTracks(let tracks), .setMissing(let tracks): self.member("tracks", ids: tracks)
        case .setDuration(let track, let durationMs):
            self.member("track", id: track)
            self.member("durationMs", durationMs)
        case .setWaveform(let track, let waveform):
            self.member("track", id: track)
            self.member("data", waveform.text)
        case .vote(let track), .unvote(let track): self.member("track", id: track)
        case .enqueue(let track, let index):
            self.member("track", id: track)
            self.member("at", index)
        case .dequeue(let entry), .voteSkip(let entry), .unvoteSkip(let entry): self.member("entry", id: entry)
        case .finish(let entry, let isMissing):
            self.member("entry", id: entry)
            if isMissing { self.member("missing", true) }
        case .move(let entry, let index):
            self.member("entry", id: entry)
            self.member("to", index)
        case .play(let entry), .pause(let entry), .resume(let entry), .skip(let entry):
            self.member("entry", id: entry)
        case .seek(let positionMs, let entry):
            self.member("positionMs", positionMs)
            self.member("entry", id: entry)
        case .syncDeck(let deck): self.members(of: deck)
        case .replaceOwner(let member): self.member("member", id: member)
        case .endMembership(let session, let reason):
            self.member("session", session.uuid)
            self.member("reason", choice: reason)
        case .leave, .countSkipVotes: break
        }
    }

    private mutating func members(of update: RoomUpdate) {
        self.member("name", update.name)
        self.member("location", update.location)
        if update.clearLocation { self.member("clearLocation", true) }
        self.member("visibility", choice: update.visibility)
        self.member("settings", update.settings)
        self.member("reason", update.note)
    }

    private mutating func members(of deck: Deck) {
        self.member(played: deck.played)
        self.name("queue")
        self.beginArray()
        for item in deck.queue {
            self.beginObject()
            self.member(item)
            self.endObject()
        }
        self.endArray()
        self.name("playback")
        self.beginObject()
        switch deck.playback {
        case .stopped: self.member("status", "stopped")
        case .onAir(let item, let isPaused, let positionMs, let at, let startedAt, let playedMs):
            self.member("status", isPaused ? "paused" : "playing")
            self.member(item)
            self.member("positionMs", positionMs)
            self.member("atMs", at)
            self.member("startedAtMs", startedAt)
            self.member("playedMs", playedMs)
        }
        self.endObject()
        if let known = deck.known { self.member("known", id: known) }
    }

    /// Writes what was played, or nothing if nothing was.
    private mutating func member(played: [Deck.Played]) {
        guard !played.isEmpty else { return }
        self.name("played")
        self.beginArray()
        for played in played {
            self.beginObject()
            self.member(played.item)
            self.member("startedAtMs", played.startedAt)
            self.member("playedMs", played.playedMs)
            self.member("reason", choice: played.reason)
            self.member("endedAtMs", played.endedAt)
            self.endObject()
        }
        self.endArray()
    }

    private mutating func member(_ item: Deck.Item) {
        switch item {
        case .track(let track): self.member("track", id: track)
        case .entry(let entry): self.member("entry", id: entry)
        }
    }
}
