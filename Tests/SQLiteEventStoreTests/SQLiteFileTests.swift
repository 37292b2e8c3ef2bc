import EventStorage
import Foundation
import GRDB
import SchemaFiles
import Synchronization
import Testing

@testable import SQLiteEventStore

/// The files in the directory: their names, their permissions, and the contents of a copy of one.
@Suite struct SQLiteFileTests {
    @Test func `after closing the main file alone holds everything`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            for number in 0..<50 { try await store.insert(session(number)) }
            #expect(try size(store.path + "-wal") > 0)
            #expect(try await store.close() == nil)
            #expect(!FileManager.default.fileExists(atPath: store.path + "-wal"))
            #expect(try await names(inCopyOf: store.path) == 50)
        }
    }

    @Test func `a tool that reads leaves the log where it is`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            try await store.insert(session(1))
            let reader = try await SQLiteStore.open(directory: directory)
            let before = try size(store.path + "-wal")
            #expect(try await reader.close(emptyingLog: false) == nil)
            #expect(try size(store.path + "-wal") == before && before > 0)
            try await store.close()
        }
    }

    @Test func `a reader that holds the log back is told, and nothing is lost`() async throws {
        try await withScratchDirectory { directory in
            let store = try await SQLiteStore.open(directory: directory, lockTimeout: 0.05)
            _ = try await store.migrate().get()
            try await store.insert(session(1))
            let reader = try await openReader(store)
            try await store.insert(session(2))
            guard case .transient(let cause)? = try await store.close() else {
                Issue.record("the reader is not told of")
                return
            }
            #expect(cause.message.hasPrefix("the write-ahead log cannot be emptied: "))
            try reader.close()
            let again = try await SQLiteStore.open(directory: directory)
            #expect(try await again.sessionsToRemove(at: 1, limit: 9).count == 2)
            #expect(try await again.close() == nil)
            #expect(try await names(inCopyOf: store.path) == 2)
        }
    }

    @Test func `a new file that another process has locked is waited for, no longer than its limit`() async throws {
        try await withScratchDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let path = directory + "/" + SQLiteStore.fileName
            let other = try DatabaseQueue(path: path, configuration: configuration)
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            let fault = await #expect(throws: StorageFault.self) {
                try await SQLiteStore.open(directory: directory, lockTimeout: 0)
            }
            guard case .transient? = fault else {
                Issue.record("the fault was \(fault as StorageFault?)")
                return
            }
            let pauses = Atomic(0)
            let store = try await SQLiteStore.open(directory: directory, lockTimeout: 300) {
                if pauses.add(1, ordering: .relaxed).oldValue == 0 { try? other.close() }
            }
            #expect(pauses.load(ordering: .relaxed) == 1)
            #expect(try await store.migrate().get() == Schema.sqlite)
            try await store.close()
        }
    }

    @Test func `nobody but the owner may read the files, whoever may enter the directory`() async throws {
        try await withScratchDirectory { directory in
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
            let store = try await openMigrated(directory)
            try await store.insert(session(1))
            let files = ["", "-wal", "-shm"].map { store.path + $0 }
            #expect(try files.map(mode) == [0o600, 0o600, 0o600])
            #expect(try mode(directory) == 0o755)
            // Files of an earlier release get stricter permissions, even while they are in use.
            for file in files { try FileManager.default.setAttributes([.posixPermissions: 0o664], ofItemAtPath: file) }
            let second = try await SQLiteStore.open(directory: directory)
            #expect(try files.map(mode) == [0o600, 0o600, 0o600])
            try await second.close()
            try await store.close()
            #expect(try mode(store.path) == 0o600)
        }
    }

    @Test func `a directory that is made is its owner's alone`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory + "/a/b")
            #expect(try ["", "/a", "/a/b"].map { try mode(directory + $0) } == [0o700, 0o700, 0o700])
            try await store.close()
        }
    }

    @Test func `a probe writes and leaves nothing`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            let before = try size(store.path + "-wal")
            try await store.probeWriting()
            #expect(try size(store.path + "-wal") >= before + 65_536)
            #expect(try await store.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM events") } == 0)
            let grown = try await store.read { try Int.fetchOne($0, sql: "PRAGMA page_count") }
            for _ in 0..<20 { try await store.probeWriting() }
            #expect(try await store.read { try Int.fetchOne($0, sql: "PRAGMA page_count") } == grown)
            try await store.close()
        }
    }
}

/// The number of sessions in a copy of the main file alone.
private func names(inCopyOf path: String) async throws -> Int {
    try await withScratchDirectory { directory in
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: path, toPath: directory + "/" + SQLiteStore.fileName)
        let copy = try await SQLiteStore.open(directory: directory)
        let count = try await copy.sessionsToRemove(at: 1, limit: 99).count
        try await copy.close()
        return count
    }
}

private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? NSNumber).intValue
}

private func size(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber).intValue
}

/// The `n`th session, which has expired.
private func session(_ n: Int) -> SessionRecord {
    SessionRecord(
        id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(n >> 8), UInt8(n & 0xff))),
        tokenHash: [UInt8(n >> 8), UInt8(n & 0xff)], name: "\(n)", createdAt: 0, expiresAt: 1)
}
