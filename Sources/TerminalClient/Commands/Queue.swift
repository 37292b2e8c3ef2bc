package import ArgumentParser
import RoomClient

/// `backline queue`.
package struct Queue: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Show what is on air, what comes next and what was asked for; or add a track to the queue.",
        usage: "backline queue [<code>] [<track>] [<options>]",
        discussion: TrackArguments.explanation
            + "A single word that has the form of a code is a room. With --json, the room is one object on one line, "
            + "as 'backline watch --json' begins with.\n\n" + exitCodes)

    @OptionGroup var track: TrackArguments
    @Flag(help: "Print an object of JSON.")
    var json = false
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        let isListing = track.words.isEmpty || (track.words.count == 1 && RoomChoice.isRoom(track.words[0]))
        guard isListing else {
            try await track.carryOut(options, output, command: { .enqueue($0) }) { song, _ in "Queued \(song)." }
            return
        }
        let choice = try RoomChoice(track.words.first)
        let session = try await options.open(link: choice.link)
        let reference = try choice.resolved(in: session)
        let (facts, now) = try await session.look(at: reference) { room in
            (RoomFacts(room), session.now.milliseconds)
        }
        try session.remember()
        if json {
            output.print(facts.json)
        } else {
            for line in facts.listing(output.signs, at: now) { output.print(line) }
        }
    }
}
