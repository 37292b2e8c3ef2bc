import ArgumentParser
import Foundation
import RoomClient
import RoomTestSupport
import Testing

@testable import TerminalClient

@Suite struct CommandLineTests {
    private let signs = Signs(isASCII: false)
    private let tracks = [
        TrackChoice.Candidate(number: 1, title: "Blue Monday", artist: "New Order"),
        TrackChoice.Candidate(number: 2, title: "Blue in Green", artist: "Miles Davis"),
        TrackChoice.Candidate(number: 3, title: "Blue", artist: nil),
        TrackChoice.Candidate(number: 4, title: "1999", artist: "Prince"),
    ]

    @Test(arguments: [
        ("1", 1), ("monday", 1), ("davis", 2), ("blue", 3), ("BLUE in", 2), ("order blue", 1), ("1999", 4),
        (" prince ", 4),
    ])
    func `a track is found by its number or by what only it has`(text: String, number: Int) throws {
        #expect(try TrackChoice(text: text).choose(among: tracks, signs).number == number)
    }

    @Test func `a track is found by words as a search finds it`() throws {
        // Titles and artists are what a command line names, and a text without words names nothing.
        for row in try SearchCase.all() where row.album == nil && row.query.contains(where: \.isLetter) {
            let track = TrackChoice.Candidate(number: 1_000_000_000, title: row.title, artist: row.artist)
            let chosen = try? TrackChoice(text: row.query).choose(among: [track], signs)
            #expect((chosen == track) == row.found, "\(row)")
        }
    }

