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
            guard let command = try Self.command(type, fields) else {
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

    /// The command of this type; nil where there is none.
    private static func command(_ type: String, _ fields: JSONFields) throws(FieldViolation) -> RoomCommand? {
        switch type {
        case "join": .join(name: try fields.stringIfPresent("name"))
        case "leave": .leave
        case "rename": .rename(name: try fields.string("name"))
        case "updateRoom": .updateRoom(try Self.update(fields))
        case "closeRoom": .closeRoom(forget: try fields.boolIfPresent("forget") ?? false)
        case "setRole": .setRole(member: try fields.id("member"), role: try Self.role(fields))
        case "transferOwnership": .transferOwnership(member: try fields.id("member"))
        case "kick":
            .kick(
                member: try fields.id("member"), ban: try fields.boolIfPresent("ban") ?? false,
                note: try fields.stringIfPresent("reason"))
        case "unban": .unban(member: try fields.id("member"))
        case "addTracks": .addTracks(try Self.tracks(fields))
        case "removeTracks": .removeTracks(try fields.ids("tracks"))
        case "vote": .vote(track: try fields.id("track"))
        case "unvote": .unvote(track: try fields.id("track"))
        case "enqueue": .enqueue(track: try fields.id("track"), index: try fields.countIfPresent("at"))
        case "dequeue": .dequeue(entry: try fields.id("entry"))
        case "move": .move(entry: try fields.id("entry"), index: try fields.count("to"))
        case "play": .play(entry: try fields.idIfPresent("entry"))
        case "pause": .pause
        case "resume": .resume
        case "seek": .seek(positionMs: try fields.integer("positionMs"))
        case "skip": .skip
        case "finish": .finish(entry: try fields.id("entry"))
        default: nil
        }
    }

    private static func update(_ fields: JSONFields) throws(FieldViolation) -> RoomUpdate {
        var update = RoomUpdate()
        update.name = try fields.stringIfPresent("name")
        update.location = try fields.locationIfPresent("location", at: "command.location")
        update.clearLocation = try fields.boolIfPresent("clearLocation") ?? false
        update.visibility = try fields.choiceIfPresent("visibility")
        update.settings = try fields.settingsUpdate("settings", at: "command.settings")
        return update
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
