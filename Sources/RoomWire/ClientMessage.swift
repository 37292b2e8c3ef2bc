import ByteText
package import RoomDomain

/// A message from a client on a socket (protocol, section 3).
package enum ClientMessage: Sendable, Equatable {
    /// Starts to follow a room, from a position if one is given; answered with a snapshot or by resuming.
    case subscribe(id: Int64?, room: RoomReference, position: Position?)
    /// Stops following a room.
    case unsubscribe(id: Int64?, room: RoomReference)
    /// Sends a command to a room; a retry with the same `key` gets the first outcome again. It is put off where `after`,
    /// the `id` of an earlier command, was.
    case command(id: Int64?, room: RoomReference, key: String?, command: RoomCommand, after: Int64? = nil)
    /// Shows one grapheme to everybody in a room.
    case react(id: Int64?, room: RoomReference, emoji: String)
    /// Sends data to one member of a room only.
    case signal(id: Int64?, room: RoomReference, to: MemberID, data: RelayedJSON)
    /// Makes this connection the room's deck, or ends that.
    case deck(id: Int64?, room: RoomReference, isOn: Bool)
    /// Asks for the server's clock; `t1` is the client's, in fractional milliseconds, and is returned unchanged.
    case time(id: Int64?, t1: Double)
    /// Starts to watch the rooms near a point; the messages that follow refer to the watch by this `id`.
    case nearby(id: Int64, query: NearbyQuery)
    /// Stops watching the rooms near a point; `sub` is the `id` of the message that started the watch.
    case nearbyStop(id: Int64?, sub: Int64)
    /// Starts to watch a room's counts; `offset` is that of local time from UTC, in minutes.
    case statistics(id: Int64, room: RoomReference, offset: Int)
    /// Stops watching a room's counts; `sub` is the `id` of the message that started the watch.
    case statisticsStop(id: Int64?, sub: Int64)
    /// Starts to watch what is played across rooms.
    case trending(id: Int64, query: TrendingQuery)
    /// Stops watching what is played; `sub` is the `id` of the message that started the watch.
    case trendingStop(id: Int64?, sub: Int64)

    /// The type of a message; the raw value is its name.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case subscribe, unsubscribe, command, react, signal, deck, time, nearby, nearbyStop, statistics
        case statisticsStop, trending, trendingStop
    }

    /// The type of the message.
    package var kind: Kind {
        switch self {
        case .subscribe: .subscribe
        case .unsubscribe: .unsubscribe
        case .command: .command
        case .react: .react
        case .signal: .signal
        case .deck: .deck
        case .time: .time
        case .nearby: .nearby
        case .nearbyStop: .nearbyStop
        case .statistics: .statistics
        case .statisticsStop: .statisticsStop
        case .trending: .trending
        case .trendingStop: .trendingStop
        }
    }

    /// The number by which the client recognizes the answer; nil if it gave none.
    package var id: Int64? {
        switch self {
        case .subscribe(let id, _, _), .unsubscribe(let id, _), .command(let id, _, _, _, _), .react(let id, _, _),
            .signal(let id, _, _, _), .deck(let id, _, _), .time(let id, _), .nearbyStop(let id, _),
            .statisticsStop(let id, _), .trendingStop(let id, _):
            id
        case .nearby(let id, _), .statistics(let id, _, _), .trending(let id, _): id
        }
    }

    /// Reads one message.
    ///
    /// Fields that the protocol does not name are ignored, and `null` counts as absent. The transport bounds the size
    /// of the message. A violation carries the message's `id` whenever it could be read; a text that is not JSON or has
    /// no `type` is answered without one.
    package static func parse(_ text: Span<UInt8>) throws(MessageViolation) -> ClientMessage {
        let fields = try JSONFields(message: text)
        guard let type = fields["type"]?.string else {
            throw MessageViolation(message: "type must be a string")
        }
        let id: Int64?
        do throws(FieldViolation) {
            id = try fields.integerIfPresent("id")
        } catch {
            throw MessageViolation(error)
        }
        do throws(MessageViolation) {
            return try Self.parse(type, id: id, fields, text)
        } catch {
            throw MessageViolation(re: id, code: error.code, message: error.message)
        }
    }

    /// Reads one message; see ``parse(_:)-(Span<UInt8>)``.
    package static func parse(_ text: [UInt8]) throws(MessageViolation) -> ClientMessage {
        try Self.parse(text.contiguous.span)
    }

    /// Whether `text` can be the key of a command or of an `Idempotency-Key` header: 1 to 128 Unicode scalars, none of
    /// them a control character.
    package static func isKey(_ text: String) -> Bool {
        // Cc, the control characters, is C0, DEL and C1.
        (1...128).contains(text.unicodeScalars.count)
            && !text.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }

    /// The message as a client sends it.
    ///
    /// - Precondition: the numbers in the message are finite; JSON has no others.
    package func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("type", choice: kind)
        writer.member("id", id)
        switch self {
        case .subscribe(_, let room, let position):
            writer.member("room", room.text)
            writer.member("position", position)
        case .unsubscribe(_, let room): writer.member("room", room.text)
        case .command(_, let room, let key, let command, let earlier):
            writer.member("room", room.text)
            writer.member("key", key)
            writer.member("after", earlier)
            writer.member("command", command)
        case .react(_, let room, let emoji):
            writer.member("room", room.text)
            writer.member("emoji", emoji)
        case .signal(_, let room, let member, let data):
            writer.member("room", room.text)
            writer.member("to", id: member)
            writer.member("data", raw: data.text)
        case .deck(_, let room, let isOn):
            writer.member("room", room.text)
            writer.member("on", isOn)
        case .time(_, let t1): writer.member("t1", t1)
        case .nearby(_, let query): writer.members(of: query)
        case .nearbyStop(_, let sub), .statisticsStop(_, let sub), .trendingStop(_, let sub):
            writer.member("sub", sub)
        case .statistics(_, let room, let offset):
            writer.member("room", room.text)
            if offset != 0 { writer.member("offsetMinutes", offset) }
        case .trending(_, let query): writer.members(of: query)
        }
        writer.endObject()
        return writer.bytes
    }

    private static func parse(
        _ type: String, id: Int64?, _ fields: JSONFields, _ text: Span<UInt8>
    ) throws(MessageViolation) -> ClientMessage {
        guard let kind = Kind(rawValue: type) else {
            throw MessageViolation(message: "type is not one this server knows")
        }
        switch kind {
        case .subscribe: return .subscribe(id: id, room: try fields.room(), position: try fields.position())
        case .unsubscribe: return .unsubscribe(id: id, room: try fields.room())
        case .command:
            return .command(
                id: id, room: try fields.room(), key: try fields.key(), command: try CommandJSON.parse(in: fields),
                after: try fields.earlier())
        case .react:
            return .react(id: id, room: try fields.room(), emoji: try fields.emoji())
        case .signal:
            return .signal(
                id: id, room: try fields.room(), to: try fields.recipient(), data: try fields.relayed("data", in: text))
        case .deck:
            let room = try fields.room()
            do throws(FieldViolation) {
                return .deck(id: id, room: room, isOn: try fields.bool("on"))
            } catch {
                throw MessageViolation(error)
            }
        case .time:
            do throws(FieldViolation) {
                return .time(id: id, t1: try fields.number("t1"))
            } catch {
                throw MessageViolation(error)
            }
        case .nearby:
            return .nearby(id: try fields.given(id), query: try NearbyQuery(fields))
        case .nearbyStop: return .nearbyStop(id: id, sub: try fields.sub())
        case .statistics:
            let (id, room) = (try fields.given(id), try fields.room())
            do throws(FieldViolation) {
                return .statistics(id: id, room: room, offset: try fields.countIfPresent("offsetMinutes") ?? 0)
            } catch {
                throw MessageViolation(error)
            }
        case .statisticsStop: return .statisticsStop(id: id, sub: try fields.sub())
        case .trending: return .trending(id: try fields.given(id), query: try TrendingQuery(fields))
        case .trendingStop: return .trendingStop(id: id, sub: try fields.sub())
        }
    }
}

