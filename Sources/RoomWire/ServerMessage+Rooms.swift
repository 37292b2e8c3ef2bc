package import RoomDomain

/// Messages about a room's state and events.
extension ServerMessage {
    /// A whole room: the answer to `subscribe`, and the replacement for deltas that a slow client has not received.
    ///
    /// `state` and `you` are the results of ``StateJSON/encode(_:)`` and ``YouJSON/encode(_:_:)`` for the room at
    /// `seq`; `keyed` is the room's count of keyed commands, nil if it is not known; `collapsed` names the events whose
    /// deltas this snapshot replaces.
    package static func snapshot(
        re: Int64?, room: RoomID, epoch: String, seq: Int, keyed: Int?, time: Timestamp, state: [UInt8],
        you: [UInt8]?, presence: Presence, collapsed: ClosedRange<Int>? = nil
    ) -> [UInt8] {
        let parts = Self.snapshotParts(
            re: re, room: room, epoch: epoch, seq: seq, keyed: keyed, time: time, you: you, presence: presence,
            collapsed: collapsed)
        return parts.head + state + parts.tail
    }

    /// The bytes before and after `state` in ``snapshot(re:room:epoch:seq:keyed:time:state:you:presence:collapsed:)``.
    package static func snapshotParts(
        re: Int64?, room: RoomID, epoch: String, seq: Int, keyed: Int?, time: Timestamp, you: [UInt8]?,
        presence: Presence, collapsed: ClosedRange<Int>? = nil
    ) -> (head: [UInt8], tail: [UInt8]) {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        writer.member("type", choice: Kind.snapshot)
        writer.member("re", re)
        writer.member("room", room.uuid)
        writer.member("epoch", epoch)
        writer.member("seq", seq)
        writer.member("keyed", keyed)
        writer.member("time", time)
        writer.name("state")
        let head = writer.bytes
        writer.raw([])
        writer.member("you", raw: you)
        writer.member("presence", presence)
        if let collapsed {
            writer.name("collapsed")
            writer.beginObject()
            writer.member("from", collapsed.lowerBound)
            writer.member("seq", collapsed.upperBound)
            writer.endObject()
        }
        writer.endObject()
        return (head, Array(writer.bytes[head.count...]))
    }

    /// The answer to a `subscribe` whose position can be resumed; the deltas after that position follow.
    ///
    /// `seq` is the room's current position, which those deltas reach; `keyed` is the room's count of keyed commands,
    /// nil if it is not known.
    package static func resumed(
        re: Int64?, room: RoomID, epoch: String, seq: Int, keyed: Int?, you: [UInt8]?, presence: Presence
    ) -> [UInt8] {
        Self.message(.resumed) { writer in
            writer.member("re", re)
            writer.member("room", room.uuid)
            writer.member("epoch", epoch)
            writer.member("seq", seq)
            writer.member("keyed", keyed)
            writer.member("you", raw: you)
            writer.member("presence", presence)
        }
    }

    /// Events of a room.
    ///
    /// - Precondition: `events` is not empty, and its numbers ascend without a gap.
    package static func delta(room: RoomID, events: some BidirectionalCollection<RecordedEvent>) -> [UInt8] {
        guard let first = events.first, let last = events.last, last.seq - first.seq == events.count - 1 else {
            preconditionFailure("a delta of \(events.map(\.seq))")
        }
        return Self.delta(room: room, first.seq...last.seq) { writer in writer.member("events", events) }
    }

    /// The same message from events as a client has them.
    static func delta(room: RoomID, shown events: [ShownEvent]) -> [UInt8] {
        guard let first = events.first, let last = events.last, last.seq - first.seq == events.count - 1 else {
            preconditionFailure("a delta of \(events.map(\.seq))")
        }
        return Self.delta(room: room, first.seq...last.seq) { writer in writer.member("events", events) }
    }

    private static func delta(
        room: RoomID, _ seqs: ClosedRange<Int>, _ writeEvents: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        Self.message(.delta, capacity: 128 + seqs.count * 160) { writer in
            writer.member("room", room.uuid)
            writer.member("from", seqs.lowerBound)
            writer.member("seq", seqs.upperBound)
            writeEvents(&writer)
        }
    }

    /// The server ended a subscription.
    package static func ended(room: RoomID, code: ErrorCode) -> [UInt8] {
        Self.ended(room: room, code: ErrorName(code))
    }

    /// The same message with an error name that this release may not know.
    static func ended(room: RoomID, code: ErrorName) -> [UInt8] {
        Self.message(.ended) { writer in
            writer.member("room", room.uuid)
            writer.member("code", code.text)
        }
    }

