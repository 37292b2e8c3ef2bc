package import ArgumentParser
import RoomClient

/// A command that asks a server for one thing, says what became of it in one line, and ends.
protocol OneShotCommand: AsyncParsableCommand {
    func carryOut(_ output: PlainOutput) async throws
}

extension OneShotCommand {
    package mutating func run() async throws {
        let signs = Signs(isASCII: !Surroundings.current.isUTF8)
        do {
            try await carryOut(PlainOutput(signs: signs))
        } catch let error as ClientError {
            throw TerminalFailure(error)
        }
    }
}

/// The room of a command that has no other argument.
struct RoomArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("The room's code or link. [default: the room used last]", valueName: "code"),
        completion: .custom { _, _, _ in Remembered.codes })
    var room: String?
}

/// The codes of exit that every command of a terminal has.
let exitCodes = """
    Exit code: 0 it is done; 1 the server refused it, or nothing is on air that it could be done to; 64 the command line \
    is wrong; 69 the server cannot be reached.
    """

/// `backline join`.
package struct Join: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Join a room, and make it the one that other commands are for.", discussion: exitCodes)

    @OptionGroup var room: RoomArgument
    @Option(name: .customLong("as"), help: ArgumentHelp("Your name in the room. [default: the session's]"))
    var name: String?
    @OptionGroup var format: OutputFormat
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        let choice = try RoomChoice(room.room)
        let session = try await options.open(link: choice.link, name: name)
        let reference = try choice.resolved(in: session)
        let (code, title, member) = try await session.look(at: reference) { room in
            let receipt = try await session.client.send(.join(as: name), to: reference)
            return (room.code, room.details.name, receipt.member)
        }
        try session.remember(Configuration.Room(code: code, name: title))
        let fields: KeyValuePairs<String, SafeJSON?> = [
            "room": .text(code), "name": .text(title), "member": member.map { .number(Int64($0.rawValue)) },
        ]
        Outcome("Joined \(title) (\(code)).", "joined", fields).print(output, format)
    }
}

/// `backline vote`.
package struct Vote: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Vote for a track.", usage: "backline vote [<code>] <track> [<options>]",
        discussion: TrackArguments.explanation + exitCodes)

    @OptionGroup var track: TrackArguments
    @OptionGroup var format: OutputFormat
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        try await track.carryOut(options, output, format, command: { .vote(for: $0) }) { carried in
            carried.voted("Voted for \(carried.song)\(carried.count).", "voted")
        }
    }
}

/// `backline unvote`.
package struct Unvote: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Take a vote back.", usage: "backline unvote [<code>] <track> [<options>]",
        discussion: TrackArguments.explanation + exitCodes)

    @OptionGroup var track: TrackArguments
    @OptionGroup var format: OutputFormat
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        try await track.carryOut(options, output, format, command: { .unvote($0) }) { carried in
            carried.voted("Took the vote for \(carried.song) back\(carried.count).", "unvoted")
        }
    }
}

/// `backline play`.
package struct Play: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Go on with the song on air, or play the first song of the queue.", discussion: exitCodes)

    @OptionGroup var room: RoomArgument
    @OptionGroup var format: OutputFormat
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        try await room.carryOut(options, output, format) { client, reference, before in
            if let playback = before.playback, !playback.isPaused {
                return before.outcome("\(before.song(playback.track, output.signs)) is on air.", "playing", playback)
            }
            guard before.playback != nil || !before.queue.isEmpty else {
                throw TerminalFailure.refused(
                    "the queue is empty: add a song with 'backline queue \(before.code) TRACK'")
            }
            let command = before.playback.map { Command.resume($0.entry) } ?? .play()
            let receipt = try await client.send(command, to: reference)
            var after = before.playback
            // The answer may come before what has happened.
            for try await _ in client.follow(reference) {
                guard let room = client.snapshot(of: reference) else { continue }
                after = room.playback ?? after
                if after != nil || room.position.sequence >= receipt.sequence { break }
            }
            let track = after?.track ?? before.queue[0].track
            return before.outcome("On air: \(before.song(track, output.signs)).", "playing", after)
        }
    }
}

/// `backline pause`.
package struct Pause: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Pause the song on air.", discussion: exitCodes)

    @OptionGroup var room: RoomArgument
    @OptionGroup var format: OutputFormat
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        try await room.control({ .pause($0) }, options, output, format) { "Paused: \($0)." }
    }
}

/// `backline skip`.
package struct Skip: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Skip the song on air.", discussion: exitCodes)

    @OptionGroup var room: RoomArgument
    @OptionGroup var format: OutputFormat
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        try await room.control({ .skip($0) }, options, output, format) { "Skipped: \($0)." }
    }
}

extension RoomArgument {
    /// Does something with the room as it is now, and prints what became of it.
    func carryOut(
        _ options: SessionOptions, _ output: PlainOutput, _ format: OutputFormat,
        _ body: @escaping @Sendable (RoomClient, RoomReference, RoomSnapshot) async throws -> Outcome
    ) async throws {
        let choice = try RoomChoice(room)
        let session = try await options.open(link: choice.link)
        let reference = try choice.resolved(in: session)
        let outcome = try await session.look(at: reference) { try await body(session.client, reference, $0) }
        try session.remember()
        outcome.print(output, format)
    }
}

extension RoomArgument {
    /// Gives the room a command for the song on air.
    func control(
        _ command: @escaping @Sendable (EntryID?) -> Command, _ options: SessionOptions, _ output: PlainOutput,
        _ format: OutputFormat,
        sentence: @escaping @Sendable (_ song: String) -> String
    ) async throws {
        try await carryOut(options, output, format) { client, reference, before in
            guard let playback = before.playback else {
                // Who may not do this at all is told that.
                if before.me.map({ $0.role == .guest }) ?? true { try await client.send(command(nil), to: reference) }
                throw TerminalFailure.refused("nothing is on air in the room \(before.code)")
            }
            let command = command(playback.entry)
            try await client.send(command, to: reference)
            let type = command.name == "skip" ? "skipped" : "paused"
            return before.outcome(sentence(before.song(playback.track, output.signs)), type, playback)
        }
    }
}

extension RoomSnapshot {
    /// What became of a command for the song on air.
    func outcome(_ sentence: String, _ type: String, _ playback: Playback?) -> Outcome {
        Outcome(
            sentence, type,
            [
                "room": .text(code), "entry": playback.map { .number(Int64($0.entry.rawValue)) },
                "track": playback.flatMap { candidate($0.track) }?.json,
            ])
    }

    /// A track of the pool, by its number.
    func candidate(_ id: TrackID) -> TrackChoice.Candidate? {
        pool.first { $0.id == id }.map { TrackChoice.Candidate($0) }
    }

    /// A track's title and artist for a sentence.
    func song(_ id: TrackID, _ signs: Signs) -> String {
        candidate(id)?.described(signs) ?? "track \(id.rawValue)"
    }
}
