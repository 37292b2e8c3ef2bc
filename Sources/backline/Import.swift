import ArgumentParser
import LogMaintenance
import SQLiteEventStore

/// `backline import`: reads an exported log into an empty store.
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read an exported event log into an empty store.",
        discussion: """
            Reads an export of 'backline export' from a file or from standard input. The store has to be empty and \
            migrated, and no server may use it. Every event is decoded, folded and compared with its checksum; the \
            directory, memberships and indexes are made anew. Rooms, sessions, epochs and remembered keys stay the \
            same, so clients resume.

            After an interrupted import 'backline serve' refuses the store: empty it and import again. 'backline verify' \
            checks the imported log.

            Exit code: 0 imported; 65 the file is not a complete export; 69 the store is out of reach; 78 the store is \
            not empty or has another schema.
            """)

    @OptionGroup var store: StoreSettings

    @Argument(help: ArgumentHelp("The export; without it, or for -, standard input.", valueName: "file"))
    var file: String?

    func run() async throws {
        try await store.withLog(.writing) { archive in
            var lines = try LineReader(file)
            let progress = ProgressReport()
            var importer = LogImporter(archive) { counts in
                progress.tell("imported \(counts.rooms) rooms, \(counts.events) events", events: counts.events)
            }
            var failure: (any Error)?
            do throws(LogImporter.Fault) {
                let counts = try await importer.run {
                    do {
                        return try await lines.next()
                    } catch {
                        failure = error
                        return nil
                    }
                }
                Console.print(
                    "imported \(counts.rooms) rooms, \(counts.events) events (\(progress.rate(of: counts.events)))")
            } catch {
                if let failure { throw failure }
                throw Failure(error)
            }
        }
    }
}

extension Failure {
    fileprivate init(_ fault: LogImporter.Fault) {
        switch fault {
        case .storage(let fault): self.init(fault)
        case .notEmpty:
            self = .configuration(
                "the store is not empty: import into a new database or data directory, after 'backline migrate'")
        case .line(let number, let message): self = .data("line \(number): \(message)")
        case .cut(let line): self = .data("the export ends after line \(line) without its last line: it was cut")
        }
    }
}
