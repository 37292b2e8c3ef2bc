import ArgumentParser
import LogMaintenance

/// `backline verify`: checks whether the log is undamaged.
struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prove that the event log is whole.",
        discussion: """
            Reads every table and proves for each room: positions without a hole up to the head and nothing beyond it, \
            checksums, events that can be read and what must hold of every room, the directory row, snapshots, \
            memberships and remembered keys as the fold of the events has them; and that no rows are of no room. Each \
            finding is one line on standard output: the room, what, what was expected, what was found, what to do. The \
            last line is a summary. Progress goes to standard error.

            Nothing is written, and servers may run meanwhile, on PostgreSQL as well as on the embedded store. Rows that \
            releases before checksums wrote are counted, not found fault with.

            Exit code: 0 proven, 1 something is wrong, 69 the log is out of reach, 78 another schema.
            """)

    @OptionGroup var store: StoreSettings

    @Option(help: ArgumentHelp("Look at this room only: its id or its code.", valueName: "room"))
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
