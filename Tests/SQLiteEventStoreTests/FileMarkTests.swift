import EventStorage
import Foundation
import GRDB
import Testing

@testable import SQLiteEventStore

@Suite struct FileMarkTests {
    private static let first = FileMark().next()
    private static let second = first.next()

    @Test func `a mark is read back from the number that SQLite keeps`() throws {
        #expect(FileMark(0) == FileMark())
        for mark in [Self.first, Self.second.becoming(.moved), Self.second.next().becoming(.whole)] {
            #expect(FileMark(mark.userVersion) == mark)
            #expect(Int32(exactly: mark.userVersion) != nil)
        }
        #expect(FileMark(3) == nil)
        #expect(FileMark(1 << 30) == nil)
        #expect(FileMark(-2) == nil)
    }

    @Test func `an era is followed by another one that names it`() {
        for _ in 0..<100 {
            let next = Self.second.becoming(.moved).next()
            #expect(next.base == Self.second.era && next.state == .open)
            #expect(![0, Self.first.era, Self.second.era].contains(next.era))
        }
    }

    @Test(
        arguments: [
            // Nothing of the log was moved.
            (second, first.becoming(.moved), 5, true), (second, first.becoming(.whole), 5, true),
            (second.becoming(.moved), first.becoming(.moved), 5, true),
            // A migration is in the log.
            (second, first.becoming(.moved), 4, true),
            // A part of the log was moved, or all of it, and another one has not begun.
            (second, second, 5, true), (second.becoming(.moved), second, 5, true),
            (second.becoming(.moved), second.becoming(.moved), 5, true),
            (second.becoming(.whole), second.becoming(.moved), 5, true),
            // Copies that SQLite has made: in the middle of the log's era, and before it.
            (second, second, 4, false), (second, first, 5, false), (second, FileMark(), 5, false),
            // A log of before that the file has already, and one of another file.
            (second, second.becoming(.moved), 5, false), (second, second.becoming(.whole), 5, false),
            (second.becoming(.moved), second.becoming(.whole), 5, false),
            (first, second.becoming(.moved), 5, false), (second, FileMark().next().becoming(.moved), 5, false),
            // A store of an earlier release.
            (FileMark(), FileMark(), 4, true), (FileMark().becoming(.moved), FileMark(), 4, true),
            (first, FileMark().becoming(.moved), 5, true), (first, FileMark(), 5, false),
        ] as [(FileMark, FileMark, Int, Bool)])
    func `a log is told from another file's`(log: FileMark, file: FileMark, schema: Int, fits: Bool) {
        let header = FileHeader(mark: log, schemaVersion: 5)
        #expect(header.fits(file: FileHeader(mark: file, schemaVersion: schema)) == fits)
    }

    @Test func `a log that a reader holds back fits its file, before and after the rest is moved`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let reader = try DatabaseQueue(path: store.path, configuration: configuration)
            try await reader.writeWithoutTransaction { db in
                try db.execute(sql: "BEGIN")
                _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sessions")
            }
            for _ in 0..<3 {
                try await store.insert(session())
                try await store.outsideTransaction { db in
                    let isMoved = try db.moveLog(.passive)
                    #expect(!isMoved)
                }
                try await expectFits(store)
            }
            try await reader.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
            for _ in 0..<3 {
                try await store.insert(session())
                try await store.outsideTransaction { db in
                    let isMoved = try db.moveLog(.passive)
                    #expect(isMoved)
                }
                try await expectFits(store)
            }
            try reader.close()
            try await store.close()
        }
    }

    @Test func `a long log is moved, and a short one is not`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            try await store.claim()
            func fileMark() async throws -> Data {
                try Data(contentsOf: URL(filePath: store.path))[60..<64]
            }
            let before = try await fileMark()
            try await store.insert(session())
            #expect(try await fileMark() == before)
            // Each probe writes some 16 pages.
            for _ in 0..<2 * LogLength.bound / 16 { try await store.probeWriting() }
            #expect(try await fileMark() != before)
            try await expectFits(store)
            try await store.close()
        }
    }

    @Test func `opening a copy leaves SQLite's number of its schema as it is`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            let before = try await store.read { try Int.fetchOne($0, sql: "PRAGMA schema_version") }
            try await store.close()
            let again = try await SQLiteStore.open(directory: directory)
            #expect(try await again.read { try Int.fetchOne($0, sql: "PRAGMA schema_version") } == before)
            try await again.close()
        }
    }

    private func expectFits(_ store: SQLiteStore) async throws {
        try await store.outsideTransaction { db in
            let mark = try db.markOfFileAndLog()
            #expect(mark != nil)
        }
    }

    private func session() -> SessionRecord {
        let id = UUID()
        return SessionRecord(id: id, tokenHash: Array(id.uuidString.utf8), name: "n", createdAt: 0, expiresAt: 1)
    }
}
