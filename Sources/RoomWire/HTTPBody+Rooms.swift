package import RoomDomain

/// A room, its log and its pool.
extension HTTPBody {
    /// `{"room":Snapshot,"you":You?}`.
    ///
    /// `state` and `you` are what ``StateJSON/encode(_:)`` and ``YouJSON/encode(_:_:)`` gave for the room at `seq`;
    /// `presence` is nil where that is not the room's current position.
    package static func room(
        epoch: String, seq: Int, time: Timestamp, state: [UInt8], presence: Presence?, you: [UInt8]?
    ) -> [UInt8] {
        let parts = Self.roomParts(epoch: epoch, seq: seq, time: time, presence: presence, you: you)
        return parts.head + state + parts.tail
    }

    /// What stands before and behind `state` in ``room(epoch:seq:time:state:presence:you:)``.
    package static func roomParts(
        epoch: String, seq: Int, time: Timestamp, presence: Presence?, you: [UInt8]?
    ) -> (head: [UInt8], tail: [UInt8]) {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        writer.name("room")
        writer.beginObject()
        writer.member("epoch", epoch)
        writer.member("seq", seq)
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

    /// `{"epoch","events":[Event],"seq"}`: part of a room's log, which may be empty, and the room's current position.
    package static func events(epoch: String, events: some Collection<RecordedEvent>, seq: Int) -> [UInt8] {
        Self.object(capacity: 128 + events.count * 160) { writer in
            writer.member("epoch", epoch)
            writer.member("events", events)
            writer.member("seq", seq)
        }
    }

    /// The same with as many of the events as fit into so many bytes, and one where there is any.
    package static func events(
        epoch: String, events: some Collection<RecordedEvent>, seq: Int, atMost bytes: Int
    ) -> [UInt8] {
        // What stands around the events: names, the epoch, numbers.
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

    /// `{"epoch","seq","tracks":[Track],"next"?}`: part of a room's pool; `next` is nil on the last page.
    package static func pool(_ page: PoolPage, at position: Position) -> [UInt8] {
        Self.object(capacity: 128 + page.tracks.count * 192) { writer in
            writer.member("epoch", position.epoch)
            writer.member("seq", position.seq)
            writer.name("tracks")
            writer.beginArray()
            for track in page.tracks {
                writer.beginObject()
                writer.members(of: track)
                writer.endObject()
            }
            writer.endArray()
            writer.member("next", page.next?.cursor)
        }
    }
}
