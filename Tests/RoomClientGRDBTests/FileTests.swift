import Foundation
import GRDB
import RoomClient
import Testing

@testable import RoomClientGRDB

/// The files of a store: permissions, owners, and files that are not what they should be.
@Suite struct FileTests {
    @Test func `directories and files are the owner's alone`() async throws {
        try await withScratchPath { path in
            let directory = (path as NSString).deletingLastPathComponent
            let store = try DatabaseStore(path: directory + "/a/b/party.sqlite")
            try await store.put(command(1))
            #expect(try ["", "/a", "/a/b"].map { try mode(directory + $0) } == [0o700, 0o700, 0o700])
            let files = ["", "-wal", "-shm", "-lock"].map { store.path + $0 }
            #expect(try files.map(mode) == [0o600, 0o600, 0o600, 0o600])
            await store.close()
        }
    }

    @Test func `files that others may read become the owner's alone`() async throws {
        try await withScratchPath { path in
            let directory = (path as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
            let first = try DatabaseStore(path: path)
            try await first.put(command(1))
            await first.close()
            try FileManager.default.setAttributes([.posixPermissions: 0o664], ofItemAtPath: path)
            let second = try DatabaseStore(path: path)
            try await second.put(command(2))
            #expect(try [path, path + "-wal"].map(mode) == [0o600, 0o600])
            #expect(try mode(directory) == 0o755)
            await second.close()
        }
    }

    @Test func `every change waits for the disk`() async throws {
        try await withScratchPath { path in
            let store = try DatabaseStore(path: path)
            #expect(try await store.perform { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == 2)
            #expect(try await store.perform { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
            #expect(try await store.perform { try Int.fetchOne($0, sql: "PRAGMA secure_delete") } == 1)
        }
    }

    @Test func `a token that was forgotten is in no file`() async throws {
        try await withScratchPath { path in
            let store = try DatabaseStore(path: path)
            try await store.setToken("a-secret-token")
            #expect(try contains("a-secret-token", path))
            try await store.setToken("another-secret")
            try await store.setToken(nil)
            #expect(try !contains("a-secret-token", path))
            #expect(try !contains("another-secret", path))
            await store.close()
        }
    }

    @Test(arguments: ["", "/no directory"])
    func `a path that cannot be used is refused`(path: String) async {
        let fault = await fault { _ = try DatabaseStore(path: "/dev/null" + path + "/party.sqlite") }
        #expect(fault?.code == .unreachable)
        #expect(fault?.message.contains("/dev/null") == true)
    }

    // MARK: One store at a time

    @Test func `a second store is refused until the first is closed or let go`() async throws {
        try await withScratchPath { path in
            let first = try DatabaseStore(path: path)
            let refusal = await fault { _ = try DatabaseStore(path: path) }
            #expect(refusal?.description == "in_use: the store \(first.path) is in use by this process")
            #expect(await fault { try DatabaseStore.removeFiles(at: path) }?.code == .inUse)
            try await first.put(command(1))
            await first.close()
            await first.close()
            #expect(await fault { try await first.put(command(2)) }?.code == .closed)
            #expect(await fault { _ = try await first.load() }?.code == .closed)
            do {
                let second = try DatabaseStore(path: path)
                #expect(try await second.load().outbox == [command(1)])
            }
            let third = try DatabaseStore(path: path)
            #expect(try await third.load().lastOrdinal == 1)
        }
    }

    @Test func `a store of another process is refused, and its killing lets it go`() async throws {
        try await withScratchPath { path in
            let store = try DatabaseStore(path: path)
            await #expect(processExitsWith: .success) { [path = path as String, parent = getpid() as Int32] in
                let refusal = await fault { _ = try DatabaseStore(path: path) }
                #expect(refusal?.code == .inUse)
                #expect(refusal?.message.hasSuffix("is in use by process \(parent)") == true)
            }
            await store.close()
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
                let store = try DatabaseStore(path: path)
                try await store.put(command(1))
                kill(getpid(), SIGKILL)
            }
            let next = try DatabaseStore(path: path)
            #expect(try await next.load().outbox == [command(1)])
        }
    }

    @Test func `of processes that open one new file at once, one has it at a time`() async throws {
        try await withScratchPath { path in
            await withTaskGroup { group in
                for process in 0..<4 {
                    group.addTask {
                        await #expect(processExitsWith: .success) { [path = path as String, process = process as Int] in
                            for turn in 0..<5 {
                                let store = try await open(path)
                                let last = try await store.load().lastOrdinal
                                var command = command(last + 1)
                                command.key = "\(process).\(turn)"
                                try await store.put(command)
                                await store.close()
                            }
                        }
                    }
                }
            }
            let loaded = try await DatabaseStore(path: path).load()
            #expect(loaded.outbox.map(\.ordinal) == Array(1...20))
            #expect(Set(loaded.outbox.map(\.key)).count == 20)
        }
    }

    @Test func `a tool may read the file while a store has it`() async throws {
        try await withScratchPath { path in
            let store = try DatabaseStore(path: path)
            try await store.put(command(1))
            var configuration = Configuration()
            configuration.readonly = true
            let tool = try DatabaseQueue(path: path, configuration: configuration)
            #expect(try await tool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM outbox") } == 1)
            try await store.put(command(2))
            #expect(try await tool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM outbox") } == 2)
        }
    }

    // MARK: Files that are something else

    @Test func `a file that is no database is refused and not changed`() async throws {
        try await withScratchPath { path in
            try make(path, Data("nothing that SQLite knows, in a file that is long enough to have a header".utf8))
            let before = try Data(contentsOf: URL(filePath: path))
            let fault = await fault { _ = try DatabaseStore(path: path) }
            #expect(fault?.code == .corrupt)
            #expect(fault?.message.contains(path) == true)
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
            try DatabaseStore.removeFiles(at: path)
            try DatabaseStore.removeFiles(at: path)
            let store = try DatabaseStore(path: path)
            #expect(try await store.load() == StoredClient())
        }
    }

    @Test func `a database of another program is refused and not changed`() async throws {
        try await withScratchPath { path in
            try make(path, Data())
            let other = try DatabaseQueue(path: path)
            try await other.write { try $0.execute(sql: "CREATE TABLE rooms (room TEXT)") }
            try other.close()
            let before = try Data(contentsOf: URL(filePath: path))
            #expect(await fault { _ = try DatabaseStore(path: path) }?.code == .foreign)
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
            #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
        }
    }

    @Test func `a file of a newer release is refused and not changed`() async throws {
        try await withScratchPath { path in
            let store = try DatabaseStore(path: path)
            try await store.put(command(1))
            try await store.perform { db in
                try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('2 of a later release')")
            }
            await store.close()
            let before = try Data(contentsOf: URL(filePath: path))
            #expect(await fault { _ = try DatabaseStore(path: path) }?.code == .newer)
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
        }
    }

    @Test(arguments: [0, 1, 99, 100, 1_000, 4_096, 5_000])
    func `a file that was cut is refused, or empty if nothing is left of it`(length: Int) async throws {
        try await withScratchPath { path in
            let store = try DatabaseStore(path: path)
            for ordinal in 1...50 { try await store.put(command(ordinal)) }
            try await store.save(room(1, bytes: 50_000), of: try reference("7KQ2ZM"))
            await store.close()
            try make(path, try Data(contentsOf: URL(filePath: path)).prefix(length))
            let fault = await fault {
                let store = try DatabaseStore(path: path)
                _ = try await store.load()
                _ = try await store.room(try reference("7KQ2ZM"))
            }
            // SQLite takes a file of one byte for an empty one.
            #expect(fault?.code == (length <= 1 ? nil : .corrupt))
        }
    }

    @Test func `damage inside the file is told where it is read`() async throws {
        try await withScratchPath { path in
            let store = try DatabaseStore(path: path)
            try await store.put(command(1))
            try await store.save(room(1, bytes: 50_000), of: try reference("7KQ2ZM"))
            let page = try await store.perform { db in
                try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'outbox'")
            }
            await store.close()
            var bytes = try Data(contentsOf: URL(filePath: path))
            let start = (try #require(page) - 1) * 4_096
            bytes.replaceSubrange(start..<start + 4_096, with: [UInt8](repeating: 0xa5, count: 4_096))
            try make(path, bytes)
            let damaged = try DatabaseStore(path: path)
            #expect(await fault { _ = try await damaged.load() }?.code == .corrupt)
            #expect(await fault { try await damaged.put(command(2)) }?.code == .corrupt)
            #expect(try await damaged.room(try reference("7KQ2ZM"))?.state.count == 50_000)
        }
    }
}

/// Opens a store as soon as no other process has it.
private func open(_ path: String) async throws -> DatabaseStore {
    while true {
        let opened = Result { () throws(StoreFault) in try DatabaseStore(path: path) }
        guard case .failure(let fault) = opened, fault.code == .inUse else { return try opened.get() }
        try await Task.sleep(for: .milliseconds(1))
    }
}

private func make(_ path: String, _ bytes: Data) throws {
    try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try bytes.write(to: URL(filePath: path))
}

private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? NSNumber).intValue
}

/// Whether a text is in the database's file or in its log.
private func contains(_ text: String, _ path: String) throws -> Bool {
    try [path, path + "-wal"].contains { try Data(contentsOf: URL(filePath: $0)).range(of: Data(text.utf8)) != nil }
}
