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

    /// Gives the room a command for the track, and prints a sentence with its name.
    func carryOut(
        _ options: SessionOptions, _ output: PlainOutput, command: @escaping @Sendable (TrackID) -> Command,
        sentence: (_ song: String, _ votes: String) -> String
    ) async throws {
        let (room, track) = try parts()
        let choice = try RoomChoice(room)
        let session = try await options.open(link: choice.link)
        let reference = try choice.resolved(in: session)
        let (song, votes) = try await session.look(at: reference) { room in
            let found = try track.choose(among: room.pool.map { TrackChoice.Candidate($0) }, output.signs)
            try await session.client.send(command(TrackID(rawValue: found.number)), to: reference)
            let after = session.client.snapshot(of: reference)?.pool.first { $0.id.rawValue == found.number }
            let votes = after.map { $0.votes == 1 ? " (1 vote)" : " (\($0.votes) votes)" } ?? ""
            return (found.described(output.signs), votes)
        }
        try session.remember()
        output.print(sentence(song, votes))
    }
}
