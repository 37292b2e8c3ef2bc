import Foundation

/// PostgreSQL's server programs on this machine.
struct ServerPrograms: Sendable {
    /// Their directory.
    private let folder: String

    /// Searches the directories that Debian uses, the newest version first, then `PATH`.
    static func find() throws -> ServerPrograms {
        let debian = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []
        let folders =
            versions.sorted { $0.compare($1, options: .numeric) == .orderedDescending }.map { "\(debian)/\($0)/bin" }
            + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        guard let folder = folders.first(where: { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }) else {
            throw PostgresClusterError(description: "PostgreSQL's initdb is not installed (Debian: postgresql)")
        }
        return ServerPrograms(folder: folder)
    }

    /// One of the programs.
    func path(_ name: String) -> String {
        "\(folder)/\(name)"
    }

    /// The command, run as the server's user: PostgreSQL does not run as root.
    private func asServerUser(_ command: [String]) -> [String] {
        (geteuid() == 0 ? ["runuser", "-u", "postgres", "--"] : []) + command
    }

    /// Starts a program that reads until the returned descriptor is closed; its output is discarded.
    ///
    /// It is not a child of this process, which could not know when to wait for it: a child that has ended and was not
    /// waited for keeps Swift Testing's exit tests from ever ending.
    func startReader(_ command: String...) throws -> OwnedDescriptor {
        let input = try PipeEnds()
        let output = try PipeEnds()
        // A program in the background reads nothing unless its input is redirected.
        let starter = ["sh", "-c", #"exec 3<&0; "$@" <&3 3<&- &"#, "sh"] + asServerUser(command)
        guard try ChildProcess(starter, input: input.reading, output: output.writing).wait() else {
            throw PostgresClusterError(description: "cannot start \(command.joined(separator: " "))")
        }
        return input.writingEnd()
    }

    /// Runs a program to its end and returns its output; throws if it fails.
    @discardableResult
    func run(_ command: String...) throws -> String {
        let input = try PipeEnds()
        let output = try PipeEnds()
        let process = try ChildProcess(asServerUser(command), input: input.reading, output: output.writing)
        let printed = output.readingEnd().readAll()
        guard process.wait() else {
            throw PostgresClusterError(description: "\(command.joined(separator: " ")) failed: \(printed)")
        }
        return printed
    }
}
