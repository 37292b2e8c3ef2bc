import EventStorage
import Foundation
import LogTestSupport
import RoomTestSupport
import Synchronization
import Testing

@testable import LogMaintenance

/// Fills a store with some rooms of all kinds: open and closed, with and without snapshots.
func fill(_ store: any EventStore, seed: UInt64) async throws -> [UUID] {
    var filler = LogFiller(store, seed: seed)
    return [
        try await filler.makeRoom(events: 1_100).room, try await filler.makeRoom(events: 120).room,
        try await filler.makeRoom(events: 60, closes: true).room,
        try await filler.makeRoom(events: 30, forgets: true).room,
    ]
}

/// Runs blocking work on a thread of its own: tasks' threads are few and shared with other tests.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
    }
}

/// The findings of a verification.
func findings(in archive: any LogArchive) async throws -> [Finding] {
    let found = Mutex<[Finding]>([])
    let verification = try await LogVerifier(archive) { finding in found.withLock { $0.append(finding) } }.verify()
    #expect(verification.findings == found.withLock { $0.count })
    return found.withLock { $0 }
}

/// The lines of an export, without line feeds.
func export(_ archive: any LogArchive) async throws -> [[UInt8]] {
    let text = Mutex<[UInt8]>([])
    var exporter = LogExporter(archive) { bytes in
        text.withLock { $0 += bytes }
        return true
    }
    let counts = try #require(try await exporter.export(version: "1"))
    let lines = text.withLock { $0.split(separator: 0x0A).map(Array.init) }
    #expect(
        lines.count == 2 + counts.rooms + counts.events + counts.keys + counts.waveforms + counts.creations
            + counts.sessions)
    return lines
}

/// Imports lines.
@discardableResult
func importLines(
    _ lines: [[UInt8]], into archive: any LogArchive
) async throws(LogImporter.Fault) -> ArchiveCounts {
    var rest = lines[...]
    var importer = LogImporter(archive)
    return try await importer.run { rest.popFirst()?[...] }
}
