package import ArgumentParser
import RoomClient

/// `backline queue`.
package struct Queue: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Show what is on air, what comes next and what was asked for; or add a track to the queue.",
        usage: "backline queue [<code>] [<track>] [<options>]",
        discussion: TrackArguments.explanation
            + "A single word is a track where the room used last has one with it; else it is a room, if it has the form "
            + "of a code. With --json, the room is one object on one line, as 'backline watch --json' begins with.\n\n"
            + exitCodes)

    @OptionGroup var track: TrackArguments
    @OptionGroup var format: OutputFormat
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        guard track.words.count < 2 else { return try await add(output) }
        guard let word = track.words.first else { return try await list(RoomChoice(nil), output) }
        guard RoomChoice.isRoom(word) else { return try await add(output) }
        let choice = try RoomChoice(word)
        guard choice.link == nil, try !choice.isCertain(among: options.known()),
            let current = try await options.current()
        else {
            return try await list(choice, output)
        }
        // A title may be a word with the form of a code. The room used last may be gone, which says nothing of this one.
        let isTrack = try? await current.session.look(at: current.room) { room in
            TrackChoice(text: word).isMeant(among: room.pool.map { TrackChoice.Candidate($0) })
        }
        guard isTrack != true else { return try await add(output) }
        do {
            try await list(choice, output)
        } catch let failure as TerminalFailure where failure.isAboutRoom && isTrack == false {
            var failure = failure
            failure.message +=
                "; and no track of the room \(current.room) has \(output.signs.quoted(word)) in its title"
            throw failure
        }
    }

    private func add(_ output: PlainOutput) async throws {
        try await track.carryOut(options, output, format, command: { .enqueue($0) }) { carried in
            Outcome(
                "Queued \(carried.song).", "queued",
                [
                    "room": .text(carried.room), "entry": carried.entry.map { .number(Int64($0.rawValue)) },
                    "track": carried.track.json,
                ])
        }
    }

    private func list(_ choice: RoomChoice, _ output: PlainOutput) async throws {
        let session = try await options.open(link: choice.link)
        let reference = try choice.resolved(in: session)
        let (facts, now) = try await session.look(at: reference) { room in
            (RoomFacts(room), session.now.milliseconds)
        }
        try session.remember()
        if format.json {
            output.print(facts.json)
        } else {
            for line in facts.listing(output.signs, at: now) { output.print(line) }
        }
    }
}
