package import EventStorage
import FoundationEssentials
import RoomDomain
import RoomWire

/// Imports an export of ``LogExporter`` into an empty store.
///
/// Every event is decoded, folded and compared with its checksum; directory rows and memberships are made from the
/// fold. From the first write to the last, the store is marked: an interrupted import leaves a store that no server
/// serves from and that accepts no import. Memory holds one room's fold and one batch.
package struct LogImporter {
    /// The reason why an import fails.
    package enum Fault: Error, Hashable, Sendable {
        case storage(StorageFault)
        /// The store is not empty.
        case notEmpty
        /// An invalid line; lines count from 1.
        case line(Int, String)
        /// The last line is missing.
        case cut(afterLine: Int)
    }

    /// The most events and keys, and the most of their bytes, that are written at a time.
    private static let batchRows = 2_000
    private static let batchBytes = 1 << 20

    private let archive: any LogArchive
    private let progress: (ArchiveCounts) -> Void
    private var batch = ImportBatch()
    private var batchSize = (rows: 0, bytes: 0)
    private var room: ImportedRoom?
    private var counts = ArchiveCounts()
    private var line = 0
    private var hasEnded = false

    /// Makes an importer that now and then passes its counts to `progress`.
    package init(_ archive: any LogArchive, progress: @escaping (ArchiveCounts) -> Void = { _ in }) {
        self.archive = archive
        self.progress = progress
    }

    /// Imports lines without their line feeds: those that `next` returns until it returns nil.
    package mutating func run(
        _ next: () async throws(Fault) -> ArraySlice<UInt8>?
    ) async throws(Fault) -> ArchiveCounts {
        guard let first = try await next() else { throw .cut(afterLine: 0) }
        line = 1
        guard case .header(let format, let version) = try parse(first) else {
            throw .line(1, "it must say what this is: {\"backline\":…}")
        }
        guard ArchiveLine.readableFormats.contains(format) else {
            throw .line(
                1, "this program does not know the format \(format); import with backline \(version) or newer")
        }
        guard try await stored({ (archive) throws(StorageFault) in try await archive.beginImport() }) else {
            throw .notEmpty
        }
        while let text = try await next() {
            line += 1
            guard !hasEnded else { throw .line(line, "something follows the last line") }
            try await take(try parse(text))
        }
        guard hasEnded else { throw .cut(afterLine: line) }
        try await stored { (archive) throws(StorageFault) in try await archive.finishImport() }
        progress(counts)
        return counts
    }

    private func stored<Value>(
        _ body: (any LogArchive) async throws(StorageFault) -> Value
    ) async throws(Fault) -> Value {
        do throws(StorageFault) {
            return try await body(archive)
        } catch {
            throw .storage(error)
        }
    }

    private func parse(_ text: ArraySlice<UInt8>) throws(Fault) -> ArchiveLine {
        do throws(ArchiveLineFault) {
            return try ArchiveLine(parsing: text)
        } catch {
            throw .line(line, error.message)
        }
    }

    // MARK: Lines

    private mutating func take(_ parsed: ArchiveLine) async throws(Fault) {
        switch parsed {
        case .header: throw .line(line, "a second header")
        case .room(let head):
            try endRoom()
            room = ImportedRoom(head)
        case .event(let event):
            try inRoom { (room) throws(ArchiveLineFault) in try room.take(event) }
            counts.events += 1
            batchSize.rows += 1
            batchSize.bytes += event.payload.count
        case .key(let key):
            try inRoom { (room) throws(ArchiveLineFault) in try room.take(key) }
            counts.keys += 1
            batchSize.rows += 1
            batchSize.bytes += key.result?.count ?? 0
        case .waveform(let waveform):
            try inRoom { (room) throws(ArchiveLineFault) in try room.take(waveform) }
            counts.waveforms += 1
            batchSize.rows += 1
            batchSize.bytes += waveform.data.count
        case .creation(let key):
            try endRoom()
            batch.creationKeys.append(key)
            counts.creations += 1
        case .session(let session):
            try endRoom()
            batch.sessions.append(session)
            counts.sessions += 1
        case .end(let promised):
            try endRoom()
            guard promised == counts else {
                throw .line(line, "the export had \(promised.text), this file has \(counts.text)")
            }
            hasEnded = true
        }
        let rows = batch.streams.count + batch.creationKeys.count + batch.sessions.count
        if hasEnded || batchSize.rows >= Self.batchRows || batchSize.bytes >= Self.batchBytes || rows >= 1_000 {
            try await flush()
        }
    }

    private mutating func inRoom(
        _ body: (inout ImportedRoom) throws(ArchiveLineFault) -> Void
    ) throws(Fault) {
        guard var current = room else { throw .line(line, "it belongs to no room") }
        // The fold is changed in place, because nothing else holds a copy of it.
        room = nil
        do throws(ArchiveLineFault) {
            try body(&current)
        } catch {
            throw .line(line, "room \(current.id): \(error.message)")
        }
        room = current
    }

    private mutating func endRoom() throws(Fault) {
        guard room != nil else { return }
        var part: ImportedStream?
        try inRoom { (room) throws(ArchiveLineFault) in part = try room.finish() }
        room = nil
        if let part { batch.streams.append(part) }
        counts.rooms += 1
    }

    private mutating func flush() async throws(Fault) {
        if let part = room?.takePart() { batch.streams.append(part) }
        let (full, line) = (batch, line)
        batch = ImportBatch()
        batchSize = (0, 0)
        do throws(StorageFault) {
            try await archive.write(full)
        } catch .rejected(let cause) {
            throw .line(line, "what was read up to here cannot be written: \(cause.message)")
        } catch {
            throw .storage(error)
        }
        progress(counts)
    }
}

extension ArchiveCounts {
    fileprivate var text: String {
        "\(rooms) rooms, \(events) events, \(keys) keys, \(waveforms) waveforms, \(creations) creation keys, \(sessions) sessions"
    }
}
