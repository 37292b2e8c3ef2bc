package import RoomDomain

/// What the server says on a socket (protocol, section 3): each function gives the JSON of one text message.
///
/// An answer's `re` is the `id` of the message it answers; it is left out where that had none.
package enum ServerMessage {
    /// The first message on every socket: who the client is, and which server process (`node`) it speaks to.
    ///
    /// `beatMs` is the time between two beats.
    package static func welcome(
        sessionID: SessionID, name: String, version: String, node: String, beatMs: Int, time: Timestamp
    ) -> [UInt8] {
        Self.message("welcome") { writer in
            writer.name("session")
            writer.beginObject()
            writer.member("id", sessionID.uuid)
            writer.member("name", name)
            writer.endObject()
            writer.name("server")
            writer.beginObject()
            writer.member("version", version)
            writer.member("node", node)
            writer.endObject()
            writer.member("beatMs", beatMs)
            writer.member("time", time)
        }
    }

    /// A whole room: the answer to `subscribe`, and what a client gets in place of deltas that it was too slow for.
    ///
    /// `state` and `you` are what ``StateJSON/encode(_:)`` and ``YouJSON/encode(_:_:)`` gave for the room at `seq`;
    /// `collapsed` names the events whose deltas this snapshot stands for.
    package static func snapshot(
        re: Int64?, room: RoomID, epoch: String, seq: Int, time: Timestamp, state: [UInt8], you: [UInt8]?,
        presence: Presence, collapsed: ClosedRange<Int>? = nil
    ) -> [UInt8] {
        let parts = Self.snapshotParts(
            re: re, room: room, epoch: epoch, seq: seq, time: time, you: you, presence: presence, collapsed: collapsed)
        return parts.head + state + parts.tail
    }

    /// What stands before and behind `state` in ``snapshot(re:room:epoch:seq:time:state:you:presence:collapsed:)``.
    package static func snapshotParts(
        re: Int64?, room: RoomID, epoch: String, seq: Int, time: Timestamp, you: [UInt8]?, presence: Presence,
        collapsed: ClosedRange<Int>? = nil
    ) -> (head: [UInt8], tail: [UInt8]) {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        writer.member("type", "snapshot")
        writer.member("re", re)
        writer.member("room", room.uuid)
        writer.member("epoch", epoch)
        writer.member("seq", seq)
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
    /// `seq` is the room's current position, the last that those deltas reach.
    package static func resumed(
        re: Int64?, room: RoomID, epoch: String, seq: Int, you: [UInt8]?, presence: Presence
    ) -> [UInt8] {
        Self.message("resumed") { writer in
            writer.member("re", re)
            writer.member("room", room.uuid)
            writer.member("epoch", epoch)
            writer.member("seq", seq)
            writer.member("you", raw: you)
            writer.member("presence", presence)
        }
    }

    /// Events that happened in a room.
    ///
    /// - Precondition: `events` is not empty, and its numbers ascend without a hole.
    package static func delta(room: RoomID, events: some BidirectionalCollection<RecordedEvent>) -> [UInt8] {
        guard let first = events.first, let last = events.last, last.seq - first.seq == events.count - 1 else {
            preconditionFailure("a delta of \(events.map(\.seq))")
        }
        return Self.message("delta", capacity: 128 + events.count * 160) { writer in
            writer.member("room", room.uuid)
            writer.member("from", first.seq)
            writer.member("seq", last.seq)
            writer.member("events", events)
        }
    }

    /// Who is online has changed.
    ///
    /// `change` names who came and who went, ascending; nil in a room where too many are online to be listed.
    package static func presence(
        room: RoomID, online: Int, change: (on: [MemberID], off: [MemberID])?
    ) -> [UInt8] {
        let named = (change?.on.count ?? 0) + (change?.off.count ?? 0)
        return Self.message("presence", capacity: 128 + named * 6) { writer in
            writer.member("room", room.uuid)
            writer.member("online", online)
            guard let change else { return }
            writer.member("on", ids: change.on)
            writer.member("off", ids: change.off)
        }
    }

    /// A member shows everybody one grapheme.
    package static func reaction(room: RoomID, from member: MemberID, emoji: String) -> [UInt8] {
        Self.message("reaction") { writer in
            writer.member("room", room.uuid)
            writer.member("from", id: member)
            writer.member("emoji", emoji)
        }
    }

    /// A member says something to the one who gets this.
    package static func signal(room: RoomID, from member: MemberID, data: RelayedJSON) -> [UInt8] {
        Self.message("signal", capacity: 128 + data.text.count) { writer in
            writer.member("room", room.uuid)
            writer.member("from", id: member)
            writer.member("data", raw: data.text)
        }
    }

    /// The answer to `unsubscribe`, and to `react` and `signal` that have an `id`.
    package static func ok(re: Int64?) -> [UInt8] {
        Self.message("ok") { writer in writer.member("re", re) }
    }

    /// A command was carried out, and what it caused is durable.
    ///
    /// `seq` is that of the last event the command caused; the room's current one where it changed nothing.
    package static func ack(re: Int64?, seq: Int, result: CommandResult?) -> [UInt8] {
        Self.message("ack") { writer in
            writer.member("re", re)
            writer.member("seq", seq)
            writer.member("result", raw: result.map(ResultJSON.encode))
        }
    }

    /// A message was refused; `retryAfterMs` says when trying again may help.
    package static func error(re: Int64?, code: ErrorCode, message: String, retryAfterMs: Int? = nil) -> [UInt8] {
        Self.message("error") { writer in
            writer.member("re", re)
            writer.member("code", choice: code)
            writer.member("message", message)
            writer.member("retryAfterMs", retryAfterMs)
        }
    }

    /// A message could not be read.
    package static func error(_ violation: MessageViolation) -> [UInt8] {
        Self.error(re: violation.re, code: violation.code, message: violation.message)
    }

    /// The server ended a subscription.
    package static func ended(room: RoomID, code: ErrorCode) -> [UInt8] {
        Self.message("ended") { writer in
            writer.member("room", room.uuid)
            writer.member("code", choice: code)
        }
    }

    /// One exchange of clocks, in fractional milliseconds since the Unix epoch.
    ///
    /// `t1` is what the client sent, `t2` when that arrived, `t3` when this answer leaves.
    package static func time(re: Int64?, t1: Double, t2: Double, t3: Double) -> [UInt8] {
        Self.message("time") { writer in
            writer.member("re", re)
            writer.member("t1", t1)
            writer.member("t2", t2)
            writer.member("t3", t3)
        }
    }

    /// The rooms near a point, nearest first: the answer to `nearby`.
    package static func nearby(re: Int64, rooms: [RoomSummary]) -> [UInt8] {
        Self.message("nearby", capacity: 64 + rooms.count * 256) { writer in
            writer.member("re", re)
            writer.member("rooms", rooms)
        }
    }

    /// What has changed near a point since the list that the client has.
    ///
    /// `sub` is the `id` of the message with which it asked for the list.
    package static func nearbyDelta(
        sub: Int64, entered: [RoomSummary], changed: [RoomSummary], left: [RoomID]
    ) -> [UInt8] {
        Self.message("nearbyDelta", capacity: 96 + (entered.count + changed.count) * 256 + left.count * 40) { writer in
            writer.member("sub", sub)
            writer.member("entered", entered)
            writer.member("changed", changed)
            writer.name("left")
            writer.beginArray()
            for room in left { writer.uuid(room.uuid) }
            writer.endArray()
        }
    }

    /// The server is about to stop: connect again after `reconnectInMs`.
    package static func goaway(reason: String, reconnectInMs: Int) -> [UInt8] {
        Self.message("goaway") { writer in
            writer.member("reason", reason)
            writer.member("reconnectInMs", reconnectInMs)
        }
    }

    /// A sign of life, with the position of each room that the connection is subscribed to.
    package static func beat(time: Timestamp, rooms: [(room: RoomID, seq: Int)]) -> [UInt8] {
        Self.message("beat", capacity: 64 + rooms.count * 64) { writer in
            writer.member("time", time)
            writer.name("rooms")
            writer.beginObject()
            for (room, seq) in rooms {
                writer.name(room.uuid)
                writer.integer(seq)
            }
            writer.endObject()
        }
    }

    private static func message(
        _ type: String, capacity: Int = 256, _ writeMembers: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: capacity)
        writer.beginObject()
        writer.member("type", type)
        writeMembers(&writer)
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    /// Events as clients see them.
    mutating func member(_ name: StaticString, _ events: some Sequence<RecordedEvent>) {
        self.name(name)
        self.beginArray()
        for event in events { EventJSON.write(event, for: .clients, to: &self) }
        self.endArray()
    }
}
