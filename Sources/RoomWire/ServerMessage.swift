import ByteText
package import RoomDomain

/// The messages from a server on a socket (protocol, section 3): each function writes one text message.
///
/// A client reads them as ``Received``.
///
/// An answer's `re` is the `id` of the message that it answers; it is left out if that message had none.
package enum ServerMessage {
    /// The type of a message; the raw value is its name.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case welcome, snapshot, resumed, delta, presence, reaction, signal, deck, ok, ack, error, ended, time, nearby
        case nearbyDelta, statistics, statisticsDelta, statisticsEnd, trending, trendingDelta, goaway, beat
    }

    /// A message as a client reads it.
    package enum Received: Sendable, Equatable {
        /// The first message on every socket.
        case welcome(Welcome)
        /// A whole room; stored indirectly, because every message takes as much memory as the largest case.
        indirect case snapshot(Snapshot)
        /// A subscription continues from the client's position; the deltas after it follow.
        case resumed(Resumed)
        /// Events of a room: one or more, whose numbers ascend without a gap.
        case delta(room: RoomID, events: [ShownEvent])
        /// The set of online members has changed; the change is nil in a room with too many to list.
        case presence(room: RoomID, online: Int, change: PresenceChange?)
        /// A member shows one grapheme to everybody.
        case reaction(room: RoomID, from: MemberID, emoji: String)
        /// A member sends data to this client's member only.
        case signal(room: RoomID, from: MemberID, data: RelayedJSON)
        /// Another device plays for the room; without a deck, none does.
        case deck(room: RoomID, ShownDeck?)
        /// The answer to a message without a result.
        case ok(re: Int64?)
        /// The answer to a command that was carried out, with the room's count of keyed commands.
        case ack(re: Int64?, seq: Int, keyed: Int?, result: CommandResult?)
        /// The answer to a message that was refused; a retry may succeed after `retryAfterMs`, and `reason` is what a
        /// person gave as the reason for a ban.
        case error(re: Int64?, code: ErrorName, message: String, retryAfterMs: Int?, reason: String? = nil)
        /// The server ended a subscription.
        case ended(room: RoomID, code: ErrorName)
        /// One exchange of clocks, in fractional milliseconds since the Unix epoch.
        case time(re: Int64?, t1: Double, t2: Double, t3: Double)
        /// The rooms near a point, nearest first.
        case nearby(re: Int64, rooms: [RoomSummary])
        /// The changes near a point since the list that the client has.
        case nearbyDelta(sub: Int64, entered: [RoomSummary], changed: [RoomSummary], left: [RoomID])
        /// A room's counts: those of the last hour by the minute, and the sum of the present day.
        case statistics(re: Int64, room: RoomID, RoomCounts)
        /// The counts that have changed; all of them, if `isWhole`.
        case statisticsDelta(sub: Int64, RoomCounts, isWhole: Bool)
        /// A room's counts are watched no longer.
        case statisticsEnd(sub: Int64, code: ErrorName)
        /// What is played most across rooms.
        case trending(re: Int64, TopAnswer)
        /// What is played most now.
        case trendingDelta(sub: Int64, TopAnswer)
        /// The server is about to stop.
        case goaway(reason: String, reconnectInMs: Int)
        /// A heartbeat, with the position of each room that the connection is subscribed to.
        case beat(time: Timestamp, rooms: [RoomSeq])
    }
}

extension ServerMessage.Received {
    /// Reads one message.
    ///
    /// Fields that the protocol does not name are ignored, and `null` counts as absent. Events and error codes that
    /// only a later release knows are kept as unknown; a message of an unknown type is a violation of its own. The
    /// transport bounds the size of the message.
    package static func parse(_ text: Span<UInt8>) throws(ServerViolation) -> Self {
        let fields = try JSONFields(answer: text)
        guard let type = fields["type"]?.string else { throw .field("type", expected: "a string") }
        guard let kind = ServerMessage.Kind(rawValue: type) else { throw .unknownType(type) }
        do throws(FieldViolation) {
            return try Self.read(kind, fields, text)
        } catch {
            throw ServerViolation(error)
        }
    }

    /// Reads one message; see ``parse(_:)-(Span<UInt8>)``.
    package static func parse(_ text: [UInt8]) throws(ServerViolation) -> Self {
        try Self.parse(text.contiguous.span)
    }

