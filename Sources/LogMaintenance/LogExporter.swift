package import EventStorage
import FoundationEssentials
import RoomDomain

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
        /// A waveform that a track has cannot be read, or was removed with the room meanwhile.
        case incompleteWaveform(room: String, name: String)
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
        let missing: Missing?
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
        if let missing { throw missing.fault }
        await put(.end(counts))
        await flush()
        progress(counts)
        return isAlive ? counts : nil
    }

    /// Exports all rooms; returns the first missing row, or nil.
    private mutating func exportRooms() async throws(StorageFault) -> Missing? {
        var last: UUID?
        while isAlive {
            let streams = try await archive.streams(in: .heads, after: last, limit: 1_000)
            guard let end = streams.last else { break }
            last = end
            for stream in streams where isAlive {
                if let missing = try await exportRoom(stream) { return missing }
            }
        }
        return nil
    }

    /// Exports a room; returns the first missing row, or nil.
    private mutating func exportRoom(_ stream: UUID) async throws(StorageFault) -> Missing? {
        guard let archived = try await archive.archived(stream) else { return nil }
        await put(.room(ArchivedRoom(id: stream, head: archived.head, checksum: archived.checksum)))
        var last = 0
        while last < archived.head.version.seq, isAlive {
            let events = try await archive.events(
                of: stream, after: last, through: archived.head.version.seq, page: LogVerifier.page)
            guard !events.isEmpty else { return .event(stream, seq: last + 1) }
            for event in events {
                guard event.seq == last + 1 else { return .event(stream, seq: last + 1) }
                last = event.seq
                await put(.event(event))
            }
            counts.events += events.count
            progress(counts)
        }
        for kept in archived.keys { await put(.key(kept.key)) }
        counts.keys += archived.keys.count
        if let missing = try await exportWaveforms(of: archived) { return missing }
        counts.rooms += 1
        return nil
    }

    /// Exports the waveforms that the room's tracks have at its head; returns the first one that is missing, or nil.
    private mutating func exportWaveforms(of archived: ArchivedStream) async throws(StorageFault) -> Missing? {
        var names = archived.attachments.filter { $0.unneededSince == nil }.map(\.name)[...]
        while !names.isEmpty, isAlive {
            let page = Array(names.prefix(LogVerifier.waveformsPerPage))
            names.removeFirst(page.count)
            let found = try await archive.attachments(page, of: archived.stream)
            for (index, name) in page.enumerated() {
                guard index < found.count, found[index].name == name,
                    let waveform = Waveform(data: found[index].bytes), waveform.name.description == name
                else { return .waveform(archived.stream, name: name) }
                await put(.waveform(waveform))
            }
            counts.waveforms += page.count
            progress(counts)
        }
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

    /// A row that a room's head needs.
    private enum Missing {
        case event(UUID, seq: Int)
        case waveform(UUID, name: String)

        var fault: Fault {
            switch self {
            case .event(let stream, let seq): .incompleteRoom(id: stream.uuidString.lowercased(), seq: seq)
            case .waveform(let stream, let name):
                .incompleteWaveform(room: stream.uuidString.lowercased(), name: name)
            }
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
