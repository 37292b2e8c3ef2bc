import ArgumentParser
import RoomClient

/// How a command prints its result.
struct OutputFormat: ParsableArguments {
    @Flag(help: "Print objects of JSON, one a line.")
    var json = false
}

/// What became of a command, as a sentence and as an object; Documentation/Terminal.md describes the objects.
struct Outcome: Sendable {
    let sentence: String
    let json: SafeJSON

    init(_ sentence: String, _ type: String, _ fields: KeyValuePairs<String, SafeJSON?>) {
        self.sentence = sentence
        guard case .object(let members) = SafeJSON.fields(fields) else {
            json = .null
            return
        }
        json = .object([("type", .text(type))] + members)
    }

    func print(_ output: PlainOutput, _ format: OutputFormat) {
        if format.json { output.print(json) } else { output.print(sentence) }
    }
}

extension TrackChoice.Candidate {
    /// A track, as the lines of `backline watch --json` have it.
    var json: SafeJSON {
        .fields([
            "number": .number(Int64(number)), "title": .text(title), "artist": artist.map { .text($0) },
        ])
    }
}
