package import RoomDomain

/// A room and what happens in it.
extension ServerMessage {
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

    /// The server ended a subscription.
    package static func ended(room: RoomID, code: ErrorCode) -> [UInt8] {
        Self.message("ended") { writer in
            writer.member("room", room.uuid)
            writer.member("code", choice: code)
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
