import Rehearsal
import RoomWire
import Testing

@Suite struct PlayerTests {
    private static let header =
        #"{"conversation":"x","needs":["resume"],"#
        + #""rooms":{"room":{"id":"01935000-0000-7000-8000-0000000000aa","code":"7K3M9Q"}}}"#
    private static let path = "/v1/rooms/7k3m9q/socket"

    /// A player of these lines, whose program can resume.
    private func player(_ lines: String...) throws -> Player {
        let text = ([Self.header] + lines).joined(separator: "\n")
        var player = Player(try Conversation(Array(text.utf8), name: "x.jsonl"), address: "http://h", token: "t")
        _ = player.started(at: 0)
        _ = player.answered(Array(#"{"can":["resume"]}"#.utf8), at: 0)
        return player
    }

    private func failure(_ player: Player) -> String {
        if case .failed(let message)? = player.result { message } else { "no failure" }
    }

    @Test func `a program that cannot do what is needed is skipped`() throws {
        let text = Self.header
        var player = Player(try Conversation(Array(text.utf8), name: "x"), address: "http://h", token: "t")
        let asked = player.started(at: 0)
        #expect(asked.contains { if case .tell = $0 { true } else { false } })
        let steps = player.answered(Array(#"{"can":["overlay"]}"#.utf8), at: 1)
        #expect(steps == [.finished(.skipped(needs: ["resume"]))])
    }

    @Test func `a room's socket counts as a subscription without an id`() throws {
        var player = try player(
            #"{"expect":{"type":"subscribe","id":"$q","room":"$room","position":{"epoch":"e 1","seq":7}}}"#,
            #"{"send":{"type":"resumed","re":"$q","room":"$room"}}"#)
        let steps = player.opening(1, path: "\(Self.path)?epoch=e%201&seq=7", token: "t", at: 5)
        #expect(steps.first == .accept(1))
        let room = "01935000-0000-7000-8000-0000000000aa"
        #expect(steps.contains(.send(1, Array(#"{"type":"resumed","room":"\#(room)"}"#.utf8))))
        #expect(player.result == .passed)
    }

    @Test func `a handshake waits for the line that expects it`() throws {
        var player = try player(#"{"silent":50,"room":"$room"}"#, #"{"expect":{"type":"subscribe","room":"$room"}}"#)
        #expect(player.opening(1, path: "/v1/socket", token: "t", at: 1).contains(.accept(1)))
        #expect(player.woken(at: 50).isEmpty == false)
        #expect(
            player.received(Array(#"{"type":"subscribe","id":1,"room":"7K3M9Q"}"#.utf8), on: 1, at: 60).isEmpty == false
        )
        #expect(player.result == .passed)
    }

    @Test func `another value is told with its place, the line and what came`() throws {
        var player = try player(#"{"expect":{"type":"subscribe","room":"$room","position":{"epoch":"e1","seq":8}}}"#)
        _ = player.opening(1, path: "\(Self.path)?epoch=e1&seq=7", token: "t", at: 5)
        #expect(failure(player).hasPrefix("x.jsonl:2: subscribe: position.seq is 7, and should be 8\n"))
    }

    @Test func `what does not come in time is told`() throws {
        var player = try player(#"{"expect":{"type":"subscribe","room":"$room"},"within":100}"#)
        _ = player.woken(at: 99)
        #expect(player.result == nil)
        _ = player.woken(at: 100)
        #expect(failure(player) == #"x.jsonl:2: no message {"type":"subscribe","room":"$room"} within 100 ms"#)
    }

    @Test func `what comes too early is told`() throws {
        var player = try player(#"{"expect":{"type":"subscribe","room":"$room"},"after":1000}"#)
        _ = player.opening(1, path: Self.path, token: "t", at: 949)
        #expect(failure(player).hasPrefix("x.jsonl:2: subscribe comes after 949 ms"))
    }

    @Test func `an unexpected message is told at the end`() throws {
        var player = try player(#"{"expect":{"type":"subscribe","room":"$room"}}"#, #"{"pass":10}"#)
        _ = player.opening(1, path: Self.path, token: "t", at: 1)
        _ = player.received(Array(#"{"type":"react","room":"7K3M9Q","emoji":"x"}"#.utf8), on: 1, at: 2)
        _ = player.woken(at: 11)
        #expect(failure(player).hasPrefix("x.jsonl: it is over, and the client has said more"))
    }

    @Test func `a program that does not answer is given up`() throws {
        var player = Player(
            try Conversation(Array(Self.header.utf8), name: "x"), address: "http://h", token: "t")
        let steps = player.started(at: 0)
        #expect(steps.last == .wake(at: 10_000))
        #expect(player.woken(at: 9_999) == [.wake(at: 10_000)])
        _ = player.woken(at: 10_000)
        #expect(failure(player) == "x: the program does not answer")
    }

    @Test func `a handshake without the token is refused`() throws {
        var player = try player(#"{"expect":{"type":"subscribe","room":"$room"}}"#)
        _ = player.opening(1, path: Self.path, token: nil, at: 1)
        #expect(failure(player).contains("has no token"))
    }

    @Test func `a state is asked for until it is as it should be`() throws {
        var player = try player(#"{"state":{"online":2}}"#)
        _ = player.answered(Array(#"{"state":{"online":1}}"#.utf8), at: 1)
        #expect(player.result == nil)
        let again = player.woken(at: 21)
        #expect(again.contains { if case .tell = $0 { true } else { false } })
        _ = player.answered(Array(#"{"state":{"online":2}}"#.utf8), at: 22)
        #expect(player.result == .passed)
    }

    @Test func `the time is told at once`() throws {
        var player = try player(#"{"expect":{"type":"subscribe","room":"$room"}}"#, #"{"pass":10}"#)
        _ = player.opening(1, path: Self.path, token: "t", at: 1)
        let steps = player.received(Array(#"{"type":"time","id":3,"t1":1.5}"#.utf8), on: 1, at: 2)
        #expect(
            steps.first
                == .send(
                    1, Array(#"{"type":"time","re":3,"t1":1.5,"t2":1732200000002,"t3":1732200000002}"#.utf8)))
    }

    @Test(arguments: [
        (#"{"expect":{"type":"x"},"send":{"type":"x"}}"#, "a line has one of"),
        (#"{"expect":{}}"#, #"a message has a "type""#),
        (#"{"hope":1}"#, #"there is no "hope""#),
        (#"{"close":"now"}"#, #""close" has a close code"#),
        (#"{"silent":0}"#, #""silent" has a time in milliseconds"#),
        ("{", "no JSON"),
    ])
    func `a line that is none is told`(line: String, message: String) {
        #expect {
            _ = try Conversation(Array((Self.header + "\n" + line).utf8), name: "x")
        } throws: { error in
            guard let fault = error as? ConversationFault else { return false }
            return fault.line == 2 && fault.message.hasPrefix(message)
        }
    }

    @Test(arguments: [
        (#"{"state":{"a":{"$any":[1,{"b":2}]}}}"#, #"{"a":{"b":2,"c":3}}"#, true),
        (#"{"state":{"a":{"$any":[1,{"b":2}]}}}"#, #"{"a":2}"#, false),
        (#"{"state":{"a":{"$is":{"b":2}}}}"#, #"{"a":{"b":2,"c":3}}"#, false),
        (#"{"state":{"a":{"$is":{"b":2,"c":null}}}}"#, #"{"a":{"b":2}}"#, true),
        (#"{"state":{"a":null}}"#, #"{"b":1}"#, true),
        (#"{"state":{"a":null}}"#, #"{"a":1}"#, false),
        (#"{"state":{"a":"$*"}}"#, #"{"a":1}"#, true),
        (#"{"state":{"a":"$*"}}"#, #"{}"#, false),
        (#"{"state":{"a":"$v","b":"$v"}}"#, #"{"a":1,"b":1.0}"#, true),
        (#"{"state":{"a":"$v","b":"$v"}}"#, #"{"a":1,"b":2}"#, false),
        (#"{"state":{"a":"$room"}}"#, #"{"a":"7k3m9q"}"#, true),
        (#"{"state":{"a":"$$room"}}"#, #"{"a":"$room"}"#, true),
        (#"{"state":{"a":[1,{"b":2}]}}"#, #"{"a":[1,{"b":2,"c":3}]}"#, true),
        (#"{"state":{"a":[1]}}"#, #"{"a":[1,2]}"#, false),
        (#"{"state":{"a":{"$near":5}}}"#, #"{"a":1732200000003}"#, true),
        (#"{"state":{"a":{"$near":5}}}"#, #"{"a":1732200000013}"#, false),
        (#"{"state":{"a":{"$with":[{"b":1,"c":2},{"b":3,"c":null}]}}}"#, #"{"a":{"b":3}}"#, true),
    ])
    func `patterns are compared with values`(line: String, state: String, isEqual: Bool) throws {
        var player = try player(line)
        _ = player.answered(Array("{\"state\":\(state)}".utf8), at: 1)
        #expect((player.result == .passed) == isEqual)
    }
}
