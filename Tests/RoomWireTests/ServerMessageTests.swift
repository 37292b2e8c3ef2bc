import RandomTestSupport
import RoomDomain
import RoomWire
import Testing

/// A client's reading of a server's messages, including those of other releases.
@Suite struct ServerMessageTests {
    private func read(_ text: String) throws(ServerViolation) -> ServerMessage.Received {
        try ServerMessage.Received.parse(Array(text.utf8))
    }

    private func golden() throws -> [(name: String, text: [UInt8])] {
        try Fixture.names().filter { $0.hasPrefix("server-") }.sorted().map { ($0, try Fixture.bytes($0)) }
    }

    private static let room = #""room":"0193503f-1234-7abc-8def-0123456789ab""#

    @Test func `every message of the protocol is read and written again byte for byte`() throws {
        var kinds: Set<String> = []
        for (name, text) in try golden() {
            #expect(try ServerMessage.Received.parse(text).encoded() == text, "\(name)")
            #expect(try ServerMessage.Received.parse(text.span).encoded() == text, "\(name)")
            kinds.insert(try #require(JSONValue(parsing: text).object?["type"]?.string))
        }
        #expect(kinds == Set(ServerMessage.Kind.allCases.map(\.rawValue)))
    }

    @Test func `every body of an HTTP answer is read and written again byte for byte`() throws {
        for name in try Fixture.names().filter({ $0.hasPrefix("http-") }) {
            let text = try Fixture.bytes(name)
            let again: [UInt8]? =
                switch name.split(separator: "-")[1] {
                case "room": try HTTPBody.RoomAnswer.parse(text).encoded()
                case "events": try HTTPBody.EventsAnswer.parse(text).encoded()
                case "pool": try HTTPBody.PoolAnswer.parse(text).encoded()
                case "command": try HTTPBody.CommandAnswer.parse(text).encoded()
                case "rooms": try HTTPBody.RoomsAnswer.parse(text).encoded()
                case "session": try HTTPBody.SessionAnswer.parse(text).encoded()
                case "problem": try HTTPBody.Problem.parse(text).encoded()
                default: nil
                }
            #expect(again == text, "\(name)")
        }
    }

    @Test func `events are read as clients are shown them`() throws {
        for (name, event) in Sample.events {
            let shown = try EventJSON.decodeShown(Fixture.bytes("event-" + name))
            #expect(shown == .known(Sample.recorded(event.withoutSessions)), "\(name)")
            #expect(shown.seq == 8)
            #expect(shown.at == Sample.time(8))
        }
    }

    @Test func `the states of the protocol are read`() throws {
        #expect(try StateJSON.decode(Fixture.bytes("state")) == ShownState(of: Sample.state))
        #expect(try StateJSON.decode(Fixture.bytes("state-closed")) == ShownState(of: Sample.closed))
        #expect(try YouJSON.decode(Fixture.bytes("you")) == You(of: Sample.state, for: Sample.session(2)))
    }

    // MARK: Later releases

    @Test func `fields that are not known make no difference`() throws {
        for (name, text) in try golden() {
            let later = Self.withMore(try JSONValue(parsing: text)).text
            #expect(later.count > text.count)
            #expect(try ServerMessage.Received.parse(later) == ServerMessage.Received.parse(text), "\(name)")
        }
    }

    /// The same value with an additional member in every object whose names the protocol defines.
    private static func withMore(_ value: JSONValue, name: String = "") -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map { withMore($0) })
        case .object(var object):
            // Members' own data may have any names, and the names in a heartbeat's `rooms` are room ids.
            if name == "data" || name == "rooms" { return value }
            object.members = object.members.map { .init(name: $0.name, value: withMore($0.value, name: $0.name)) }
            object.members.append(.init(name: "later", value: .array([.object(JSONObject())])))
            return .object(object)
        case .null, .bool, .integer, .number, .string: return value
        }
    }

    @Test func `an unknown event counts, and the events around it are read`() throws {
        let text = """
            {"type":"delta",\(Self.room),"from":3,"seq":4,"events":[\
            {"seq":3,"at":1,"type":"later","what":[1]},{"seq":4,"at":2,"type":"votesCleared","track":7}]}
            """
        let events: [ShownEvent] = [
            .unknown(type: "later", seq: 3, at: Timestamp(milliseconds: 1)),
            .known(
                RecordedEvent(seq: 4, at: Timestamp(milliseconds: 2), event: .votesCleared(track: Sample.track(7)))),
        ]
        #expect(try read(text) == .delta(room: Sample.room, events: events))
    }

    @Test func `an error that is not known keeps its name`() throws {
        let message = try read(#"{"type":"error","re":3,"code":"later","message":"no"}"#)
        guard case .error(3, let code, "no", nil, nil) = message else {
            Issue.record("\(message)")
            return
        }
        #expect(code.text == "later")
        #expect(code.code == nil)
    }

    @Test func `an unknown result is ignored`() throws {
        let ack = try read(#"{"type":"ack","re":3,"seq":4,"result":{"later":1}}"#)
        #expect(ack == .ack(re: 3, seq: 4, keyed: nil, result: nil))
    }

    // MARK: What is wrong

    @Test func `a text that is not a message is refused`() {
        let wrong: [(String, ServerViolation)] = [
            ("", .notJSON(.unexpectedEnd)), ("[]", .notAnObject), ("{}", .field("type", expected: "a string")),
            (#"{"type":1}"#, .field("type", expected: "a string")), (#"{"type":"later"}"#, .unknownType("later")),
            (#"{"type":"ok","re":"1"}"#, .field("re", expected: "an integer")),
        ]
        for (text, violation) in wrong {
            #expect(throws: violation, "\(text)") { try self.read(text) }
        }
        #expect("\(ServerViolation.field("re", expected: "an integer"))" == "re must be an integer")
        #expect("\(ServerViolation.unknownType("later"))" == "no message type is called later")
    }

    @Test func `a violation names the field with its path`() throws {
        let text = try Fixture.bytes("server-nearby")
        let wrong = String(decoding: text, as: UTF8.self).replacing(#""lat":41.38"#, with: #""lat":91"#)
        #expect(throws: ServerViolation.field("rooms[0].location.lat", expected: "-90 to 90")) {
            try self.read(wrong)
        }
        let snapshot = String(decoding: try Fixture.bytes("server-snapshot"), as: UTF8.self)
        let nobody = snapshot.replacing(#""role":"owner""#, with: #""role":7"#)
        #expect(throws: ServerViolation.field("state.members[0].role", expected: "one of owner, dj, guest")) {
            try self.read(nobody)
        }
        let late = snapshot.replacing(#""state":{"#, with: #""state":[],"old":{"#)
        #expect(throws: ServerViolation.field("state", expected: "an object")) { try self.read(late) }
    }

    @Test func `a delta with a hole is refused`() {
        func delta(_ from: Int, _ seq: Int, _ seqs: [Int]) -> String {
            let events = seqs.map { #"{"seq":\#($0),"at":1,"type":"roomClosed"}"# }.joined(separator: ",")
            return #"{"type":"delta",\#(Self.room),"from":\#(from),"seq":\#(seq),"events":[\#(events)]}"#
        }
        #expect(throws: Never.self) { try self.read(delta(3, 4, [3, 4])) }
        for (from, seq, seqs) in [
            (3, 4, [3]), (3, 4, [4]), (3, 4, []), (3, 5, [3, 5]), (3, 4, [3, 4, 5]), (4, 3, [4, 3]), (0, 1, [0, 1]),
            (Int.max, Int.min, [Int.max, Int.min]),
        ] {
            #expect(throws: ServerViolation.field("events", expected: "numbered from \(from) to \(seq)")) {
                try self.read(delta(from, seq, seqs))
            }
        }
    }

    @Test func `every field of every message is checked`() throws {
        for (name, text) in try golden() {
            let object = try #require(JSONValue(parsing: text).object)
            // Members' own data is not examined.
            for member in object.members where member.name != "data" {
                var changed = object
                changed.members.removeAll { $0.name == member.name }
                let wrong = member.value.bool == nil ? JSONValue.bool(true) : .string("true")
                changed.members.append(.init(name: member.name, value: wrong))
                #expect(throws: ServerViolation.self, "\(name) \(member.name)") {
                    try ServerMessage.Received.parse(JSONValue.object(changed).text)
                }
            }
        }
    }

    @Test func `a changed message is read or refused, and what was read can be written`() throws {
        var random = SeededRandom.fresh()
        let texts = try golden().map(\.text)
        for _ in 0..<2_000 {
            var changed = random.pick(texts, or: [])
            let place = Int.random(in: 0..<changed.count, using: &random)
            changed[place] = random.once(in: 2) ? UInt8(ascii: "9") : UInt8.random(in: 32...126, using: &random)
            guard let message = try? ServerMessage.Received.parse(changed) else { continue }
            #expect(try ServerMessage.Received.parse(message.encoded()) == message)
        }
    }
}
