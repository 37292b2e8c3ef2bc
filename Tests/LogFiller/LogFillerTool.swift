import ArgumentParser
import LogTestSupport
import SQLiteEventStore

/// Fills an embedded store with a log of a given size, for measuring the tools.
@main
struct LogFillerTool: AsyncParsableCommand {
    @Option(help: "The directory of the embedded store to make.")
    var data: String

    @Option(help: "How many events at least.")
    var events = 1_000_000

    @Option(help: "How many events a room has at least; every hundredth room has a hundred times as many.")
    var eventsPerRoom = 200

    @Option(help: "What the log is made of.")
    var seed: UInt64 = 1

    func run() async throws {
        let store = try await SQLiteStore.open(directory: data)
        _ = try await store.migrate().get()
        var filler = LogFiller(store, seed: seed)
        var (made, rooms) = (0, 0)
        while made < events {
            rooms += 1
            let size = rooms % 100 == 1 ? eventsPerRoom * 100 : eventsPerRoom
            made += try await filler.makeRoom(events: size).events
        }
        try await store.close()
        print("seed \(seed): \(rooms) rooms, \(made) events")
    }
}
