import RoomDomain
import RoomWire
import Testing

/// Faults in clients' messages, and the answers to them.
@Suite struct ClientMessageTests {
    private static let room = "0193503f-1234-7abc-8def-0123456789ab"

    private func violation(_ text: String) -> MessageViolation? {
        do throws(MessageViolation) {
            _ = try ClientMessage.parse(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    private func expectViolation(
        _ text: String, re: Int64?, _ message: String, code: ErrorCode = .badRequest,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            self.violation(text) == MessageViolation(re: re, code: code, message: message), "\(text.prefix(200))",
            sourceLocation: sourceLocation)
    }

    @Test func `what is not a JSON object with a type is refused without re`() {
        self.expectViolation("", re: nil, "not JSON: the text ends too early")
        self.expectViolation(#"{"id":1,"#, re: nil, "not JSON: the text ends too early")
        self.expectViolation(#"{"id":1,}"#, re: nil, "not JSON: unexpected byte at offset 8")
        self.expectViolation("[1]", re: nil, "not a JSON object")
        self.expectViolation(#""time""#, re: nil, "not a JSON object")
        self.expectViolation(#"{"id":1}"#, re: nil, "type must be a string")
        self.expectViolation(#"{"id":1,"type":null}"#, re: nil, "type must be a string")
        self.expectViolation(#"{"id":1,"type":7}"#, re: nil, "type must be a string")
    }

    @Test func `deep nesting is refused`() {
        let deep = #"{"type":"time","id":1,"t1":1,"x":"# + String(repeating: "[", count: 100_000)
        self.expectViolation(deep, re: nil, "not JSON: nested deeper than 32 levels")
        let closed = deep + String(repeating: "]", count: 100_000) + "}"
        self.expectViolation(closed, re: nil, "not JSON: nested deeper than 32 levels")
    }

    @Test func `unknown types are refused, known fields or not`() {
        for type in ["", "Subscribe", "reaction", "Signal", "Nearby", "nearbyDelta", "welcome", "command "] {
            self.expectViolation(
                #"{"type":"\#(type)","id":4,"room":"\#(Self.room)"}"#, re: 4, "type is not one this server knows")
        }
    }

    @Test func `an id is any integer or absent`() throws {
        for (text, id) in [("1", 1), ("0", 0), ("-9223372036854775808", Int64.min), ("1.0", 1), ("null", nil)] {
            let message = try ClientMessage.parse(Array(#"{"type":"time","id":\#(text),"t1":0}"#.utf8))
            #expect(message == .time(id: id, t1: 0))
        }
        for text in ["1.5", #""1""#, "true", "[]", "{}", "9223372036854775808"] {
            self.expectViolation(#"{"type":"time","id":\#(text),"t1":0}"#, re: nil, "id must be an integer")
        }
    }

    @Test func `a room is an id or a code`() throws {
        for type in [#""subscribe""#, #""unsubscribe""#, #""command","command":{"type":"skip"}"#] {
            for room in ["", #","room":null"#, #","room":7"#, #","room":{}"#] {
                self.expectViolation(#"{"type":\#(type),"id":2\#(room)}"#, re: 2, "room must be a room's id or code")
            }
            for room in ["", "kitchen", "0193503", "7K3M9U", "7K3M9QQ", "7K3M9QQQQ", Self.room + "0"] {
                self.expectViolation(
                    #"{"type":\#(type),"id":2,"room":"\#(room)"}"#, re: 2, "no room has this id or code",
                    code: .notFound)
            }
        }
        let upper = try ClientMessage.parse(Array(#"{"type":"unsubscribe","room":"\#(Self.room.uppercased())"}"#.utf8))
        #expect(upper == .unsubscribe(id: nil, room: .id(Sample.room)))
        #expect(RoomReference("o1l0ix") == .code(RoomCode("01101X") ?? .zero))
        #expect(RoomReference("o1l0ix7k") == .code(RoomCode("01101X7K") ?? .zero))
    }

    @Test func `a position is an epoch and a seq together`() throws {
        func text(_ position: String) -> String {
            #"{"type":"subscribe","id":2,"room":"\#(Self.room)","position":\#(position)}"#
        }
        self.expectViolation(text("7"), re: 2, "position must be an object")
        self.expectViolation(text("[]"), re: 2, "position must be an object")
        self.expectViolation(text(#"{"seq":1}"#), re: 2, "position.epoch must be a string")
        self.expectViolation(text(#"{"seq":1,"epoch":1}"#), re: 2, "position.epoch must be a string")
        self.expectViolation(text(#"{"epoch":"e"}"#), re: 2, "position.seq must be an integer")
        self.expectViolation(text(#"{"epoch":"e","seq":"1"}"#), re: 2, "position.seq must be an integer")
        self.expectViolation(text(#"{"epoch":"e","seq":1.5}"#), re: 2, "position.seq must be an integer")
        self.expectViolation(text(#"{"epoch":"e","seq":-1}"#), re: 2, "position.seq must be 0 or more")
        for (position, read) in [
            ("null", nil), (#"{"epoch":"","seq":0}"#, Position(epoch: "", seq: 0)),
            (#"{"epoch":"e","seq":9223372036854775807}"#, Position(epoch: "e", seq: .max)),
        ] {
            let message = try ClientMessage.parse(Array(text(position).utf8))
            #expect(message == .subscribe(id: 2, room: .id(Sample.room), position: read))
        }
    }

    @Test func `a key is a short text without control characters`() throws {
        func text(_ key: String) -> String {
            #"{"type":"command","id":2,"room":"7K3M9Q","key":\#(key),"command":{"type":"skip"}}"#
        }
        let long = String(repeating: "é", count: 128)
        for key in ["k", " ", long, "5b8b2a52-0000-4000-8000-000000000001", "🎹"] {
            let message = try ClientMessage.parse(Array(text("\"\(key)\"").utf8))
            #expect(message == .command(id: 2, room: .code(Sample.code), key: key, command: .skip))
        }
        let expected = "key must be a string of 1 to 128 characters, none of them a control character"
        for key in ["7", "{}", "true", #""""#, "\"\(long)é\"", #""a\n""#, #""\u0000""#, #""\u007f""#, #""\u0085""#] {
            self.expectViolation(text(key), re: 2, expected)
        }
    }

    @Test func `a reaction is one grapheme`() throws {
        func text(_ emoji: String) -> String {
            #"{"type":"react","id":2,"room":"7K3M9Q","emoji":\#(emoji)}"#
        }
        for emoji in ["👍", "🏴󠁧󠁢󠁷󠁬󠁳󠁿", "👩🏻‍❤️‍💋‍👨🏿", "e\u{301}", "x", "🇦🇶", "각"] {
            #expect(
                try ClientMessage.parse(Array(text("\" \(emoji)\\n\"").utf8))
                    == .react(id: 2, room: .code(Sample.code), emoji: emoji))
        }
        let tower = "e" + String(repeating: "\u{301}", count: 32)
        let wrong = ["null", "7", "[]", #""""#, #"" ""#, #""ab""#, #""👍👍""#, #""\u0007""#, #""\r\n""#]
        for emoji in wrong + ["\"\(tower)\""] {
            self.expectViolation(text(emoji), re: 2, "emoji must be one character")
        }
    }

    @Test func `a claim to be the deck says on or off`() throws {
        func text(_ on: String) -> String { #"{"type":"deck","id":2,"room":"7K3M9Q"\#(on)}"# }
        for isOn in [true, false] {
            #expect(
                try ClientMessage.parse(Array(text(#","on":\#(isOn)"#).utf8))
                    == .deck(id: 2, room: .code(Sample.code), isOn: isOn))
        }
        for on in ["", #","on":null"#, #","on":1"#, #","on":"true""#, #","on":[]"#] {
            self.expectViolation(text(on), re: 2, "on must be true or false")
        }
    }

    @Test func `a signal carries its data as it is written`() throws {
        func text(_ data: String, to: String = "2") -> String {
            #"{"type":"signal","data":1,"id":2,"room":"7K3M9Q","to":\#(to),"d\u0061ta": \#(data) , "x":{"data":3}}"#
        }
        let largest = "\"" + String(repeating: "é", count: 32_767) + "\""
        for data in ["null", "0", "-0.0", "1.50e1", "{ }", #"{"data":1,"data":2}"#, #""\/\u0000""#, "[[ ]]", largest] {
            let message = try ClientMessage.parse(Array(text(data).utf8))
            guard case .signal(2, .code(Sample.code), to: Sample.member(2), let relayed) = message else {
                Issue.record("\(data) is not read as a signal")
                continue
            }
            #expect(String(decoding: relayed.text, as: UTF8.self) == data)
        }
        let tooLarge = text("\(largest.dropLast())x\"")
        self.expectViolation(tooLarge, re: 2, "data may have at most 65536 bytes", code: .tooLarge)
        for to in ["0", "-1", "1.5", "null", #""2""#] {
            self.expectViolation(text("1", to: to), re: 2, "to must be a positive integer")
        }
        self.expectViolation(#"{"type":"signal","id":2,"room":"7K3M9Q","to":2}"#, re: 2, "data must be any JSON")
        let deep = String(repeating: "[", count: 31) + String(repeating: "]", count: 31)
        #expect(self.violation(text(deep)) == nil)
        self.expectViolation(text("[\(deep)]"), re: nil, "not JSON: nested deeper than 32 levels")
    }

    @Test func `two ways to write the same data are equal`() {
        #expect(RelayedJSON(Array(#"{"a":1.0,"b":"\u0041"}"#.utf8)) == RelayedJSON(Array(#"{"b":"A", "a":1}"#.utf8)))
        #expect(RelayedJSON(Array("[1,2]".utf8)) != RelayedJSON(Array("[2,1]".utf8)))
        #expect(RelayedJSON(Array("[1,2".utf8)) == nil)
    }

    @Test func `a time needs its t1`() {
        for t1 in ["", #","t1":null"#, #","t1":"1""#, #","t1":[]"#, #","t1":true"#] {
            self.expectViolation(#"{"type":"time","id":9\#(t1)}"#, re: 9, "t1 must be a number")
        }
    }

    @Test func `a command needs an object with a type`() {
        func text(_ command: String) -> String { #"{"type":"command","id":3,"room":"7K3M9Q"\#(command)}"# }
        self.expectViolation(text(""), re: 3, "command must be an object")
        self.expectViolation(text(#","command":null"#), re: 3, "command must be an object")
        self.expectViolation(text(#","command":"skip""#), re: 3, "command must be an object")
        self.expectViolation(text(#","command":{}"#), re: 3, "command.type must be a string")
        self.expectViolation(text(#","command":{"type":1}"#), re: 3, "command.type must be a string")
        for type in ["", "Skip", "VoteSkip", "countSkipVotes", "endMembership", "subscribe"] {
            self.expectViolation(
                text(#","command":{"type":"\#(type)","entry":1}"#), re: 3,
                "command.type must be a command that this server supports")
        }
    }

    @Test func `unknown fields are ignored and of two fields with one name the last counts`() throws {
        let text = #"{"type":"unsubscribe","x":{"y":[1]},"id":1,"room":7,"id":5,"room":"7k3m9q","position":9}"#
        #expect(try ClientMessage.parse(Array(text.utf8)) == .unsubscribe(id: 5, room: .code(Sample.code)))
    }
}
