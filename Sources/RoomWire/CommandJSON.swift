package import RoomDomain

/// The JSON of commands (protocol, section 5).
package enum CommandJSON {
    /// Reads a command: an object with a `type` and the type's fields.
    ///
    /// Checks types and names, not values: what a room allows is for the room to say. Fields that the protocol does not
    /// name are ignored, and `null` is as good as absent. A violation names the field, as in `command.track`.
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
        try Self.parse(body: body.span)
    }

    /// Reads the `command` of a message or body.
    static func parse(in fields: JSONFields) throws(MessageViolation) -> RoomCommand {
        guard let command = fields["command"] else {
            throw MessageViolation(fields.violation("command", "an object"))
        }
        return try Self.parse(command)
    }

    /// The command of this kind; nil where only the server asks for it.
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
        case .vote: .vote(track: try fields.id("track"))
        case .unvote: .unvote(track: try fields.id("track"))
        case .enqueue: .enqueue(track: try fields.id("track"), index: try fields.countIfPresent("at"))
        case .dequeue: .dequeue(entry: try fields.id("entry"))
        case .move: .move(entry: try fields.id("entry"), index: try fields.count("to"))
        case .play: .play(entry: try fields.idIfPresent("entry"))
        case .pause: .pause
        case .resume: .resume
        case .seek: .seek(positionMs: try fields.integer("positionMs"))
        case .skip: .skip
        case .finish: .finish(entry: try fields.id("entry"))
        case .voteSkip: .voteSkip(entry: try fields.id("entry"))
        case .syncDeck: .syncDeck(try Self.deck(fields))
        case .countSkipVotes, .replaceOwner, .endMembership: nil
        }
    }

    /// Who is to be kicked: `member` or `members`.
    private static func kicked(_ fields: JSONFields) throws(FieldViolation) -> [MemberID] {
        switch (fields["member"], fields["members"]) {
        case (_, nil): [try fields.id("member")]
        case (nil, .some): try fields.ids("members")
        case (.some, .some): throw fields.violation("members", "absent where there is a member")
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
        case "stopped": return Deck(queue: queue, playback: .stopped)
        case "playing": isPaused = false
        case "paused": isPaused = true
        default: throw playback.violation("status", "stopped, playing or paused")
        }
        return Deck(
            queue: queue,
            playback: .onAir(
                try Self.item(playback), isPaused: isPaused, positionMs: try playback.integer("positionMs"),
                at: try playback.instant("atMs")))
    }

    private static func item(_ fields: JSONFields) throws(FieldViolation) -> Deck.Item {
        switch (fields["track"], fields["entry"]) {
        case (.some, nil): .track(try fields.id("track"))
        case (nil, .some): .entry(try fields.id("entry"))
        case (nil, nil), (.some, .some): throw fields.violation("track", "there, or entry, and not both")
        }
    }

    /// Ownership is not given by this command.
    private static func role(_ fields: JSONFields) throws(FieldViolation) -> Role {
        guard let role = fields["role"]?.string.flatMap(Role.init(rawValue:)), role != .owner else {
            throw fields.violation("role", "dj or guest")
        }
        return role
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
