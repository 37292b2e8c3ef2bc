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
        for mark in [Self.first, Self.second.becoming(.moved), Self.second.next().becoming(.held)] {
            #expect(FileMark(mark.userVersion) == mark)
            #expect(Int32(exactly: mark.userVersion) != nil)
        }
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

    private static let schema = FileHeader.drawnVersions.lowerBound

    @Test(
        arguments: [
            // Nothing of the log was moved: the file has the end of the era before.
            (second, first.becoming(.moved), 0, true), (second, first.becoming(.whole), 0, true),
            (second.becoming(.moved), first.becoming(.moved), 0, true),
            // A migration is in the log.
            (second, first.becoming(.moved), -20, true), (second, second, -20, true),
            // A part of the log was moved, or all of it, and another one has not begun.
            (second, second, 0, true), (second.becoming(.moved), second, 0, true),
            (second.becoming(.moved), second.becoming(.whole), 0, true),
            (second.becoming(.held), second.becoming(.moved), 0, true),
            (second.becoming(.whole), second.becoming(.moved), 0, true),
            // Copies that SQLite has made: they have another number.
            (second, second, 1 - schema, false), (second, second, 1, false),
            (second.becoming(.moved), second.becoming(.moved), 1 - schema, false),
            (second, first.becoming(.moved), 1 - schema, false),
            // Copies of the file from before: in the middle of an era, and without a mark.
            (second, first, 0, false), (second, FileMark(), 0, false),
            // A log of before, all of which the file has, and one of another file.
            (second, second.becoming(.moved), 0, false), (second, second.becoming(.whole), 0, false),
            (second, first.becoming(.held), 0, false),
            (first, second.becoming(.moved), 0, false), (second, FileMark().next().becoming(.moved), 0, false),
            // A store of an earlier release.
            (FileMark(), FileMark(), -40, true), (FileMark().becoming(.moved), FileMark(), -40, true),
            (first, FileMark().becoming(.moved), 0, true), (first, FileMark(), 0, false),
        ] as [(FileMark, FileMark, Int, Bool)])
    func `a log is told from another file's`(log: FileMark, file: FileMark, difference: Int, fits: Bool) {
        let header = FileHeader(mark: log, schemaVersion: Self.schema)
        #expect(header.fits(file: FileHeader(mark: file, schemaVersion: Self.schema + difference)) == fits)
    }

    @Test func `a log that a reader holds back fits its file, before and after the rest is moved`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            let reader = try await openReader(store)
            for _ in 0..<3 {
                try await store.insert(session())
                try await store.outsideTransaction { db in
                    let isMoved = try db.moveLog(.passive)
                    #expect(!isMoved)
                }
                try await expectFits(store)
            }
            try reader.close()
            for _ in 0..<3 {
                try await store.insert(session())
                try await store.outsideTransaction { db in
                    let isMoved = try db.moveLog(.passive)
                    #expect(isMoved)
                }
                try await expectFits(store)
            }
            try await store.close()
        }
    }

    @Test func `a long log is moved, and a short one is not`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            let before = try fileMark(in: store)
            try await store.insert(session())
            #expect(try fileMark(in: store) == before)
            // Each probe writes some 16 pages.
            for _ in 0..<2 * LogLength.bound / 16 { try await store.probeWriting() }
            #expect(try fileMark(in: store) != before)
            try await expectFits(store)
            try await store.close()
        }
    }

    @Test func `a file without a log begins an era when it is opened to be written, and only then`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            let made = try await store.read { try $0.fileHeader() }
            #expect(FileHeader.drawnVersions.contains(made.schemaVersion))
            try await store.close()

            let closed = try fileMark(in: store)
            let reader = try await SQLiteStore.open(directory: directory, to: .reading)
            #expect(try await reader.read { try $0.fileHeader() }.mark == closed)
            // Not while somebody else has it open.
            let second = try await SQLiteStore.open(directory: directory)
            let (before, beside) = (made.schemaVersion, try await second.read { try $0.fileHeader() }.schemaVersion)
            #expect((before..<before + 1_000).contains(beside))
            try await second.close(emptyingLog: false)
            try await reader.close()

            let again = try await SQLiteStore.open(directory: directory)
            let header = try await again.read { try $0.fileHeader() }
            #expect(header.mark.era != closed?.era && header.schemaVersion != made.schemaVersion)
            try await again.close()
        }
    }

    @Test func `a store in use is told from a copy that SQLite made of it, also if it was one itself`() async throws {
        try await withScratchDirectory { directory in
            var store = try await openMigrated(directory)
            for _ in 0..<3 {
                try await store.insert(session())
                let copy = try DatabaseQueue(path: directory + "/copy.sqlite")
                try DatabaseQueue(path: store.path).backup(to: copy)
                try copy.close()
                let header = try await store.read { db in
                    try DatabaseQueue(path: directory + "/copy.sqlite").inDatabase { copy in
                        (try #require(try db.markOfFileAndLog()), try copy.fileHeader())
                    }
                }
                let seen = FileHeader(
                    mark: header.0,
                    schemaVersion: try await store.read { db in
                        try Int.fetchOne(db, sql: "PRAGMA schema_version") ?? 0
                    })
                #expect(!seen.fits(file: header.1))
                try await store.close()
                try FileManager.default.removeItem(atPath: store.path)
                try FileManager.default.moveItem(atPath: directory + "/copy.sqlite", toPath: store.path)
                store = try await SQLiteStore.open(directory: directory)
            }
            try await store.close()
        }
    }

    private func fileMark(in store: SQLiteStore) throws -> FileMark? {
        let bytes = try Data(contentsOf: URL(filePath: store.path))[60..<64]
        return FileMark(bytes.reduce(0) { $0 << 8 | Int($1) })
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
