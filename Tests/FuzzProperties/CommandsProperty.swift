import FoundationEssentials
import RoomDomain
import RoomWire

/// Every command is answered or refused; the room stays whole, and its log and its stored form restore the same room.
///
/// An input consists of lines. The first byte of a line gives the sender and the time, the rest is the JSON of a
/// command.
enum CommandsProperty {
    static func check(_ input: [UInt8]) throws(BrokenProperty) -> Fuzzer.Verdict {
        var history = try History()
        var accepted = false
        // The whole room is checked after every command, so there are only a few commands.
        for line in input.split(separator: UInt8(ascii: "\n")).prefix(40) {
            guard let first = line.first, let command = Self.command(first, line.dropFirst()) else { continue }
            if try history.take(command, by: Self.actor(first), afterMs: Int64(first) * 100) { accepted = true }
        }
        try history.checkReplay()
        return accepted ? .accepted : .refused
    }

    /// Four people and, for a byte divisible by eight, the server.
    private static func actor(_ byte: UInt8) -> Actor {
        byte & 7 == 0 ? .server : .session(Self.session(byte & 3), name: "Person \(byte & 3)")
    }

    private static func session(_ number: UInt8) -> SessionID {
        SessionID(UUID(uuid: (1, 0, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, number)))
    }

    /// The command of a line; a line without JSON is `endMembership`, which has none.
    private static func command(_ first: UInt8, _ text: ArraySlice<UInt8>) -> RoomCommand? {
        if text.isEmpty { return .endMembership(session: self.session(first >> 3 & 3), reason: .expired) }
        guard let value = try? JSONValue(parsing: text) else { return nil }
        return try? CommandJSON.parse(value)
    }

    /// A room and the log from which it is folded.
    private struct History {
        private var log: [RecordedEvent] = []
        private var room: RoomState
        private var now = Timestamp(milliseconds: 1_800_000_000_000)

        /// A room whose owner is person 1.
        init() throws(BrokenProperty) {
            let id = RoomID(UUID(uuid: (2, 0, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 0)))
            self.room = RoomState(id: id)
            let founding = RoomFounding(
                id: id, code: .zero, name: "Kitchen", location: nil, visibility: .public, settings: SettingsUpdate(),
                founder: CommandsProperty.session(1), founderName: "Person 1")
            guard let events = try? RoomState.found(founding) else { throw BrokenProperty("a room cannot be made") }
            try self.record(events)
        }

        /// Decides and folds a command; returns whether it was accepted.
        mutating func take(_ command: RoomCommand, by actor: Actor, afterMs: Int64) throws(BrokenProperty) -> Bool {
            self.now.milliseconds += afterMs
            guard let events = try? self.room.decide(command, by: actor, at: self.now) else { return false }
            if let result = self.room.result(of: command, by: actor, causing: events) {
                let again = try? ResultJSON.decode(ResultJSON.encode(result))
                try require(again == result, "\(result) written and read: \(String(describing: again))")
            }
            try self.record(events)
            return true
        }

        private mutating func record(_ events: [RoomEvent]) throws(BrokenProperty) {
            for recorded in self.room.recorded(events, at: self.now) {
                self.room.evolve(recorded)
                try require(self.room.seq == recorded.seq, "\(recorded) is not the next after \(self.room.seq)")
                self.log.append(recorded)
            }
            let wrong = self.room.invariantViolations(atCommandBoundary: true)
            try require(wrong.isEmpty, "\(wrong) after \(events)")
        }

        /// Checks that the stored log and the stored state restore the room, and that clients can read both.
        func checkReplay() throws(BrokenProperty) {
            var copy = RoomState(id: self.room.id)
            for recorded in self.log {
                let again = try? EventJSON.decodeLog(
                    type: recorded.event.kind.rawValue, seq: recorded.seq, at: recorded.at.milliseconds,
                    payload: EventJSON.encodeLog(recorded.event))
                guard again == recorded else {
                    throw BrokenProperty("\(recorded) written and read: \(String(describing: again))")
                }
                copy.evolve(recorded)
            }
            try require(copy == self.room, "\(self.room), from its log: \(copy)")
            let stored = try? StoredStateJSON.decode(StoredStateJSON.encode(self.room))
            try require(stored == self.room, "\(self.room), stored: \(String(describing: stored))")
            for text in [StateJSON.encode(self.room), ServerMessage.delta(room: self.room.id, events: self.log)] {
                try require((try? JSONValue(parsing: text)) != nil, "no JSON: \(String(decoding: text, as: UTF8.self))")
            }
        }
    }
}