extension JSONFields {
    /// The room that a message names; a text that no room can have is `not_found`, like an id that no room has.
    fileprivate func room() throws(MessageViolation) -> RoomReference {
        guard let text = self["room"]?.string else {
            throw MessageViolation(self.violation("room", "a room's id or code"))
        }
        guard let room = RoomReference(text) else {
            throw MessageViolation(code: .notFound, message: "no room has this id or code")
        }
        return room
    }

    /// The `id` of a message that needs one.
    fileprivate func given(_ id: Int64?) throws(MessageViolation) -> Int64 {
        guard let id else { throw MessageViolation(self.violation("id", "an integer")) }
        return id
    }

    /// The number of a subscription.
    fileprivate func sub() throws(MessageViolation) -> Int64 {
        do throws(FieldViolation) {
            return try self.integer("sub")
        } catch {
            throw MessageViolation(error)
        }
    }

    /// The `id` of the command behind which a command was sent.
    fileprivate func earlier() throws(MessageViolation) -> Int64? {
        do throws(FieldViolation) {
            return try self.integerIfPresent("after")
        } catch {
            throw MessageViolation(error)
        }
    }

    fileprivate func position() throws(MessageViolation) -> Position? {
        do throws(FieldViolation) {
            return try self.objectIfPresent("position", Position.init)
        } catch {
            throw MessageViolation(error)
        }
    }

    /// One grapheme, and no control character: a face, a flag, a family, or a letter.
    fileprivate func emoji() throws(MessageViolation) -> String {
        // The longest common graphemes have some ten scalars; a grapheme could otherwise have any number.
        guard let emoji = self["emoji"]?.string.flatMap({ TextRule.accepted($0, length: 1...32) }), emoji.count == 1
        else { throw MessageViolation(self.violation("emoji", "one character")) }
        return emoji
    }

    fileprivate func recipient() throws(MessageViolation) -> MemberID {
        do throws(FieldViolation) {
            return try self.id("to")
        } catch {
            throw MessageViolation(error)
        }
    }

    /// The text of the value of the member `name` in the message `text`, unchanged; `null` counts as a value.
    fileprivate func relayed(_ name: String, in text: Span<UInt8>) throws(MessageViolation) -> RelayedJSON {
        let place: Range<Int>?
        do throws(JSONViolation) {
            place = try JSONParser.place(of: name, in: text)
        } catch {
            throw MessageViolation(error)
        }
        guard let place else { throw MessageViolation(self.violation(name, "any JSON")) }
        guard place.count <= RelayedJSON.sizeLimit else {
            throw MessageViolation(
                code: .tooLarge, message: "\(name) may have at most \(RelayedJSON.sizeLimit) bytes")
        }
        return RelayedJSON(known: text, at: place)
    }

    fileprivate func key() throws(MessageViolation) -> String? {
        guard let value = self["key"] else { return nil }
        guard let key = value.string, ClientMessage.isKey(key) else {
            throw MessageViolation(
                self.violation("key", "a string of 1 to 128 characters, none of them a control character"))
        }
        return key
    }
}