    private static func read(
        _ kind: ServerMessage.Kind, _ fields: JSONFields, _ text: Span<UInt8>
    ) throws(FieldViolation) -> Self {
        switch kind {
        case .welcome: .welcome(try .init(fields))
        case .snapshot: .snapshot(try .init(fields))
        case .resumed: .resumed(try .init(fields))
        case .delta: try .delta(fields)
        case .presence: try .presence(fields)
        case .reaction: try .reaction(fields)
        case .signal: try .signal(fields, text)
        case .deck: .deck(room: try fields.roomID("room"), try ShownDeck(fields, as: "member"))
        case .ok: .ok(re: try fields.integerIfPresent("re"))
        case .ack: try .ack(fields)
        case .error: try .error(fields)
        case .ended: try .ended(fields)
        case .time: try .time(fields)
        case .nearby: try .nearby(fields)
        case .nearbyDelta: try .nearbyDelta(fields)
        case .statistics: try .statistics(fields)
        case .statisticsDelta: try .statisticsDelta(fields)
        case .statisticsEnd: try .statisticsEnd(fields)
        case .trending: .trending(re: try fields.integer("re"), try TopAnswer(fields))
        case .trendingDelta: .trendingDelta(sub: try fields.integer("sub"), try TopAnswer(fields))
        case .goaway: try .goaway(fields)
        case .beat: try .beat(fields)
        }
    }

    /// Writes the message as the server does; an event of an unknown type has only the fields that all events have.
    package func encoded() -> [UInt8] {
        switch self {
        case .welcome(let welcome):
            ServerMessage.welcome(
                sessionID: welcome.session, name: welcome.name, version: welcome.version, node: welcome.node,
                beatMs: welcome.beatMs, time: welcome.time)
        case .snapshot(let snapshot):
            ServerMessage.snapshot(
                re: snapshot.re, room: snapshot.state.id, epoch: snapshot.position.epoch, seq: snapshot.position.seq,
                keyed: snapshot.keyed, time: snapshot.time, state: StateJSON.encode(snapshot.state),
                you: snapshot.you.map(YouJSON.encode), presence: snapshot.presence,
                deck: snapshot.deck, collapsed: snapshot.collapsed)
        case .resumed(let resumed):
            ServerMessage.resumed(
                re: resumed.re, room: resumed.room, epoch: resumed.position.epoch, seq: resumed.position.seq,
                keyed: resumed.keyed, you: resumed.you.map(YouJSON.encode), presence: resumed.presence,
                deck: resumed.deck)
        case .delta(let room, let events): ServerMessage.delta(room: room, shown: events)
        case .presence(let room, let online, let change):
            ServerMessage.presence(room: room, online: online, change: change.map { ($0.on, $0.off) })
        case .reaction(let room, let member, let emoji):
            ServerMessage.reaction(room: room, from: member, emoji: emoji)
        case .signal(let room, let member, let data): ServerMessage.signal(room: room, from: member, data: data)
        case .deck(let room, let deck): ServerMessage.deck(room: room, deck)
        case .ok(let re): ServerMessage.ok(re: re)
        case .ack(let re, let seq, let keyed, let result):
            ServerMessage.ack(re: re, seq: seq, keyed: keyed, result: result)
        case .error(let re, let code, let message, let retryAfterMs, let reason):
            ServerMessage.error(re: re, code: code, message: message, retryAfterMs: retryAfterMs, reason: reason)
        case .ended(let room, let code): ServerMessage.ended(room: room, code: code)
        case .time(let re, let t1, let t2, let t3): ServerMessage.time(re: re, t1: t1, t2: t2, t3: t3)
        case .nearby(let re, let rooms): ServerMessage.nearby(re: re, rooms: rooms)
        case .nearbyDelta(let sub, let entered, let changed, let left):
            ServerMessage.nearbyDelta(sub: sub, entered: entered, changed: changed, left: left)
        case .statistics(let re, let room, let counts): ServerMessage.statistics(re: re, room: room, counts)
        case .statisticsDelta(let sub, let counts, let isWhole):
            ServerMessage.statisticsDelta(sub: sub, counts, isWhole: isWhole)
        case .statisticsEnd(let sub, let code): ServerMessage.statisticsEnd(sub: sub, code: code)
        case .trending(let re, let top): ServerMessage.trending(re: re, top)
        case .trendingDelta(let sub, let top): ServerMessage.trendingDelta(sub: sub, top)
        case .goaway(let reason, let delay): ServerMessage.goaway(reason: reason, reconnectInMs: delay)
        case .beat(let time, let rooms): ServerMessage.beat(time: time, rooms: rooms.map { ($0.room, $0.seq) })
        }
    }
}

extension ServerMessage {
    /// Writes a message of a kind with the members that `writeMembers` writes.
    static func message(
        _ kind: Kind, capacity: Int = 256, _ writeMembers: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: capacity)
        writer.beginObject()
        writer.member("type", choice: kind)
        writeMembers(&writer)
        writer.endObject()
        return writer.bytes
    }
}
