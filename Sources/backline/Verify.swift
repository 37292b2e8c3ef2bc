import ArgumentParser
import LogMaintenance
import SQLiteEventStore

/// `backline verify`: checks whether the log is undamaged.
struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check that the event log is complete and undamaged.",
        discussion: """
            Reads every table and checks for each room: positions have no gap up to the head, and no event lies beyond \
            it; checksums are right; events can be read, and the rules that hold for every room are kept; the directory \
            row, snapshots, memberships and remembered keys agree with the fold of the events. It also checks that every \
            row belongs to a room. Each finding is one line on standard output: the room, the row, what was expected, \
            what was found, what to do. The last line is a summary. Progress goes to standard error.

            The command writes nothing. Servers may run meanwhile, on PostgreSQL and on the embedded store. Rows of \
            releases that had no checksums are counted, and are no findings.

            Exit code: 0 no findings; 1 findings; 69 the log is out of reach; 78 the log has another schema.
            """)

    @OptionGroup var store: StoreSettings

    @Option(help: ArgumentHelp("Check only the room with this id or code.", valueName: "room"))
    var room: String?

    func run() async throws {
        let verification = try await store.withLog(.reading) { archive in
            let progress = ProgressReport()
            let verifier = LogVerifier(archive) { finding in
                Console.print("\(finding)")
            } progress: { verification in
                progress.tell("\(verification.rooms) rooms, \(verification.events) events", events: verification.events)
            }
            let verification: Verification
            if let room {
                guard let one = try await verifier.verify(room: archive.room(room)) else {
                    throw Failure.usage("there is no room \(room)")
                }
                verification = one
            } else {
                verification = try await verifier.verify()
            }
            let unsealed =
                verification.withoutChecksum == 0 ? "" : ", \(verification.withoutChecksum) rows without checksum"
            Console.print(
                """
                verified \(verification.rooms) rooms, \(verification.events) events\(unsealed): \
                \(verification.findings) findings (\(progress.rate(of: verification.events)))
                """)
            return verification
        }
        guard verification.findings == 0 else { throw ExitCode(1) }
    }
}
