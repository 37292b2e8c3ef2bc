import ArgumentParser
import Glibc
import PostgresEventStore

/// The loads of `Benchmarks/event_log.py`, `large_room.py` and `room_statistics.py` inside one process, without
/// sockets.
///
/// Each command prints one JSON object.
@main
struct EventLogLoad: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "EventLogLoad",
        abstract: "Loads an event log for Benchmarks/event_log.py, large_room.py and room_statistics.py.",
        subcommands: [
            Answers.self, Appends.self, Commands.self, Counting.self, Deciding.self, Filling.self, Flushes.self,
            Loading.self,
        ])
}

/// The log's location, and the duration of the load.
struct LogOptions: ParsableArguments {
    @Option(help: "The database, which is given its schema where it has none.")
    var databaseURL: String

    @Option(help: "Seconds to measure.")
    var seconds: Double = 5

    @Option(help: "Seconds before that.")
    var warmup: Double = 1

    @Flag(help: "Say when the measured time begins and ends, and wait for a line each time.")
    var asks = false

    /// Tells whoever measures the database what comes now, and waits for a line.
    func announce(_ what: String) { if asks { EventLogLoad.announce(what) } }

    /// Opens the log.
    func open(connections: Int = 4) async throws -> PostgresStore {
        var configuration = try PostgresConfiguration(url: databaseURL, environment: [:])
        configuration.connections = connections
        let store = try PostgresStore(configuration)
        _ = try await store.migrate().get()
        return store
    }
}

/// The failure of a measurement, whose figures then do not count.
struct Defect: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension EventLogLoad {
    /// Prints what comes now, and waits for a line.
    static func announce(_ what: String) {
        print(what)
        // All streams: the global variables of C are not safe to name.
        fflush(nil)
        _ = readLine()
    }
}

/// The resources that this process uses.
enum Usage {
    /// Seconds of CPU time so far.
    static var processorSeconds: Double {
        // POSIX: `clock` counts a million units a second on every machine.
        Double(clock()) / 1e6
    }
}

/// Prints one JSON object of numbers.
func report(_ figures: [(name: String, value: Double)]) {
    print("{" + figures.map { #""\#($0.name)": \#($0.value)"# }.joined(separator: ", ") + "}")
}

extension [Duration] {
    /// Percentiles of times, in microseconds.
    func percentiles(_ prefix: String) -> [(name: String, value: Double)] {
        guard !isEmpty else { return [] }
        let sorted = sorted()
        return [50, 90, 99].map { part in
            ("\(prefix)_us_p\(part)", sorted[Swift.min(count - 1, count * part / 100)] / .microseconds(1))
        }
    }
}
