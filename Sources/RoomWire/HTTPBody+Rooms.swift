import ByteText
package import RoomDomain

/// Bodies with a room, a part of its log, or a part of its pool.
extension HTTPBody {
    /// Writes `{"room":Snapshot,"you":You?}`.
    ///
    /// `state` and `you` are the results of ``StateJSON/encode(_:)`` and ``YouJSON/encode(_:_:)`` for the room at
    /// `seq`; `keyed`, the room's count of keyed commands, and `presence` are nil if that is not the room's current
    /// position.
    package static func room(
        epoch: String, seq: Int, keyed: Int?, time: Timestamp, state: [UInt8], presence: Presence?, you: [UInt8]?
    ) -> [UInt8] {
        let parts = Self.roomParts(epoch: epoch, seq: seq, keyed: keyed, time: time, presence: presence, you: you)
        return parts.head + state + parts.tail
    }

    /// The bytes before and after `state` in ``room(epoch:seq:keyed:time:state:presence:you:)``.
    package static func roomParts(
        epoch: String, seq: Int, keyed: Int?, time: Timestamp, presence: Presence?, you: [UInt8]?
    ) -> (head: [UInt8], tail: [UInt8]) {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        writer.name("room")
        writer.beginObject()
        writer.member("epoch", epoch)
        writer.member("seq", seq)
        writer.member("keyed", keyed)
        writer.member("time", time)
        writer.name("state")
        let head = writer.bytes
        writer.raw([])
        writer.member("presence", presence)
        writer.endObject()
        writer.member("you", raw: you)
        writer.endObject()
        return (head, Array(writer.bytes[head.count...]))
    }

    /// Writes `{"epoch","events":[Event],"seq"}`: a part of a room's log, perhaps empty, and the room's current
    /// position.
    package static func events(epoch: String, events: some Collection<RecordedEvent>, seq: Int) -> [UInt8] {
        Self.object(capacity: 128 + events.count * 160) { writer in
            writer.member("epoch", epoch)
            writer.member("events", events)
            writer.member("seq", seq)
        }
    }

    /// Writes the same body with as many events as fit into `bytes` bytes, but at least one if there are any.
    package static func events(
        epoch: String, events: some Collection<RecordedEvent>, seq: Int, atMost bytes: Int
    ) -> [UInt8] {
        // The size of everything around the events: names, the epoch, numbers.
        var size = 128 + epoch.utf8.count
        var fitting: [[UInt8]] = []
        for event in events {
            var writer = JSONWriter()
            EventJSON.write(event, for: .clients, to: &writer)
            size += writer.bytes.count + 1
            guard fitting.isEmpty || size <= bytes else { break }
            fitting.append(writer.bytes)
        }
        return Self.object(capacity: size) { writer in
            writer.member("epoch", epoch)
            writer.name("events")
            writer.beginArray()
            for event in fitting { writer.raw(event) }
            writer.endArray()
            writer.member("seq", seq)
        }
    }

    /// Writes `{"epoch","seq","tracks":[Track],"next"?}`: a part of a room's pool; `next` is nil on the last page.
    package static func pool(_ page: PoolPage, at position: Position) -> [UInt8] {
        PoolAnswer(position: position, tracks: page.tracks, next: page.next?.cursor).encoded()
    }
}

// MARK: Reading

extension HTTPBody {
    /// The answer to a request for a room.
    package struct RoomAnswer: Sendable, Equatable {
        /// The position of the state.
        package var position: Position
        /// The room's count of keyed commands; nil if the server did not know it, or the position is not the current
        /// one.
        package var keyed: Int?
        /// The server's clock.
        package var time: Timestamp
        /// The room.
        package var state: ShownState
        /// Online members; nil if the position is not the room's current one.
        package var presence: Presence?
        /// The client's membership; nil if its session is not a member.
        package var you: You?

        package init(
            position: Position, keyed: Int?, time: Timestamp, state: ShownState, presence: Presence?, you: You?
        ) {
            self.position = position
            self.keyed = keyed
            self.time = time
            self.state = state
            self.presence = presence
            self.you = you
        }

        /// Reads the body.
        package static func parse(_ text: [UInt8]) throws(ServerViolation) -> Self {
            try JSONFields.answer(text.contiguous.span) { (fields) throws(FieldViolation) in
                let you = try fields.objectIfPresent("you", You.init)
                return try fields.object("room") { (fields) throws(FieldViolation) in
                    Self(
                        position: try Position(fields), keyed: try fields.countIfPresent("keyed"),
                        time: try fields.instant("time"),
                        state: try fields.object("state", ShownState.init),
                        presence: try fields.objectIfPresent("presence", Presence.init), you: you)
                }
            }
        }

        /// Writes the body.
        package func encoded() -> [UInt8] {
            HTTPBody.room(
                epoch: position.epoch, seq: position.seq, keyed: keyed, time: time, state: StateJSON.encode(state),
                presence: presence, you: you.map(YouJSON.encode))
        }
    }

    /// The answer to a request for a part of a room's log.
    package struct EventsAnswer: Sendable, Equatable {
        /// The room's epoch and current position; more events follow if the last one here has a smaller number.
        package var position: Position
        /// The events, ascending by number; may be empty.
        package var events: [ShownEvent]

        package init(position: Position, events: [ShownEvent]) {
            self.position = position
            self.events = events
        }

        /// Reads the body.
        package static func parse(_ text: [UInt8]) throws(ServerViolation) -> Self {
            try JSONFields.answer(text.contiguous.span) { (fields) throws(FieldViolation) in
                Self(position: try Position(fields), events: try fields.elements("events", EventJSON.read))
            }
        }

        /// Writes the body; an event of an unknown type has only the fields that all events have.
        package func encoded() -> [UInt8] {
            HTTPBody.object(capacity: 128 + events.count * 160) { writer in
                writer.member("epoch", position.epoch)
                writer.member("events", events)
                writer.member("seq", position.seq)
            }
        }
    }

    /// The answer to a request for a part of a room's pool.
    package struct PoolAnswer: Sendable, Equatable {
        /// The position of the pool.
        package var position: Position
        /// The tracks, in the requested order.
        package var tracks: [Track]
        /// The cursor of the next page; nil on the last page.
        package var next: String?

        package init(position: Position, tracks: [Track], next: String? = nil) {
            self.position = position
            self.tracks = tracks
            self.next = next
        }

        /// Reads the body.
        package static func parse(_ text: [UInt8]) throws(ServerViolation) -> Self {
            try JSONFields.answer(text.contiguous.span) { (fields) throws(FieldViolation) in
                Self(
                    position: try Position(fields), tracks: try fields.elements("tracks", Track.init),
                    next: try fields.stringIfPresent("next"))
            }
        }

        /// Writes the body.
        package func encoded() -> [UInt8] {
            HTTPBody.object(capacity: 128 + tracks.count * 192) { writer in
                writer.members(of: position)
                writer.member("tracks", tracks)
                writer.member("next", next)
            }
        }
    }
}