    @Test func `tracks that match are listed, and none is chosen`() {
        let failure = #expect(throws: TerminalFailure.self) {
            try TrackChoice(text: "e").choose(among: tracks, signs)
        }
        #expect(failure?.exitCode == 1)
        #expect(failure?.message.contains("\n  1  Blue Monday – New Order\n") == true)
        #expect(throws: TerminalFailure.refused("no track of the room has “zebra” in its title")) {
            try TrackChoice(text: "zebra").choose(among: tracks, signs)
        }
    }

    @Test func `negative degrees are arguments`() {
        #expect(TerminalCommands.prepared(["nearby", "-33.8", "-70"]) == ["nearby", "−33.8", "−70"])
        #expect(TerminalCommands.prepared(["create", "--at", "-33.8,151"]) == ["create", "--at", "−33.8,151"])
        #expect(TerminalCommands.prepared(["create", "-5 °C"]) == ["create", "-5 °C"])
        #expect(TerminalCommands.prepared(["vote", "-3"]) == ["vote", "-3"])
        #expect(TerminalCommands.prepared(["nearby", "--json"]) == ["nearby", "--json"])
        #expect(Degrees.number("−13.4") == -13.4)
        #expect(Degrees.location("−33.8, 151")?.longitude == 151)
        for text in ["", "1,2,3", "91,0", "0,181", "nan,0", "x,y", "1"] { #expect(Degrees.location(text) == nil) }
    }

    @Test(arguments: [
        ("vot", "vote"), ("votes", "vote"), ("qeueu", "queue"), ("Watch", "watch"), ("signin", "sign-in"),
        ("tracs", "tracks"),
        ("ply", "play"),
    ])
    func `a mistyped command is near one`(word: String, name: String) {
        let names = ["watch", "join", "tracks", "vote", "unvote", "queue", "play", "sign-in", "sign-out"]
        #expect(NearCommand.of(word, among: names) == name)
        for far in ["", "x", "dance", "skipping", "volcano"] { #expect(NearCommand.of(far, among: names) == nil) }
    }

    @Test func `a token of the environment that is not accepted is named`() {
        let error = ClientError(.unauthorized, "the session is over")
        #expect(TerminalFailure(error, hasToken: true).message.contains("BACKLINE_TOKEN"))
        #expect(TerminalFailure(error, hasToken: false).message.contains("sign-in"))
    }

    @Test func `a room is meant for certain by a link, an identifier, or a code that was used`() throws {
        let known = [Configuration.Room(code: "7KQ2ZM", name: "Kitchen")]
        #expect(try RoomChoice("7kq2zm").isCertain(among: known))
        #expect(try RoomChoice("https://party.example/r/YE110W").isCertain(among: known))
        #expect(try RoomChoice("01935000-0000-7000-8000-0000000000aa").isCertain(among: known))
        #expect(try !RoomChoice("yellow").isCertain(among: known))
        #expect(TrackChoice(text: "monday").isMeant(among: tracks))
        #expect(TrackChoice(text: "4").isMeant(among: tracks))
        #expect(!TrackChoice(text: "yellow").isMeant(among: tracks))
    }

    @Test func `a room is named by what people paste, and a link names the server too`() throws {
        for row in try RoomLinks.all().texts {
            let choice = try? RoomChoice(row.text)
            #expect(choice?.reference?.description == row.room, "\(row)")
            #expect(choice?.link?.description == row.server, "\(row)")
        }
    }

    @Test func `tracks are read from lines of JSON`() throws {
        func track(_ json: String) throws -> TrackInfo {
            try JSONDecoder().decode(TrackLine.self, from: Data(json.utf8)).track { .data($0) }
        }
        let song = try track(#"{"title":"Blue Monday","artist":"New Order","duration":"7:29"}"#)
        #expect(song.duration == .seconds(449))
        #expect((song.source, song.sourceID) == ("terminal", "new order/blue monday"))
        #expect(try track(#"{"title":"x","duration":12.5,"source":"a","id":"b"}"#).duration == .milliseconds(12_500))
        #expect(throws: TerminalFailure.data("a track needs a title")) { try track("{}") }
        #expect(throws: TerminalFailure.data("a duration is a time such as 3:45")) {
            try track(#"{"title":"x","duration":"soon"}"#)
        }
    }

    @Test func `distances are in metres or kilometres`() {
        #expect(Nearby.distance(12.4) == "12 m")
        #expect(Nearby.distance(1_250) == "1.3 km")
        #expect(Nearby.distance(12_345_678) == "12,345 km")
    }

    @Test func `what ends a command has what to do about it`() {
        let fault = TransportFault(
            "the certificate of x is signed by an authority that is not trusted here", isLasting: true)
        let cases: [(ClientError, Int32, String)] = [
            (ClientError(.notMember, "x"), 1, "backline join 7KQ2ZM"), (ClientError(.unauthorized, "x"), 1, "sign-in"),
            (ClientError(.notFound, "there is no such room"), 1, "no room 7KQ2ZM"),
            (ClientError(.rateLimited, "x", retryAfter: .seconds(90)), 1, "in 90 s"),
            (ClientError(.unavailable, fault.reason, cause: fault), 69, "--ca"),
            (ClientError(.conflict, "as it is"), 1, "as it is"),
        ]
        for (error, code, part) in cases {
            let failure = TerminalFailure(error, room: "7KQ2ZM")
            #expect(failure.exitCode == code)
            #expect(failure.message.contains(part), "\(failure.message)")
        }
    }

    @Test func `a locale tells the characters, and TERM and NO_COLOR the colours`() {
        func surroundings(_ environment: [String: String]) -> Surroundings {
            Surroundings(environment: environment, isInputTerminal: true, isOutputTerminal: true)
        }
        #expect(surroundings(["LANG": "de_DE.UTF-8"]).isUTF8)
        #expect(!surroundings(["LANG": "de_DE.UTF-8", "LC_ALL": "C"]).isUTF8)
        #expect(!surroundings([:]).isUTF8)
        #expect(surroundings(["TERM": "xterm"]).hasColours(.auto))
        #expect(!surroundings(["TERM": "xterm", "NO_COLOR": "1"]).hasColours(.auto))
        #expect(surroundings(["TERM": "dumb"]).hasColours(.always))
        #expect(!surroundings(["TERM": "dumb"]).hasScreen && surroundings(["TERM": "xterm"]).hasScreen)
    }
}