    /// A heartbeat, with the position of each room that the connection is subscribed to.
    package static func beat(time: Timestamp, rooms: [(room: RoomID, seq: Int)]) -> [UInt8] {
        Self.message(.beat, capacity: 64 + rooms.count * 64) { writer in
            writer.member("time", time)
            writer.member("rooms", seqs: rooms)
        }
    }
}

// MARK: Reading

extension ServerMessage.Received {
    /// The answer to `subscribe`, and the replacement for deltas that a slow client has not received.
    package struct Snapshot: Sendable, Equatable {
        /// The `id` of the message that it answers; nil if it is not an answer.
        package var re: Int64?
        /// The position of the state.
        package var position: Position
        /// The room's count of keyed commands; nil if the server did not know it.
        package var keyed: Int?
        /// The server's clock.
        package var time: Timestamp
        /// The room.
        package var state: ShownState
        /// The client's membership; nil if its session is not a member.
        package var you: You?
        /// The online members.
        package var presence: Presence
        /// The numbers of the events whose deltas this snapshot replaces; nil if it replaces none.
        package var collapsed: ClosedRange<Int>?

        package init(
            re: Int64?, position: Position, keyed: Int?, time: Timestamp, state: ShownState, you: You?,
            presence: Presence, collapsed: ClosedRange<Int>? = nil
        ) {
            self.re = re
            self.position = position
            self.keyed = keyed
            self.time = time
            self.state = state
            self.you = you
            self.presence = presence
            self.collapsed = collapsed
        }

        init(_ fields: JSONFields) throws(FieldViolation) {
            self.init(
                re: try fields.integerIfPresent("re"), position: try Position(fields),
                keyed: try fields.countIfPresent("keyed"), time: try fields.instant("time"),
                state: try fields.object("state", ShownState.init), you: try fields.objectIfPresent("you", You.init),
                presence: try fields.object("presence", Presence.init), collapsed: try fields.collapsed())
            guard try fields.roomID("room") == state.id else { throw fields.violation("room", "the id in state") }
        }
    }

    /// The answer to a `subscribe` whose position can be resumed.
    package struct Resumed: Sendable, Equatable {
        /// The `id` of the message that it answers; nil if that had none.
        package var re: Int64?
        /// The room.
        package var room: RoomID
        /// The room's position, which the following deltas reach.
        package var position: Position
        /// The room's count of keyed commands; nil if the server did not know it.
        package var keyed: Int?
        /// The client's membership; nil if its session is not a member.
        package var you: You?
        /// The online members.
        package var presence: Presence

        package init(
            re: Int64?, room: RoomID, position: Position, keyed: Int?, you: You?, presence: Presence
        ) {
            self.re = re
            self.room = room
            self.position = position
            self.keyed = keyed
            self.you = you
            self.presence = presence
        }

        init(_ fields: JSONFields) throws(FieldViolation) {
            self.init(
                re: try fields.integerIfPresent("re"), room: try fields.roomID("room"), position: try Position(fields),
                keyed: try fields.countIfPresent("keyed"), you: try fields.objectIfPresent("you", You.init),
                presence: try fields.object("presence", Presence.init))
        }
    }

    /// The position of one room.
    package struct RoomSeq: Sendable, Hashable {
        /// The room.
        package var room: RoomID
        /// The number of its last event.
        package var seq: Int

        package init(room: RoomID, seq: Int) {
            self.room = room
            self.seq = seq
        }
    }

    static func delta(_ fields: JSONFields) throws(FieldViolation) -> Self {
        let (from, seq) = (try fields.count("from"), try fields.count("seq"))
        let events = try fields.elements("events", EventJSON.read)
        guard from > 0, from <= seq, events.first?.seq == from, events.last?.seq == seq,
            zip(events, events.dropFirst()).allSatisfy({ $1.seq == $0.seq &+ 1 })
        else { throw fields.violation("events", "numbered from \(from) to \(seq)") }
        return .delta(room: try fields.roomID("room"), events: events)
    }

    static func ended(_ fields: JSONFields) throws(FieldViolation) -> Self {
        .ended(room: try fields.roomID("room"), code: try ErrorName(fields))
    }

    static func beat(_ fields: JSONFields) throws(FieldViolation) -> Self {
        .beat(
            time: try fields.instant("time"),
            rooms: try fields.seqs("rooms").map { RoomSeq(room: $0.room, seq: $0.seq) })
    }
}

extension JSONFields {
    fileprivate func collapsed() throws(FieldViolation) -> ClosedRange<Int>? {
        try self.objectIfPresent("collapsed") { (fields) throws(FieldViolation) in
            let (from, seq) = (try fields.count("from"), try fields.count("seq"))
            guard from <= seq else { throw fields.violation("seq", "\(from) or more") }
            return from...seq
        }
    }
}
