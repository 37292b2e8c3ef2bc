import ArgumentParser
import LogOutput
import SystemCalls
import TerminalClient

/// The program: `serve`, the tools that an operator needs with it, and the commands of a person in a room.
@main
struct Backline: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backline",
        abstract: "A push-based room server for listening together.",
        version: Version.current,
        subcommands: [
            Serve.self, Migrate.self, Verify.self, Events.self, Export.self, Import.self, Epoch.self,
            Statistics.self, Rehearse.self, Completion.self,
        ],
        groupedSubcommands: [CommandGroup(name: "Room", subcommands: TerminalCommands.all)])

    /// Runs the command line: an invalid setting gives one line on standard error and exit code 64.
    static func main() async {
        StandardStreams.prepare()
        do {
            try await run()
            await Console.log.flush(within: Console.lastWords)
        } catch {
            // Log lines come before the reason for the end.
            await Console.log.flush(within: Console.lastWords)
            end(with: error)
        }
    }

    private static func run() async throws {
        let arguments = Rehearse.withoutProgram(Array(CommandLine.arguments.dropFirst()))
        if let word = arguments.first, !word.hasPrefix("-"), !names.contains(word) {
            let hint = NearCommand.of(word, among: names).map { "Did you mean \"\($0)\"? " } ?? ""
            throw Failure.usage("there is no command \"\(word)\". \(hint)'backline --help' lists all commands")
        }
        var command = try parseAsRoot(TerminalCommands.prepared(arguments))
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            try command.run()
        }
    }

    /// The names of all commands.
    private static var names: [String] {
        let groups = configuration.groupedSubcommands.flatMap(\.subcommands)
        return (configuration.subcommands + groups).map { command in
            command.configuration.commandName ?? "\(command)".lowercased()
        } + ["help"]
    }

    private static func end(with error: any Error) -> Never {
        if let failure = error as? Failure {
            Console.error(failure.message)
            exit(withError: failure.exitCode)
        }
        if let failure = error as? TerminalFailure {
            Console.error(failure.text)
            exit(withError: ExitCode(failure.exitCode))
        }
        let code = exitCode(for: error)
        guard code == .validationFailure else { exit(withError: error) }
        // A list of values is one line, too.
        Console.error(message(for: error).split(whereSeparator: \.isWhitespace).joined(separator: " "))
        exit(withError: ExitCode(code.rawValue))
    }
}

/// The reason why the program ends, with a line that tells an operator what to do.
struct Failure: Error {
    /// One line.
    var message: String
    /// The exit code, as in `sysexits.h`.
    var exitCode: ExitCode

    /// An invalid setting: 64.
    static func usage(_ message: String) -> Failure { Failure(message: message, exitCode: ExitCode(64)) }
    /// Invalid input data: 65.
    static func data(_ message: String) -> Failure { Failure(message: message, exitCode: ExitCode(65)) }
    /// A required service or file cannot be reached: 69.
    static func unavailable(_ message: String) -> Failure { Failure(message: message, exitCode: ExitCode(69)) }
    /// An existing schema or certificate is not usable: 78.
    static func configuration(_ message: String) -> Failure { Failure(message: message, exitCode: ExitCode(78)) }
    /// The schema of the event log is older than the program.
    static func schemaLacks(_ migrations: Int) -> Failure {
        let lacking = migrations == 1 ? "a migration" : "\(migrations) migrations"
        return .configuration("the schema lacks \(lacking): run 'backline migrate' with the same settings")
    }
}

extension Failure {
    /// A file that a setting names cannot be used: 69 where the system has run out of something, else 64.
    init(_ message: String, _ error: SystemError) {
        self = error.isExhaustion ? .unavailable(message) : .usage(message)
    }
}

/// The program's version.
enum Version {
    static let current = "0.1.0"
}
