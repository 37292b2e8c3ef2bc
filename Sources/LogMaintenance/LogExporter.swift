package import EventStorage
import FoundationEssentials

/// Writes a whole log as lines of JSON.
///
/// Servers may write meanwhile: each room is exported up to the head that is read first, and everything that a room
/// refers to is read after it. Snapshots, directory rows and memberships can be derived from the events and are left
/// out. The export contains the hashes of tokens and everything that members wrote: it is as secret as the database.
package struct LogExporter {
    /// The reason why an export cannot be completed.
    package enum Fault: Error, Hashable, Sendable {
        case storage(StorageFault)
        /// An event up to the head is missing: it is damaged, or the room was removed meanwhile.
        case incompleteRoom(id: String, seq: Int)
    }

    /// The number of bytes that are gathered before they are written.
    private static let chunk = 1 << 16

    private let archive: any LogArchive
    private let write: ([UInt8]) async -> Bool
    private let progress: (ArchiveCounts) -> Void
    private var counts = ArchiveCounts()
    private var buffer: [UInt8] = []
    private var isAlive = true

    /// Makes an exporter that passes its output to `write`, and now and then its counts to `progress`.
    ///
    /// If `write` returns false, the reader is gone, and the export ends.
    package init(
        _ archive: any LogArchive, write: @escaping ([UInt8]) async -> Bool,
        progress: @escaping (ArchiveCounts) -> Void = { _ in }
    ) {
        self.archive = archive
        self.write = write
        self.progress = progress
    }

    /// Exports the log; nil if the reader is gone.
    package mutating func export(version: String) async throws(Fault) -> ArchiveCounts? {
        let missing: (stream: UUID, seq: Int)?
        do throws(StorageFault) {
            await put(.header(format: ArchiveLine.format, version: version))
            missing = try await exportRooms()
            if missing == nil {
                try await exportCreationKeys()
                try await exportSessions()
            }
        } catch {
            throw .storage(error)
        }
        if let missing { throw .incompleteRoom(id: missing.stream.uuidString.lowercased(), seq: missing.seq) }
        await put(.end(counts))
        await flush()
        progress(counts)
        return isAlive ? counts : nil
    }

    /// Exports all rooms; returns the first missing event, or nil.
    private mutating func exportRooms() async throws(StorageFault) -> (stream: UUID, seq: Int)? {
        var last: UUID?
        while isAlive {
            let streams = try await archive.streams(in: .heads, after: last, limit: 1_000)
            guard let end = streams.last else { break }
            last = end
            for stream in streams where isAlive {
                if let seq = try await exportRoom(stream) { return (stream, seq) }
            }
        }
        return nil
    }

    /// Exports a room; returns the number of the first missing event, or nil.
    private mutating func exportRoom(_ stream: UUID) async throws(StorageFault) -> Int? {
        guard let archived = try await archive.archived(stream) else { return nil }
        await put(.room(ArchivedRoom(id: stream, head: archived.head, checksum: archived.checksum)))
        var last = 0
        while last < archived.head.version.seq, isAlive {
            let events = try await archive.events(
                of: stream, after: last, through: archived.head.version.seq, page: LogVerifier.page)
            guard !events.isEmpty else { return last + 1 }
            for event in events {
                guard event.seq == last + 1 else { return last + 1 }
                last = event.seq
                await put(.event(event))
            }
            counts.events += events.count
            progress(counts)
        }
        for kept in archived.keys { await put(.key(kept.key)) }
        counts.keys += archived.keys.count
        counts.rooms += 1
        return nil
    }

    private mutating func exportCreationKeys() async throws(StorageFault) {
        var last: CreationKey?
        while isAlive {
            let keys = try await archive.creationKeys(after: last, limit: 1_000)
            guard let end = keys.last else { return }
            last = end
            for key in keys { await put(.creation(key)) }
            counts.creations += keys.count
        }
    }

    private mutating func exportSessions() async throws(StorageFault) {
        var last: UUID?
        while isAlive {
            let sessions = try await archive.sessions(after: last, limit: 1_000)
            guard let end = sessions.last else { return }
            last = end.id
            for session in sessions { await put(.session(session)) }
            counts.sessions += sessions.count
            progress(counts)
        }
    }

    private mutating func put(_ line: ArchiveLine) async {
        buffer += line.encoded()
        buffer.append(0x0A)
        if buffer.count >= Self.chunk { await flush() }
    }

    private mutating func flush() async {
        if isAlive { isAlive = await write(buffer) }
        buffer.removeAll(keepingCapacity: true)
    }
}
