import ArgumentParser
import EventStorage
import FoundationEssentials
import LogMaintenance
import RoomDomain
import RoomLog
import RoomService
import RoomWire
import SQLiteEventStore

/// `backline events`: prints a room's log, for people and scripts.
struct Events: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a room's events as lines of JSON.",
        discussion: """
            Each line is an event in the form that clients get: seq, at, type and its fields, without private data. \
            With --follow the command goes on with new events until it is stopped. Servers may run meanwhile.

            Exit code: 0 all events were printed; 69 the log is out of reach, an event is missing or cannot be read, or \
            the room was removed or its history replaced meanwhile; 78 the log has another schema.
            """)

    @Argument(help: "The room's id or code.")
    var room: String

    @OptionGroup var store: StoreSettings

    @Option(help: ArgumentHelp("Begin after this position.", valueName: "seq"))
    var after = 0

    @Flag(help: "Go on with new events until stopped.")
    var follow = false

    func run() async throws {
        guard after >= 0 else { throw Failure.usage("--after: \(after) is not a position; expected 0 or more") }
        try await store.withLog(.reading) { archive in
            let stream = try await archive.room(room)
            // The log of a room that was cleared, or is to be forgotten, may still contain data that must no longer be
            // shown. The directory knows; where it has lost the room, nothing of the kind is shown.
            let entry = try await archive.archived(stream)?.entry
            let redaction = Redaction(isForgotten: entry.map { $0.forgetAt != nil } ?? true, clearing: entry?.clearing)
            var (last, epoch) = (after, String?.none)
            while let head = try await archive.heads(of: [stream])[stream] {
                guard epoch ?? head.epoch == head.epoch else { throw Self.renewed }
                epoch = head.epoch
                let isRead = try await print(
                    stream, after: &last, through: head, redaction: redaction, from: archive)
                guard isRead else { return }
                guard follow else { return }
                repeat {
                    guard !OutputStream.standard.isAbandoned else { return }
                    try await Task.sleep(for: .milliseconds(200))
                } while try await archive.heads(of: [stream])[stream] == head
            }
            throw Self.removed
        }
    }

    private static let renewed = Failure.unavailable(
        "the room's epoch was renewed and its history replaced: start again")
    private static let removed = Failure.unavailable("the room no longer exists")

    /// Prints the events up to a head; false if the reader is gone.
    private func print(
        _ stream: UUID, after last: inout Int, through head: StreamHead, redaction: Redaction,
        from archive: any LogArchive
    ) async throws -> Bool {
        while last < head.version.seq {
            let page = PageLimit(rows: 1_000, bytes: 1 << 20)
            let events = try await archive.events(of: stream, after: last, through: head.version.seq, page: page)
            var lines: [UInt8] = []
            for event in events {
                guard event.seq == last + 1 else { break }
                do throws(StoredEventFault) {
                    var writer = JSONWriter()
                    let recorded = try EventJSON.recorded(event)
                    EventJSON.write(redaction.shown(recorded), for: .clients, to: &writer)
                    lines += writer.bytes + [0x0A]
                    last = event.seq
                } catch {
                    throw Failure.unavailable("event \(event.seq) cannot be read: run 'backline verify': \(error)")
                }
            }
            guard try await OutputStream.standard.write(lines) else { return false }
            guard last == events.last?.seq else {
                throw try await absence(of: last + 1, in: stream, epoch: head.epoch, archive)
            }
        }
        return true
    }

    /// The reason why an event up to the head is missing.
    private func absence(
        of seq: Int, in stream: UUID, epoch: String, _ archive: any LogArchive
    ) async throws(StorageFault) -> Failure {
        guard let head = try await archive.heads(of: [stream])[stream] else { return Self.removed }
        guard head.epoch == epoch else { return Self.renewed }
        return .unavailable("event \(seq) of room \(RoomID(stream)) is missing: run 'backline verify'")
    }
}
