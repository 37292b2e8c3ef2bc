import ArgumentParser
import LogMaintenance
import SQLiteEventStore

/// `backline export`: writes the whole log as lines of JSON.
struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the whole event log as lines of JSON.",
        discussion: """
            Writes rooms with their events and remembered keys, creation keys and sessions, and leaves out everything \
            that follows from the events. 'backline import' reads an export into an empty store of either kind. Servers \
            may run meanwhile; each room is then exported up to its head at that moment. To move a log, stop the servers \
            first.

            Keep an export as secret as the log itself.

            With --statistics it writes what is counted instead: flat objects whose "kind" is play, count or audience. \
            'backline import' does not read these; servers count them again.
            """)

    @OptionGroup var store: StoreSettings

    @Option(help: ArgumentHelp("The file to make; without it, standard output.", valueName: "file"))
    var out: String?

    @Flag(help: "Write what is counted, and not the log.")
    var statistics = false

    func run() async throws {
        if statistics { return try await exportStatistics() }
        try await store.withLog(.reading) { archive in
            let output = try out.map { path throws(Failure) in try OutputStream(creating: path) } ?? .standard
            let progress = ProgressReport()
            var failure: (any Error)?
            var exporter = LogExporter(archive) { bytes in
                do {
                    return try await output.write(bytes)
                } catch let error {
                    failure = error
                    return false
                }
            } progress: { counts in
                progress.tell("exported \(counts.rooms) rooms, \(counts.events) events", events: counts.events)
            }
            let counts: ArchiveCounts?
            do throws(LogExporter.Fault) {
                counts = try await exporter.export(version: Version.current)
            } catch {
                switch error {
                case .storage(let fault): throw fault
                case .incompleteRoom(let id, let seq):
                    throw Failure.unavailable(
                        "room \(id) has no event \(seq): it was removed meanwhile, or run 'backline verify'")
                case .incompleteWaveform(let room, let name):
                    throw Failure.unavailable(
                        "room \(room) has no waveform \(name): it was removed meanwhile, or run 'backline verify'")
                }
            }
            if let failure { throw failure }
            guard let counts else { throw Failure.unavailable("the reader is gone: the export is incomplete") }
            try await output.finish()
            Console.error(
                "exported \(counts.rooms) rooms, \(counts.events) events (\(progress.rate(of: counts.events)))")
        }
    }

    private func exportStatistics() async throws {
        try await store.withStatistics { archive in
            let output = try out.map { path throws(Failure) in try OutputStream(creating: path) } ?? .standard
            let progress = ProgressReport()
            var failure: (any Error)?
            var exporter = StatisticsExporter(archive) { bytes in
                do {
                    return try await output.write(bytes)
                } catch let error {
                    failure = error
                    return false
                }
            } progress: { counts in
                progress.tell("exported \(counts.rooms) rooms, \(counts.lines) lines")
            }
            let counts = try await exporter.export()
            if let failure { throw failure }
            guard let counts else { throw Failure.unavailable("the reader is gone: the export is incomplete") }
            try await output.finish()
            Console.error("exported the statistics of \(counts.rooms) rooms, \(counts.lines) lines")
        }
    }
}
