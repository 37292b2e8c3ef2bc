import Foundation

/// PostgreSQL's server programs on this machine.
struct ServerPrograms: Sendable {
    /// Where they are.
    private let folder: String

    /// Looks where Debian puts them, the newest version first, then in `PATH`.
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

    /// Prepares to run a program as the server's user: PostgreSQL does not run as root.
    func process(_ command: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = (geteuid() == 0 ? ["runuser", "-u", "postgres", "--"] : []) + command
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        return process
    }

    /// Runs a program to its end and returns what it printed; throws where it fails.
    @discardableResult
    func run(_ command: String..., arguments more: [String] = []) throws -> String {
        let process = process(command + more)
        let (output, errors) = (Pipe(), Pipe())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        let complaint = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw PostgresClusterError(
                description: """
                    \(command.joined(separator: " ")) failed with \(process.terminationStatus): \
                    \(String(decoding: complaint, as: UTF8.self))
                    """)
        }
        return String(decoding: printed, as: UTF8.self)
    }
}
