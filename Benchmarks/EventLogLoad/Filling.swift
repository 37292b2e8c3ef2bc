import ArgumentParser
import EventStorage
import FoundationEssentials
import PostgresEventStore
import SQLiteEventStore

/// Fills a log with rooms in which songs play and guests vote; counts none of them, some, or all.
struct Filling: AsyncParsableCommand {
    @OptionGroup var place: CountingPlace

    @Option(help: "Rooms.")
    var rooms = 1_000

    @Option(help: "Events of each room, or one or two more.")
    var events = 60

    @Option(help: "The number of the last event that is counted; 0: counting has not begun.")
    var counted = Int.max

    @Option(help: "Votes for each song, which cause one event each; a song causes four others.")
    var votes = 12

    @Option(help: "Milliseconds of a song.")
    var song: Int64 = 180_000

    @Option(help: "Hours since the last event.")
    var age = 0.0

    func run() async throws {
        let store = try await place.open()
        let now = Int64(Date().timeIntervalSince1970 * 1_000 - age * 3_600_000)
        let start = now - Int64(events) * song / Int64(votes + 4)
        let (events, counted, song, votes) = (events, counted, song, votes)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<rooms {
                if number >= 32 { try await group.next() }
                group.addTask {
                    // Songs end in one room after the other.
                    var evening = Evening(
                        at: start, songMs: song, votesPerSong: votes, phase: (number * 7_919) % votes)
                    try await evening.write(to: store, events: events, counted: counted)
                }
            }
            try await group.waitForAll()
        }
        try await place.close(store)
        report([("rooms", Double(rooms)), ("events", Double(rooms * events))])
    }
}

/// A log of either durable store.
struct CountingPlace: ParsableArguments {
    @Option(help: "The database, which is given its schema where it has none.")
    var databaseURL: String?

    @Option(help: "The folder of an embedded store, in place of a database.")
    var data: String?

    func open() async throws -> any CountingStore {
        if let databaseURL {
            var configuration = try PostgresConfiguration(url: databaseURL, environment: [:])
            configuration.connections = 4
            let store = try PostgresStore(configuration)
            _ = try await store.migrate().get()
            return store
        }
        guard let data else { throw ValidationError("--database-url or --data is needed") }
        let store = try await SQLiteStore.open(directory: data)
        _ = try await store.migrate().get()
        return store
    }

    func close(_ store: any CountingStore) async throws {
        switch store {
        case let store as PostgresStore: await store.close()
        case let store as SQLiteStore: try await store.close()
        default: break
        }
    }
}
