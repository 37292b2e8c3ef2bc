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
let exitCodes =
    "Exit code: 0 it is done; 1 the server refused it; 64 the command line is wrong; 69 the server cannot be reached."

/// `backline join`.
package struct Join: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Join a room, and make it the one that other commands are for.", discussion: exitCodes)

    @OptionGroup var room: RoomArgument
    @Option(name: .customLong("as"), help: ArgumentHelp("Your name in the room. [default: the session's]"))
    var name: String?
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        let choice = try RoomChoice(room.room)
        let session = try await options.open(link: choice.link, name: name)
        let reference = try choice.resolved(in: session)
        let (code, title) = try await session.look(at: reference) { room in
            try await session.client.send(.join(as: name), to: reference)
            return (room.code, room.details.name)
        }
        try session.remember(Configuration.Room(code: code, name: title))
        output.print("Joined \(title) (\(code)).")
    }
}

/// `backline vote`.
package struct Vote: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Vote for a track.", usage: "backline vote [<code>] <track> [<options>]",
        discussion: TrackArguments.explanation + exitCodes)

    @OptionGroup var track: TrackArguments
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        try await track.carryOut(options, output, command: { .vote(for: $0) }) { "Voted for \($0)\($1)." }
    }
}

/// `backline unvote`.
package struct Unvote: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Take a vote back.", usage: "backline unvote [<code>] <track> [<options>]",
        discussion: TrackArguments.explanation + exitCodes)

    @OptionGroup var track: TrackArguments
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        try await track.carryOut(options, output, command: { .unvote($0) }) { "Took the vote for \($0) back\($1)." }
    }
}

/// `backline play`.
package struct Play: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Go on with the song on air, or play the first song of the queue.", discussion: exitCodes)

    @OptionGroup var room: RoomArgument
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        let choice = try RoomChoice(room.room)
        let session = try await options.open(link: choice.link)
        let reference = try choice.resolved(in: session)
        let line = try await session.look(at: reference) { before in
            if let playback = before.playback, !playback.isPaused {
                return "\(before.song(playback.track, output.signs)) is on air."
            }
            guard before.playback != nil || !before.queue.isEmpty else {
                throw TerminalFailure.refused(
                    "the queue is empty: add a song with 'backline queue \(before.code) TRACK'")
            }
            try await session.client.send(before.playback == nil ? .play() : .resume, to: reference)
            let track = before.playback?.track ?? before.queue[0].track
            return "On air: \(before.song(track, output.signs))."
        }
        try session.remember()
        output.print(line)
    }
}

/// `backline pause`.
package struct Pause: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Pause the song on air.", discussion: exitCodes)

    @OptionGroup var room: RoomArgument
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        try await room.tell(.pause, options)
        output.print("Paused.")
    }
}

/// `backline skip`.
package struct Skip: OneShotCommand {
    package static let configuration = CommandConfiguration(
        abstract: "Skip the song on air.", discussion: exitCodes)

    @OptionGroup var room: RoomArgument
    @OptionGroup var options: SessionOptions

    package init() {}

    func carryOut(_ output: PlainOutput) async throws {
        try await room.tell(.skip, options)
        output.print("Skipped.")
    }
}

extension RoomArgument {
    /// Gives the room a command that needs no look at it.
    func tell(_ command: Command, _ options: SessionOptions) async throws {
        let choice = try RoomChoice(room)
        let session = try await options.open(link: choice.link)
        try await session.tell(command, to: choice.resolved(in: session))
        try session.remember()
    }
}

extension TerminalSession {
    /// Gives a room a command; the room is not followed, so nobody sees the session come and go.
    @discardableResult
    func tell(_ command: Command, to reference: RoomReference) async throws -> Receipt {
        do {
            return try await connected { try await client.send(command, to: reference) }
        } catch let error as ClientError {
            throw TerminalFailure(error, room: reference.description)
        }
    }
}

extension RoomSnapshot {
    /// A track of the pool, by its number.
    func candidate(_ id: TrackID) -> TrackChoice.Candidate? {
        pool.first { $0.id == id }.map { TrackChoice.Candidate($0) }
    }

    /// A track's title and artist for a sentence.
    func song(_ id: TrackID, _ signs: Signs) -> String {
        candidate(id)?.described(signs) ?? "track \(id.rawValue)"
    }
}
