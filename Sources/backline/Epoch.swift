import ArgumentParser
import LogMaintenance

/// `backline epoch`: makes earlier positions invalid.
struct Epoch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make clients begin anew.", subcommands: [Renew.self])

    /// `backline epoch renew`: run it after restoring a backup.
    struct Renew: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give rooms new epochs, so that no client resumes into a history that is no more.",
            discussion: """
                To be run after a backup was restored and before servers start: clients may have seen events that the \
                backup does not have. Whoever comes back gets a snapshot. Servers that run on PostgreSQL notice; one on \
                the embedded store has to be stopped.
                """)

        @OptionGroup var store: StoreSettings

        @Option(help: ArgumentHelp("Only this room: its id or its code; all rooms without.", valueName: "room"))
        var room: String?

        func run() async throws {
            try await store.withLog(.writing) { archive in
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
