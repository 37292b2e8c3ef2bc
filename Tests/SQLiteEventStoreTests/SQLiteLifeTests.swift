import EventStorage
import Foundation
import GRDB
import Testing

@testable import SQLiteEventStore

@Suite struct SQLiteLifeTests {
    @Test func `the directory and the file are made where they are missing`() async throws {
        try await withScratchDirectory { directory in
            let nested = directory + "/a/b"
            let store = try await SQLiteStore.open(directory: nested)
            #expect(store.path == nested + "/backline.sqlite")
            #expect(FileManager.default.fileExists(atPath: store.path))
            let mode = try FileManager.default.attributesOfItem(atPath: nested)[.posixPermissions] as? Int
            #expect(mode == 0o700)
            try await store.close()
        }
    }

    @Test func `a directory that cannot be made is named`() async throws {
        try await withScratchDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try Data().write(to: URL(filePath: directory + "/file"))
            let fault = await #expect(throws: StorageFault.self) {
                try await SQLiteStore.open(directory: directory + "/file/data")
            }
            guard case .unreachable(let cause)? = fault else {
                Issue.record("the fault was \(fault as StorageFault?)")
                return
            }
            #expect(cause.message == "the directory \(directory)/file/data cannot be made: Not a directory")
        }
    }

    @Test func `a file that cannot be opened is named`() async throws {
        try await withScratchDirectory { directory in
            let file = directory + "/backline.sqlite"
            try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
            let fault = await #expect(throws: StorageFault.self) {
                try await SQLiteStore.open(directory: directory)
            }
            guard case .unreachable(let cause)? = fault else {
                Issue.record("the fault was \(fault as StorageFault?)")
                return
            }
            #expect(cause.message == "the database \(file) cannot be opened: \(file) is not a file")
        }
    }

    @Test func `a file that is no database is corrupt`() async throws {
        try await withScratchDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try Data(repeating: 0x41, count: 8_192).write(to: URL(filePath: directory + "/backline.sqlite"))
            let fault = await #expect(throws: StorageFault.self) {
                try await SQLiteStore.open(directory: directory)
            }
            guard case .corrupt(let cause)? = fault else {
                Issue.record("the fault was \(fault as StorageFault?)")
                return
            }
            #expect(cause.message.contains(directory))
        }
    }

    @Test func `questions about what is counted and reads of the log do not wait for each other`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            // Three readers answer questions, four read the log.
            for (areQuestions, readers) in [(true, 3), (false, 4)] {
                let (entered, left) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
                try await withThrowingTaskGroup { group in
                    defer { for _ in 0..<readers { left.signal() } }
                    for _ in 0..<readers {
                        group.addTask {
                            let hold = { @Sendable (_: Database) in
                                entered.signal()
                                left.wait()
                            }
                            if areQuestions { try await store.ask(hold) } else { try await store.read(hold) }
                        }
                    }
                    for _ in 0..<readers {
                        await withCheckedContinuation { reached in
                            Thread.detachNewThread {
                                entered.wait()
                                reached.resume()
                            }
                        }
                    }
                    let count = { @Sendable db in try Int.fetchOne(db, sql: "SELECT 0") }
                    let other = areQuestions ? try await store.read(count) : try await store.ask(count)
                    #expect(other == 0)
                }
            }
            try await store.close()
        }
    }

    @Test func `commits are on the disk when they return, and what is deleted is overwritten`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            let settings = try await store.write { db in
                [
                    try String.fetchOne(db, sql: "PRAGMA journal_mode"),
                    try String.fetchOne(db, sql: "PRAGMA synchronous"),
                    try String.fetchOne(db, sql: "PRAGMA secure_delete"),
                ]
            }
            // synchronous is FULL (2).
            #expect(settings == ["wal", "2", "1"])
            try await store.close()
        }
    }

    @Test func `a closed store answers closed and may be closed again`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            try await store.close()
            try await store.close()
            await #expect(throws: StorageFault.closed) { try await store.checkHealth() }
            await #expect(throws: StorageFault.closed) { try await store.heads(of: []) }
            await #expect(throws: StorageFault.closed) { try await store.insert(session(1)) }
        }
    }

    @Test func `closing waits for what has begun`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            let kept = await withTaskGroup(of: Int?.self) { group in
                for n in 0..<200 {
                    group.addTask {
                        do {
                            try await store.insert(session(n))
                            return n
                        } catch {
                            #expect(error as? StorageFault == .closed)
                            return nil
                        }
                    }
                    group.addTask {
                        do {
                            _ = try await store.session(tokenHash: session(n).tokenHash)
                        } catch {
                            #expect(error as? StorageFault == .closed)
                        }
                        return nil
                    }
                    if n == 100 {
                        group.addTask {
                            await #expect(throws: Never.self) { try await store.close() }
                            return nil
                        }
                    }
                }
                return await group.reduce(into: []) { kept, n in n.map { kept.append($0) } }
            }
            let again = try await openMigrated(directory)
            let found = try await again.sessionsToRemove(at: .max, limit: 1_000)
            #expect(Set(found.map(\.name)) == Set(kept.map(String.init)))
            try await again.close()
        }
    }

    @Test func `a cancelled task's append is carried out all the same`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                try await store.insert(session(1))
            }
            task.cancel()
            try await task.value
            #expect(try await store.session(tokenHash: session(1).tokenHash) == session(1))
            try await store.close()
        }
    }

    @Test func `a lock that another process holds too long is a transient fault`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            let impatient = try await SQLiteStore.open(directory: directory, lockTimeout: 0.05)
            let (isLocked, locked) = AsyncStream<Void>.makeStream()
            let release = DispatchSemaphore(value: 0)
            let holder = Task {
                try await store.write { _ in
                    locked.finish()
                    release.wait()
                }
            }
            for await _ in isLocked {}
            for call in [impatient.checkHealth, { try await impatient.insert(session(1)) }] {
                let fault = await #expect(throws: StorageFault.self) { try await call() }
                guard case .transient(let cause)? = fault else {
                    Issue.record("the fault was \(fault as StorageFault?)")
                    continue
                }
                #expect(cause.code == "5")
            }
            // Reads still work.
            #expect(try await impatient.session(tokenHash: session(1).tokenHash) == nil)
            release.signal()
            try await holder.value
            try await impatient.insert(session(1))
            try await impatient.close()
            try await store.close()
        }
    }

    @Test func `a full disk is an exhausted fault and nothing is written`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            try await store.write { try $0.execute(sql: "PRAGMA max_page_count = 1") }
            var large = session(1)
            large.name = String(repeating: "x", count: 1_000_000)
            let fault = await #expect(throws: StorageFault.self) { try await store.insert(large) }
            guard case .exhausted(let cause)? = fault else {
                Issue.record("the fault was \(fault as StorageFault?)")
                return
            }
            #expect(cause == StorageFault.Cause(code: "13", message: "database or disk is full"))
            #expect(try await store.session(tokenHash: large.tokenHash) == nil)
            try await store.write { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
            try await store.insert(large)
            try await store.close()
        }
    }

    @Test func `a column that does not hold what was written is a corrupt fault`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            try await store.insert(session(1))
            try await store.write { try $0.execute(sql: "UPDATE sessions SET session_id = x'0102'") }
            let fault = await #expect(throws: StorageFault.self) {
                try await store.session(tokenHash: session(1).tokenHash)
            }
            guard case .corrupt? = fault else {
                Issue.record("the fault was \(fault as StorageFault?)")
                return
            }
            try await store.close()
        }
    }

    @Test func `a store without its schema rejects what it is asked for`() async throws {
        try await withScratchDirectory { directory in
            let store = try await SQLiteStore.open(directory: directory)
            let fault = await #expect(throws: StorageFault.self) { try await store.heads(of: [UUID()]) }
            guard case .rejected(let cause)? = fault else {
                Issue.record("the fault was \(fault as StorageFault?)")
                return
            }
            #expect(cause.message == "no such table: heads")
            try await store.close()
        }
    }

    @Test(
        arguments: [
            (.SQLITE_BUSY, .transient(.init(code: "5", message: "m"))),
            (.SQLITE_BUSY_SNAPSHOT, .transient(.init(code: "517", message: "m"))),
            (.SQLITE_FULL, .exhausted(.init(code: "13", message: "m"))),
            (.SQLITE_IOERR_NOMEM, .exhausted(.init(code: "3082", message: "m"))),
            (.SQLITE_IOERR_SHMSIZE, .exhausted(.init(code: "4874", message: "the disk is full"))),
            (.SQLITE_IOERR_FSYNC, .unreachable(.init(code: "1034", message: "m"))),
            (.SQLITE_READONLY, .unreachable(.init(code: "8", message: "m"))),
            (.SQLITE_CORRUPT, .corrupt(.init(code: "11", message: "m"))),
            (.SQLITE_CONSTRAINT_UNIQUE, .rejected(.init(code: "2067", message: "m"))),
        ] as [(ResultCode, StorageFault)])
    func `result codes are faults of their kind`(code: ResultCode, fault: StorageFault) {
        #expect(StorageFault(DatabaseError(resultCode: code, message: "m", sql: "SELECT secret")) == fault)
    }

    @Test func `a failed commit is of unknown outcome unless a lock stopped it`() {
        let cause = StorageFault.Cause(code: "1", message: "m")
        #expect(StorageFault.unreachable(cause).ofCommit == .outcomeUnknown(cause))
        #expect(StorageFault.exhausted(cause).ofCommit == .outcomeUnknown(cause))
        #expect(StorageFault.transient(cause).ofCommit == .transient(cause))
    }
}

/// The `n`th session; its number is its name.
private func session(_ n: Int) -> SessionRecord {
    SessionRecord(
        id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(n >> 8), UInt8(n & 0xff))),
        tokenHash: [UInt8(n >> 8), UInt8(n & 0xff)], name: "\(n)", createdAt: 0, expiresAt: 1)
}
