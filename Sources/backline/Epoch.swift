import ArgumentParser
import LogMaintenance
import SQLiteEventStore

/// `backline epoch`: makes earlier positions invalid.
struct Epoch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the epochs of rooms.", subcommands: [Renew.self])

    /// `backline epoch renew`: run it after restoring a backup.
    struct Renew: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give rooms new epochs, so that clients get a snapshot instead of resuming.",
            discussion: """
                Run it after restoring a backup and before servers start: clients may have seen events that the backup \
                does not have. A client that reconnects then gets a snapshot. Running servers on PostgreSQL notice new \
                epochs; a server on the embedded store has to be stopped first.
                """)

        @OptionGroup var store: StoreSettings

        @Option(help: ArgumentHelp("Only the room with this id or code; without it, all rooms.", valueName: "room"))
        var room: String?

        func run() async throws {
            // Whoever renews one room has not put a backup back.
            try await store.withLog(room == nil ? .writingWithoutLog : .writing) { archive in
                var random = SystemRandomNumberGenerator()
                if let room {
                    guard try await EpochRenewer.renew(archive.room(room), in: archive, random: &random) else {
                        throw Failure.usage("there is no room \(room)")
                    }
                    Console.print("renewed the epoch of 1 room")
                } else {
                    let progress = ProgressReport()
                    let count = try await EpochRenewer.renewAll(in: archive, random: &random) { count in
                        progress.tell("renewed the epochs of \(count) rooms")
                    }
                    Console.print("renewed the epochs of \(count) rooms")
                }
            }
        }
    }
}
