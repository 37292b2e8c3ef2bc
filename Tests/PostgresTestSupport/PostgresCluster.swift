import Foundation
import Synchronization

/// A private PostgreSQL server for tests: a fresh data directory, reached only over a Unix socket beside it.
///
/// It is durable as in production (`fsync` is on), unless it is the shared one, which nobody crashes. However the test
/// process ends, the server is then stopped and its directory removed: a watchdog process waits for the end of a pipe
/// that only the test process holds. If PostgreSQL is missing, starting throws, and so the test fails.
package final class PostgresCluster: Sendable {
    /// The server that the tests of a process share; each test makes its own database.
    ///
    /// Tests that stop or freeze a server start their own.
    package static var shared: PostgresCluster {
        get throws { try sharedStart.get() }
    }

    private static let sharedStart = Result { try PostgresCluster(settings: ["fsync = off"]) }

    /// The directory of the data, the socket and the log.
    private let directory: String
    private let programs: ServerPrograms
    /// The watchdog waits for the end of this pipe.
    private let watchdog: OwnedDescriptor
    private let lastDatabase = Atomic<Int>(0)

    private static let user = "backline"

    /// Makes a data directory and starts the server, with further lines of `postgresql.conf`.
    package init(settings: [String] = []) throws {
        programs = try ServerPrograms.find()
        directory = try programs.run("mktemp", "-d", "/tmp/postgres-test-XXXXXX").trimmingCharacters(in: .newlines)
        watchdog = try Self.startWatchdog(over: directory, programs: programs)
        try programs.run(
            programs.path("initdb"), "-D", directory + "/data", "-U", Self.user, "-A", "trust", "-E", "UTF8",
            "--locale=C", "--no-sync", "--no-instructions")
        let lines = ["listen_addresses = ''", "unix_socket_directories = '\(directory)'", "max_connections = 1000"]
        let text = (lines + settings).joined(separator: "\n")
        try programs.run("sh", "-c", #"printf '%s\n' "$1" >> "$0""#, directory + "/data/postgresql.conf", text)
        try start()
    }

    // MARK: Databases

    /// Makes a database, empty or a copy of a template without connections, and returns its connection string.
    package func makeDatabase(from template: String? = nil) throws -> String {
        let number = lastDatabase.wrappingAdd(1, ordering: .relaxed).newValue
        return try makeDatabase(named: "test_\(number)", from: template)
    }

    /// Makes a database of a given name, to be used as a template.
    package func makeDatabase(named name: String, from template: String? = nil) throws -> String {
        try query("CREATE DATABASE \(name) TEMPLATE \(template ?? "template0")", in: connectionString(of: "postgres"))
        return connectionString(of: name)
    }

    /// The connection string of a database.
    package func connectionString(of database: String) -> String {
        "postgresql://\(Self.user)@/\(database)?host=\(directory)"
    }

    /// Runs SQL apart from the tested code; rows are lines, columns are separated by `|`.
    @discardableResult
    package func query(_ sql: String, in database: String) throws -> String {
        try programs.run(
            programs.path("psql"), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", sql
        ).trimmingCharacters(in: .newlines)
    }

    /// Dumps a database of any server, and restores the dump into an empty one of this server.
    package func restoreDump(of database: String, into empty: String) throws {
        let script = #""$0" -d "$1" | "$2" -X -q -v ON_ERROR_STOP=1 -d "$3""#
        try programs.run("sh", "-c", script, programs.path("pg_dump"), database, programs.path("psql"), empty)
    }

    // MARK: The server

    /// Starts the server and waits until it takes connections.
    package func start() throws {
        try programs.run(
            programs.path("pg_ctl"), "start", "-w", "-t", "120", "-D", directory + "/data", "-l", directory + "/log")
    }

    /// Stops the server as a crash would: connections are cut, and nothing is flushed.
    package func crash() throws {
        try stop(mode: "immediate")
    }

    /// Stops the server, which cuts connections and flushes everything.
    package func stop() throws {
        try stop(mode: "fast")
    }

    private func stop(mode: String) throws {
        try programs.run(
            programs.path("pg_ctl"), "stop", "-m", mode, "-w", "-t", "120", "-D", directory + "/data")
    }

    /// Keeps a copy of the files of a server that is stopped.
    package func keepFiles() throws {
        try programs.run("cp", "-a", directory + "/data", directory + "/kept")
    }

    /// Replaces the files of a stopped server by the copy that ``keepFiles()`` made.
    package func putFilesBack() throws {
        try programs.run("rm", "-rf", directory + "/data")
        try programs.run("mv", directory + "/kept", directory + "/data")
    }

    /// Freezes all processes of the server: sockets stay open, but nothing answers.
    package func freeze() throws {
        let server = try server()
        kill(server, SIGSTOP)
        for child in try children(of: server) { kill(child, SIGSTOP) }
    }

    /// Lets the processes continue that ``freeze()`` stopped.
    package func thaw() throws {
        let server = try server()
        for child in try children(of: server) { kill(child, SIGCONT) }
        kill(server, SIGCONT)
    }

    private func server() throws -> pid_t {
        let file = try programs.run("head", "-n", "1", directory + "/data/postmaster.pid")
        guard let server = pid_t(file.trimmingCharacters(in: .newlines)) else {
            throw PostgresClusterError(description: "postmaster.pid holds no process")
        }
        return server
    }

    private func children(of process: pid_t) throws -> [pid_t] {
        try String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .ascii)
            .split(separator: " ").compactMap { pid_t($0) }
    }

    /// Starts a process that stops the server and removes its directory once the returned descriptor is closed.
    private static func startWatchdog(over directory: String, programs: ServerPrograms) throws -> OwnedDescriptor {
        let script = """
            exec > /dev/null 2>&1
            trap '' INT TERM HUP
            cat
            if [ -f "$0/data/postmaster.pid" ]; then
                server=$(head -n 1 "$0/data/postmaster.pid")
                kill -CONT "$server" $(cat "/proc/$server/task/$server/children")
                "$1" stop -m immediate -w -t 60 -D "$0/data"
            fi
            rm -rf "$0"
            """
        return try programs.startReader("sh", "-c", script, directory, programs.path("pg_ctl"))
    }
}

/// The test's own PostgreSQL could not be started.
package struct PostgresClusterError: Error, CustomStringConvertible {
    /// A description of the failure.
    package let description: String
}
