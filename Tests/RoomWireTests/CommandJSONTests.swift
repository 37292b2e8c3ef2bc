import GeoSearch
import RoomDomain
import RoomWire
import Testing

@Suite struct CommandJSONTests {
    private static func parse(_ text: String) throws -> RoomCommand {
        try CommandJSON.parse(JSONValue(parsing: Array(text.utf8)))
    }

    /// A command's type, its required and its optional fields, and the requirement for each.
    private static let fields: [(type: String, required: [String: String], optional: [String: String])] = [
        ("join", [:], ["name": "a string"]),
        ("rename", ["name": "a string"], [:]),
        (
            "updateRoom", [:],
            [
                "name": "a string", "location": "an object", "clearLocation": "true or false",
                "visibility": "one of public, unlisted", "settings": "an object", "reason": "a string",
            ]
        ),
        ("closeRoom", [:], ["forget": "true or false", "reason": "a string"]),
        ("setRole", ["member": "a positive integer", "role": "dj or guest"], ["reason": "a string"]),
        ("transferOwnership", ["member": "a positive integer"], ["reason": "a string"]),
        (
            "kick", ["member": "a positive integer"],
            ["ban": "true or false", "durationMs": "an integer", "reason": "a string"]
        ),
        ("unban", ["member": "a positive integer"], ["reason": "a string"]),
        ("addTracks", ["tracks": "an array"], [:]),
        ("removeTracks", ["tracks": "an array"], [:]),
        ("setWaveform", ["track": "a positive integer", "data": waveform], [:]),
        ("vote", ["track": "a positive integer"], [:]),
        ("unvote", ["track": "a positive integer"], [:]),
        ("enqueue", ["track": "a positive integer"], ["at": "an integer"]),
        ("dequeue", ["entry": "a positive integer"], [:]),
        ("move", ["entry": "a positive integer", "to": "an integer"], [:]),
        ("play", [:], ["entry": "a positive integer"]),
        ("setDuration", ["track": "a positive integer", "durationMs": "an integer"], [:]),
        ("unvoteSkip", ["entry": "a positive integer"], [:]),
        ("seek", ["positionMs": "an integer"], ["entry": "a positive integer"]),
        ("pause", [:], ["entry": "a positive integer"]), ("resume", [:], ["entry": "a positive integer"]),
        ("skip", [:], ["entry": "a positive integer"]),
        ("finish", ["entry": "a positive integer"], ["missing": "true or false"]),
        ("voteSkip", ["entry": "a positive integer"], [:]),
    ]

    private static let waveform = "2048 bytes in base64url: 2731 characters without padding"

    /// A value that meets a field's requirement.
    private static func good(_ expected: String) -> String {
        switch expected {
        case "a string": #""x""#
        case "an object": #"{"lat":1,"lon":2}"#
        case "true or false": "true"
        case "an array": "[]"
        case "dj or guest": #""dj""#
        case "one of public, unlisted": #""public""#
        case waveform: #""\#(Sample.waveform.text)""#
        default: "1"
        }
    }

