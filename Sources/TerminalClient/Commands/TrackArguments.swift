import ArgumentParser
import RoomClient

/// The room and the track of a command.
struct TrackArguments: ParsableArguments {
    static let explanation = """
        TRACK is its number, or a part of its title and artist that only one track has; otherwise the tracks that match \
        are listed with their numbers. A text of several words is one argument, in quotation marks.


        """

    @Argument(
        help: ArgumentHelp(
            "The room's code or link, which may be left out for the room used last; and the track's number, or a part of its title.",
            valueName: "code-and-track"),
        completion: .custom { _, _, _ in Remembered.codes })
    var words: [String] = []

    /// The room, if it is named, and the track.
    func parts() throws(TerminalFailure) -> (room: String?, track: TrackChoice) {
        switch words.count {
        case 1: return (nil, TrackChoice(text: words[0]))
        case 2: return (words[0], TrackChoice(text: words[1]))
        case 0: throw .usage("name a track: its number, or a part of its title")
        default: throw .usage("a track of several words is one argument: put it in quotation marks")
        }
    }

    /// Gives the room a command for the track, and prints what became of it.
    func carryOut(
        _ options: SessionOptions, _ output: PlainOutput, _ format: OutputFormat,
        command: @escaping @Sendable (TrackID) -> Command, outcome: (Carried) -> Outcome
    ) async throws {
        let (room, track) = try parts()
        let choice: RoomChoice
        let session: TerminalSession
        let carried: Carried
        do {
            choice = try RoomChoice(room)
            session = try await options.open(link: choice.link)
            let reference = try choice.resolved(in: session)
            carried = try await session.look(at: reference) { room in
                let found = try track.choose(among: room.pool.map { TrackChoice.Candidate($0) }, output.signs)
                let receipt = try await session.client.send(command(TrackID(rawValue: found.number)), to: reference)
                let after = session.client.snapshot(of: reference)?.pool.first { $0.id.rawValue == found.number }
                return Carried(
                    room: room.code, track: found, song: found.described(output.signs), votes: after?.votes,
                    isMine: after?.isMine, entry: receipt.entry)
            }
        } catch let failure as TerminalFailure where room != nil && failure.isAboutRoom {
            var failure = failure
            failure.message += "; a track of several words is one argument, in quotation marks"
            throw failure
        }
        try session.remember()
        outcome(carried).print(output, format)
    }

    /// What became of a command for a track.
    struct Carried: Sendable {
        let room: String
        let track: TrackChoice.Candidate
        let song: String
        let votes: Int?
        let isMine: Bool?
        let entry: EntryID?

        /// The votes for a sentence.
        var count: String { votes.map { $0 == 1 ? " (1 vote)" : " (\($0) votes)" } ?? "" }

        /// An outcome of a vote.
        func voted(_ sentence: String, _ type: String) -> Outcome {
            Outcome(
                sentence, type,
                [
                    "room": .text(room), "track": track.json, "votes": votes.map { .number(Int64($0)) },
                    "isMine": isMine.map { .bool($0) },
                ])
        }
    }
}
