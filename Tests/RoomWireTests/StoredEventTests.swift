import RandomTestSupport
import RoomDomain
import RoomWire
import Testing

/// Stored data that this program did not write.
@Suite struct StoredEventTests {
    private func decode(_ type: String, _ payload: String) throws(StoredEventFault) -> RecordedEvent {
        try EventJSON.decodeLog(type: type, seq: 8, at: 1, payload: Array(payload.utf8))
    }

    @Test func `an unknown type is a fault`() {
        for type in ["", "voteSkipped", "VoteCast", "skipVote"] {
            #expect(throws: StoredEventFault.unknownType(type)) { try self.decode(type, "{}") }
        }
    }

    @Test func `a payload that is not an object is a fault`() {
        #expect(throws: StoredEventFault.notJSON(.unexpectedEnd)) { try self.decode("roomClosed", "") }
        #expect(throws: StoredEventFault.notJSON(.unexpectedByte(offset: 1))) { try self.decode("roomClosed", "{x}") }
        #expect(throws: StoredEventFault.field("the text must be an object")) { try self.decode("roomClosed", "[]") }
    }

    @Test func `unknown fields and null are no fault`() throws {
        let event = try self.decode("entryRemoved", #"{"entry":3,"by":null,"later":{"x":[1]}}"#)
        #expect(event.event == .entryRemoved(entry: Sample.entry(3), by: nil))
        #expect(try self.decode("roomClosed", #"{"until":1}"#).event == .roomClosed)
    }

    @Test func `events from before actors, reasons and ends of bans existed are read unchanged`() throws {
        let session = #""session":"0193503f-0000-7000-8000-000000000003""#
        let kept: [(String, String, RoomEvent)] = [
            ("roomClosed", "{}", .roomClosed), ("roomClosed", #"{"forget":true}"#, .roomClosed(forget: true)),
            (
                "roleChanged", #"{"member":2,"role":"dj"}"#,
                .roleChanged(member: Sample.member(2), role: .dj, by: nil, note: nil)
            ),
            (
                "memberBanned", #"{"member":3,"by":1,\#(session)}"#,
                .memberBanned(
                    member: Sample.member(3), by: Sample.member(1), session: Sample.session(3), until: nil, note: nil)
            ),
            (
                "memberUnbanned", #"{"member":3,"by":1}"#,
                .memberUnbanned(member: Sample.member(3), by: Sample.member(1), note: nil)
            ),
            ("playbackStopped", "{}", .playbackStopped(by: nil)),
            (
                "entryFinished", #"{"entry":1,"track":2,"reason":"skipped","startedAt":3,"playedMs":4}"#,
                .entryFinished(
                    entry: Sample.entry(1), track: Sample.track(2), reason: .skipped,
                    startedAt: Timestamp(milliseconds: 3), playedMs: 4)
            ),
        ]
        for (type, payload, event) in kept {
            #expect(try self.decode(type, payload).event == event)
            #expect(EventJSON.encodeLog(event) == Array(payload.utf8))
        }
    }

    @Test func `unknown settings of a later release are ignored`() throws {
        let settings = #"{"queueMode":"dj","skipRatio":0.5,"maxWaitingPerMember":0,"repeatAfterPlays":0,"later":1}"#
        var changes = RoomChanges()
        changes.settings = RoomSettings()
        #expect(try self.decode("roomUpdated", #"{"settings":\#(settings)}"#).event == .roomUpdated(changes))
    }

    @Test func `the fault names the event and the field`() {
        #expect(throws: StoredEventFault.field("voteCast 8: votes must be an integer")) {
            try self.decode("voteCast", #"{"track":1,"by":1,"votes":"1","requestedSeq":8}"#)
        }
    }

    @Test func `every field of every event is checked`() throws {
        for (name, event) in Sample.events {
            let type = event.kind.rawValue
            let value = try JSONValue(parsing: Fixture.bytes("log-" + name))
            for member in try #require(value.object).members {
                var changed = try #require(value.object)
                changed.members.removeAll { $0.name == member.name }
                // `true` is wrong for every field except three.
                let wrong = ["locationCleared", "forget", "missing"].contains(member.name) ? "1" : "true"
                changed.members.append(.init(name: member.name, value: try JSONValue(parsing: Array(wrong.utf8))))
                #expect(throws: StoredEventFault.self, "\(name) \(member.name)") {
                    try EventJSON.decodeLog(type: type, seq: 8, at: 1, payload: JSONValue.object(changed).text)
                }
            }
        }
    }

    @Test func `a stored room with anything missing is a fault and never a trap`() throws {
        let value = try JSONValue(parsing: Fixture.bytes("stored-state"))
        let object = try #require(value.object)
        let optional: Set = ["closedAt", "location", "onAir"]
        for member in object.members {
            var without = object
            without.members.removeAll { $0.name == member.name }
            if optional.contains(member.name) {
                _ = try StoredStateJSON.decode(JSONValue.object(without).text)
            } else {
                #expect(throws: StoredEventFault.self, "\(member.name)") {
                    try StoredStateJSON.decode(JSONValue.object(without).text)
                }
            }
            without.members.append(.init(name: member.name, value: .bool(true)))
            #expect(throws: StoredEventFault.self, "\(member.name)") {
                try StoredStateJSON.decode(JSONValue.object(without).text)
            }
        }
    }

    @Test func `a track that stands twice in a stored pool is a fault`() throws {
        let text = String(decoding: try Fixture.bytes("stored-state"), as: UTF8.self)
        let twice = text.replacing(#"{"track":3,"#, with: #"{"track":1,"#, maxReplacements: 1)
        #expect(throws: StoredEventFault.field("tracks[1].track must be listed only once")) {
            try StoredStateJSON.decode(Array(twice.utf8))
        }
    }

    @Test func `a changed stored room is read or refused and never traps`() throws {
        var random = SeededRandom(seed: TestSeed.fixed(15))
        let text = try Fixture.bytes("stored-state")
        for _ in 0..<3_000 {
            var changed = text
            let place = Int.random(in: 0..<changed.count, using: &random)
            changed[place] = random.once(in: 2) ? UInt8(ascii: "9") : UInt8.random(in: 32...126, using: &random)
            guard var room = try? StoredStateJSON.decode(changed) else { continue }
            for (_, event) in Sample.events { room.evolve(Sample.recorded(event, seq: room.seq &+ 1)) }
            _ = StateJSON.encode(room)
        }
    }
}
