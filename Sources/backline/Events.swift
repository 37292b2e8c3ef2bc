import ArgumentParser
import EventStorage
import FoundationEssentials
import LogMaintenance
import RoomDomain
import RoomService
import RoomWire

/// `backline events`: a room's log, for people and scripts.
struct Events: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a room's events as lines of JSON.",
        discussion: """
            Each line is an event as clients get it: seq, at, type and its fields; nothing that is private. With \
            --follow it goes on with what happens, until it is stopped. Servers may run meanwhile.
            """)

    @Argument(help: "The room: its id or its code.")
    var room: String

    @OptionGroup var store: StoreSettings

    @Option(help: ArgumentHelp("Begin after this position.", valueName: "seq"))
    var after = 0

    @Flag(help: "Wait for further events.")
    var follow = false

    func run() async throws {
        guard after >= 0 else { throw Failure.usage("--after: \(after) is no position; expected 0 or more") }
        try await store.withLog(.reading) { archive in
            let stream = try await archive.room(room)
            // A room that is to be forgotten may still have names in its log.
            let isForgotten = try await archive.archived(stream)?.forgetAt != nil
            var (last, epoch) = (after, String?.none)
            while let head = try await archive.heads(of: [stream])[stream] {
                guard epoch ?? head.epoch == head.epoch else {
                    throw Failure.unavailable("the room's epoch was renewed: its history is another; begin anew")
                }
                epoch = head.epoch
                let isRead = try await print(
                    stream, after: &last, through: head.version.seq, isForgotten: isForgotten, from: archive)
                guard isRead else { return }
                guard follow else { return }
                repeat {
                    guard !OutputStream.standard.isAbandoned else { return }
                    try await Task.sleep(for: .milliseconds(200))
                } while try await archive.heads(of: [stream])[stream] == head
            }
            throw Failure.unavailable("the room is there no more")
        }
    }

    /// Prints up to a position; false where nobody reads any more.
    private func print(
        _ stream: UUID, after last: inout Int, through head: Int, isForgotten: Bool, from archive: any LogArchive
    ) async throws -> Bool {
        while last < head {
            let page = PageLimit(rows: 1_000, bytes: 1 << 20)
            let events = try await archive.events(of: stream, after: last, through: head, page: page)
            guard let end = events.last else { return true }
            var lines: [UInt8] = []
            for event in events {
                do throws(StoredEventFault) {
                    var writer = JSONWriter()
                    let recorded = try EventJSON.recorded(event)
                    EventJSON.write(isForgotten ? recorded.withoutPersonalData : recorded, for: .clients, to: &writer)
                    lines += writer.bytes + [0x0A]
                } catch {
                    throw Failure.unavailable("event \(event.seq) cannot be read: run 'backline verify': \(error)")
                }
            }
            guard try await OutputStream.standard.write(lines) else { return false }
            last = end.seq
        }
        return true
    }
}