    /// Values that meet fields' requirements.
    private static func good(_ fields: [String: String]) -> [String: String] {
        var values = fields.mapValues(Self.good)
        // Settings accept no other names.
        if values["settings"] != nil { values["settings"] = #"{"skipRatio":0.5}"# }
        return values
    }

    /// Values that do not meet a field's requirement.
    private static func bad(_ expected: String) -> [String] {
        switch expected {
        case "a string": ["1", "true", "[]", "{}"]
        case "an object": ["1", "true", "[]", #""x""#]
        case "true or false": ["1", "0", #""true""#, "[]"]
        case "an array": ["1", #""x""#, "{}", "true"]
        case "dj or guest": [#""owner""#, #""DJ""#, #""""#, "1"]
        case "one of public, unlisted": [#""private""#, #""Public""#, "1"]
        case waveform:
            ["1", "[]"]
                + [
                    "", "AAAA", String(repeating: "A", count: 2_730), String(repeating: "A", count: 2_732),
                    String(repeating: "A", count: 2_730) + "=", String(repeating: "A", count: 2_730) + "B",
                    String(repeating: "+", count: 2_731), String(repeating: "é", count: 2_731),
                ].map { #""\#($0)""# }
        case "a positive integer": ["0", "-1", "1.5", #""1""#, "[]", "true", "9223372036854775808", "1e-1"]
        default: ["1.5", #""1""#, "[]", "false", "9223372036854775808"]
        }
    }

    private static func text(_ type: String, _ fields: [String: String]) -> String {
        "{" + ([#""type":"\#(type)""#] + fields.map { #""\#($0.key)":\#($0.value)"# }).joined(separator: ",") + "}"
    }

    @Test(arguments: [
        (#"{"queue":{}}"#, "command.queue must be an array"),
        (#"{"queue":[1]}"#, "command.queue[0] must be an object"),
        (#"{"queue":[{}]}"#, "command.queue[0].track must be given if and only if entry is not"),
        (#"{"queue":[{"track":1,"entry":1}]}"#, "command.queue[0].track must be given if and only if entry is not"),
        (#"{"queue":[{"track":1},{"entry":0}]}"#, "command.queue[1].entry must be a positive integer"),
        (#"{"queue":[]}"#, "command.playback must be an object"),
        (#"{"queue":[],"playback":1}"#, "command.playback must be an object"),
        (#"{"queue":[],"playback":{}}"#, "command.playback.status must be stopped, playing or paused"),
        (
            #"{"queue":[],"playback":{"status":"playing"}}"#,
            "command.playback.track must be given if and only if entry is not"
        ),
        (
            #"{"queue":[],"playback":{"status":"paused","track":1,"atMs":1}}"#,
            "command.playback.positionMs must be an integer"
        ),
        (
            #"{"queue":[],"playback":{"status":"paused","track":1,"positionMs":1,"atMs":"1"}}"#,
            "command.playback.atMs must be an integer"
        ),
        (
            #"{"queue":[],"playback":{"status":"paused","track":1,"positionMs":1,"atMs":1,"startedAtMs":"1"}}"#,
            "command.playback.startedAtMs must be an integer"
        ),
        (
            #"{"queue":[],"playback":{"status":"paused","track":1,"positionMs":1,"atMs":1,"playedMs":1.5}}"#,
            "command.playback.playedMs must be an integer"
        ),
        (#"{"known":"1","queue":[]}"#, "command.known must be an integer"),
        (#"{"known":-1,"queue":[]}"#, "command.known must be the number of an entry, or 0"),
        (#"{"played":{},"queue":[]}"#, "command.played must be an array"),
        (#"{"played":[1],"queue":[]}"#, "command.played[0] must be an object"),
        (#"{"played":[{}],"queue":[]}"#, "command.played[0].track must be given if and only if entry is not"),
        (#"{"played":[{"track":1}],"queue":[]}"#, "command.played[0].reason must be ended or skipped"),
        (
            #"{"played":[{"track":1,"reason":"replaced"}],"queue":[]}"#,
            "command.played[0].reason must be ended or skipped"
        ),
        (
            #"{"played":[{"track":1,"reason":"ended"}],"queue":[]}"#,
            "command.played[0].startedAtMs must be an integer"
        ),
        (
            #"{"played":[{"track":1,"reason":"ended","startedAtMs":1}],"queue":[]}"#,
            "command.played[0].playedMs must be an integer"
        ),
        (
            #"{"played":[{"track":1,"reason":"ended","startedAtMs":1,"playedMs":1,"endedAtMs":"1"}],"queue":[]}"#,
            "command.played[0].endedAtMs must be an integer"
        ),
    ])
    func `a deck that cannot be read is refused with the place`(fields: String, message: String) {
        let text = #"{"type":"syncDeck","# + fields.dropFirst()
        #expect(throws: MessageViolation(message: message)) { try Self.parse(text) }
    }

    @Test func `a field that is missing or of a wrong type is named with what it must be`() throws {
        for (type, required, optional) in Self.fields {
            let good = Self.good(required.merging(optional) { one, _ in one })
            _ = try Self.parse(Self.text(type, good))
            _ = try Self.parse(Self.text(type, Self.good(required)))
            for (name, expected) in required.merging(optional, uniquingKeysWith: { one, _ in one }) {
                let violation = MessageViolation(message: "command.\(name) must be \(expected)")
                for value in Self.bad(expected) + (required[name] == nil ? [] : ["null"]) {
                    let text = Self.text(type, good.merging([name: value]) { _, new in new })
                    #expect(throws: violation, "\(text)") { try Self.parse(text) }
                }
                let without = Self.text(type, good.filter { $0.key != name })
                if required[name] != nil {
                    #expect(throws: violation, "\(without)") { try Self.parse(without) }
                } else {
                    let nulled = Self.text(type, good.merging([name: "null"]) { _, new in new })
                    #expect(try Self.parse(without) == Self.parse(nulled))
                }
            }
        }
    }

    @Test func `fields within fields are named with their path`() throws {
        let track = #""source":"s","sourceId":"i","title":"t""#
        let refused: [(String, String)] = [
            (#""updateRoom","location":{"lon":1}"#, "location.lat must be a number"),
            (#""updateRoom","location":{"lat":1}"#, "location.lon must be a number"),
            (#""updateRoom","location":{"lat":"1","lon":1}"#, "location.lat must be a number"),
            (#""updateRoom","location":{"lat":90.5,"lon":1}"#, "location.lat must be -90 to 90"),
            (#""updateRoom","location":{"lat":-91,"lon":181}"#, "location.lat must be -90 to 90"),
            (#""updateRoom","location":{"lat":1,"lon":-180.5}"#, "location.lon must be -180 to 180"),
            (#""updateRoom","settings":{"queueMode":"random"}"#, "settings.queueMode must be one of dj, votes, fair"),
            (#""updateRoom","settings":{"skipRatio":"0.5"}"#, "settings.skipRatio must be a number"),
            (
                #""updateRoom","settings":{"maxWaitingPerMember":0.5}"#,
                "settings.maxWaitingPerMember must be an integer"
            ),
            (#""updateRoom","settings":{"repeatAfterPlays":[]}"#, "settings.repeatAfterPlays must be an integer"),
            (#""updateRoom","settings":{"queueLocked":1}"#, "settings.queueLocked must be true or false"),
            (#""updateRoom","settings":{"slowModeMs":0.5}"#, "settings.slowModeMs must be an integer"),
            (#""updateRoom","settings":{"ownerAwayMs":"1"}"#, "settings.ownerAwayMs must be an integer"),
            (
                #""updateRoom","settings":{"skipRatio":0.5,"quueMode":"dj"}"#,
                "settings.quueMode must be absent: no field here has this name"
            ),
            (#""updateRoom","settings":{"":1}"#, "settings. must be absent: no field here has this name"),
            (#""addTracks","tracks":[1]"#, "tracks[0] must be an object"),
            (#""addTracks","tracks":[{\#(track)},null]"#, "tracks[1] must be an object"),
            (#""addTracks","tracks":[{"sourceId":"i","title":"t"}]"#, "tracks[0].source must be a string"),
            (#""addTracks","tracks":[{"source":"s","title":"t"}]"#, "tracks[0].sourceId must be a string"),
            (#""addTracks","tracks":[{\#(track)},{"source":"s","sourceId":"i"}]"#, "tracks[1].title must be a string"),
            (#""addTracks","tracks":[{\#(track),"artist":1}]"#, "tracks[0].artist must be a string"),
            (#""addTracks","tracks":[{\#(track),"album":[]}]"#, "tracks[0].album must be a string"),
            (#""addTracks","tracks":[{\#(track),"durationMs":1.5}]"#, "tracks[0].durationMs must be an integer"),
            (#""addTracks","tracks":[{\#(track),"artworkUrl":{}}]"#, "tracks[0].artworkUrl must be a string"),
            (#""removeTracks","tracks":[1,0]"#, "tracks[1] must be a positive integer"),
            (#""removeTracks","tracks":["1"]"#, "tracks[0] must be a positive integer"),
        ]
        for (text, message) in refused {
            #expect(throws: MessageViolation(message: "command." + message), "\(text)") {
                try Self.parse(#"{"type":\#(text)}"#)
            }
        }
    }

    @Test func `values that only a room can judge are accepted`() throws {
        let many = (1...501).map(String.init).joined(separator: ",")
        #expect(
            try Self.parse(#"{"type":"removeTracks","tracks":[\#(many)]}"#)
                == .removeTracks((1...501).map(Sample.track)))
        #expect(try Self.parse(#"{"type":"removeTracks","tracks":[]}"#) == .removeTracks([]))
        #expect(try Self.parse(#"{"type":"move","entry":1,"to":-5}"#) == .move(entry: Sample.entry(1), index: -5))
        #expect(try Self.parse(#"{"type":"seek","positionMs":-1}"#) == .seek(positionMs: -1))
        #expect(try Self.parse(#"{"type":"rename","name":""}"#) == .rename(name: ""))
        #expect(try Self.parse(#"{"type":"vote","track":1e3}"#) == .vote(track: Sample.track(1_000)))
        let far = try Self.parse(#"{"type":"updateRoom","location":{"lat":90,"lon":-180}}"#)
        #expect(far == .updateRoom(self.update { $0.location = Coordinate(latitude: 90, longitude: 180) }))
    }

    private func update(_ change: (inout RoomUpdate) -> Void) -> RoomUpdate {
        var update = RoomUpdate()
        change(&update)
        return update
    }

    @Test func `results are read back as they were and anything else is a fault`() throws {
        let results: [CommandResult] = [
            .member(Sample.member(3)), .tracks([]), .tracks([Sample.track(7), Sample.track(8)]),
            .entry(Sample.entry(9)), .waveform(Sample.waveform.name),
        ]
        for result in results { #expect(try ResultJSON.decode(ResultJSON.encode(result)) == result) }
        #expect(String(decoding: ResultJSON.encode(results[2]), as: UTF8.self) == #"{"tracks":[7,8]}"#)
        for text in [
            "", "null", "[]", "{}", #"{"member":0}"#, #"{"tracks":3}"#, #"{"entry":"9"}"#, #"{"waveform":"AAAA"}"#,
        ] {
            #expect(throws: StoredEventFault.self, "\(text)") { try ResultJSON.decode(Array(text.utf8)) }
        }
    }

    @Test func `request bodies that are wrong name the field`() {
        func expectRefused(_ text: String, _ message: String, _ parse: ([UInt8]) throws -> Void) {
            #expect(throws: MessageViolation(message: message), "\(text)") { try parse(Array(text.utf8)) }
        }
        for (text, message) in [
            ("", "not JSON: the text ends too early"), ("[]", "not a JSON object"), ("{}", "name must be a string"),
            (#"{"name":null}"#, "name must be a string"), (#"{"name":1}"#, "name must be a string"),
        ] {
            expectRefused(text, message) { _ = try SessionRequest.parse($0) }
            expectRefused(text, message) { _ = try CreateRoomRequest.parse($0) }
        }
        for (text, message) in [
            (#""location":1"#, "location must be an object"),
            (#""location":{"lat":1}"#, "location.lon must be a number"),
            (#""location":{"lat":1,"lon":200}"#, "location.lon must be -180 to 180"),
            (#""visibility":"secret""#, "visibility must be one of public, unlisted"),
            (#""settings":[]"#, "settings must be an object"),
            (#""settings":{"skipRatio":true}"#, "settings.skipRatio must be a number"),
            (#""settings":{"skip":true}"#, "settings.skip must be absent: no field here has this name"),
            (
                #""settings":{"\#(String(repeating: "x", count: 100_000))":1}"#,
                "settings.\(String(repeating: "x", count: 80)) must be absent: no field here has this name"
            ),
        ] {
            expectRefused(#"{"name":"x",\#(text)}"#, message) { _ = try CreateRoomRequest.parse($0) }
        }
        expectRefused("{}", "command must be an object") { _ = try CommandJSON.parse(body: $0) }
        expectRefused(#"{"command":{"type":"vote"}}"#, "command.track must be a positive integer") {
            _ = try CommandJSON.parse(body: $0)
        }
    }
}
