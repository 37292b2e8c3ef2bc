import Foundation
import GRDB
import RandomTestSupport
import RoomClient
import Synchronization
import Testing

@testable import RoomClientGRDB

/// What is left of a store whose process, disk or device fails.
@Suite struct DurabilityTests {
    @Test func `every command that was put is there after the process is killed`() async throws {
        try await withScratchPath { path in
            var random = SeededRandom.fresh()
            var reported: [Int] = []
            for round in 0..<8 {
                let delay = Int.random(in: 1...60, using: &random)
                let report = path + ".report-\(round)"
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = path as String, report = report as String, delay = delay as Int] in
                    let store = try DatabaseStore(path: path)
                    try Data().write(to: URL(filePath: report))
                    let file = try #require(FileHandle(forWritingAtPath: report))
                    let first = try await store.load().lastOrdinal + 1
                    for ordinal in first... {
                        try await store.put(command(ordinal))
                        file.write(Data("\(ordinal)\n".utf8))
                        if ordinal == first {
                            // Not before: a slow disk may need longer for the first one.
                            DispatchQueue(label: "killer").asyncAfter(deadline: .now() + .milliseconds(delay)) {
                                kill(getpid(), SIGKILL)
                            }
                        }
                        // Rooms are saved meanwhile, so that the log is moved into the file at some time.
                        try await store.save(room(ordinal, bytes: 200_000), of: try reference("7KQ2ZM"))
                    }
                }
                let text = (try? String(contentsOfFile: report, encoding: .utf8)) ?? ""
                // What follows the last end of a line may be cut.
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                reported += lines.compactMap { Int($0) }
                let store = try DatabaseStore(path: path)
                let loaded = try await store.load()
                print("killed after \(delay) ms: \(reported.count) reported, \(loaded.outbox.count) there")
                #expect(Set(reported).isSubset(of: loaded.outbox.map(\.ordinal)))
                #expect(loaded.outbox.map(\.ordinal) == loaded.lastOrdinal.ordinalsUpTo)
                for kept in loaded.outbox { #expect(kept == command(kept.ordinal)) }
                await store.close()
            }
            #expect(!reported.isEmpty)
        }
    }

    @Test func `a full disk is told, changes nothing, and may have space again`() async throws {
        try await withScratchPath { path in
            let store = try DatabaseStore(path: path)
            try await store.put(command(1))
            try await store.save(room(1), of: try reference("7KQ2ZM"))
            let pages = try await store.perform { try Int.fetchOne($0, sql: "PRAGMA page_count") } ?? 0
            try await store.perform { try $0.execute(sql: "PRAGMA max_page_count = \(pages)") }
            let fault = await fault { try await store.save(room(2, bytes: 100_000), of: try reference("7KQ2ZM")) }
            #expect(fault?.code == .full)
            #expect(fault?.message.contains(store.path) == true)
            #expect(try await store.room(try reference("7KQ2ZM")) == room(1))
            try await store.perform { try $0.execute(sql: "PRAGMA max_page_count = 1000000") }
            try await store.save(room(2, bytes: 100_000), of: try reference("7KQ2ZM"))
            #expect(try await store.room(try reference("7KQ2ZM")) == room(2, bytes: 100_000))
            #expect(try await store.load().outbox == [command(1)])
        }
    }

    @Test func `a file that cannot grow loses nothing that was put`() async throws {
        try await withScratchPath { path in
            let report = path + ".report"
            await #expect(processExitsWith: .success) { [path = path as String, report = report as String] in
                // Writes beyond the limit fail, as they do on a full disk.
                signal(SIGXFSZ, SIG_IGN)
                let store = try DatabaseStore(path: path)
                var limit = rlimit(rlim_cur: 150_000, rlim_max: 150_000)
                // The structure is read during the call.
                #expect(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
                var ordinal = 0
                let fault = await fault {
                    while ordinal < 10_000 {
                        try await store.put(command(ordinal + 1))
                        ordinal += 1
                    }
                }
                #expect([.unreachable, .full].contains(fault?.code))
                #expect(ordinal > 0)
                #expect(try await store.load().outbox.count == ordinal)
                try Data("\(ordinal)".utf8).write(to: URL(filePath: report))
            }
            let ordinal = try #require(Int(String(contentsOfFile: report, encoding: .utf8)))
            let loaded = try await DatabaseStore(path: path).load()
            #expect(loaded.outbox == (1...ordinal).map { command($0) })
        }
    }

    // MARK: Bounds

    @Test func `the newest rooms are kept, by the time of their saving`() async throws {
        try await withScratchPath { path in
            let store = try DatabaseStore(path: path)
            func code(_ number: Int) throws -> RoomReference { try reference("AAAA" + "\(number + 10)") }
            for number in 0..<50 { try await store.save(room(number), of: code(number)) }
            try await store.save(room(99), of: code(0))
            for number in 50..<60 { try await store.save(room(number), of: code(number)) }
            var kept: [Int] = []
            for number in 0..<60 where try await store.room(code(number)) != nil { kept.append(number) }
            #expect(kept == [0] + Array(11..<60))
            #expect(try await store.room(code(0)) == room(99))
        }
    }

    @Test func `rooms are kept as far as they fit, and the newest in any case`() async throws {
        try await withScratchPath { path in
            let store = try DatabaseStore(path: path, vault: nil, bounds: .init(rooms: 50, bytes: 1_000))
            let codes = try ["AAAAAA", "BBBBBB", "CCCCCC", "DDDDDD"].map { try reference($0) }
            func kept() async throws -> [Int] {
                var kept: [Int] = []
                for (number, code) in codes.enumerated() where try await store.room(code) != nil { kept.append(number) }
                return kept
            }
            for code in codes[..<3] { try await store.save(room(1, bytes: 500), of: code) }
            #expect(try await kept() == [1, 2])
            try await store.save(room(1, bytes: 501), of: codes[3])
            #expect(try await kept() == [3])
            try await store.save(room(1, bytes: 5_000), of: codes[0])
            #expect(try await kept() == [0])
            try await store.save(room(1, bytes: 1), of: codes[1])
            #expect(try await kept() == [1])
        }
    }

    @Test func `the defaults are 50 rooms and 64 MB`() {
        #expect(DatabaseStore.Bounds().rooms == 50)
        #expect(DatabaseStore.Bounds().bytes == 64_000_000)
    }

    // MARK: A vault for the token

    @Test func `a token in a vault is not in the file`() async throws {
        try await withScratchPath { path in
            let vault = TestVault()
            let store = try DatabaseStore(path: path, vault: vault)
            try await store.setToken("secret")
            try await store.put(command(1))
            #expect(try await store.perform { try String.fetchOne($0, sql: "SELECT token FROM session") } == nil)
            #expect(Array(vault.state.withLock { $0.tokens.values }) == ["secret"])
            await store.close()
            let next = try DatabaseStore(path: path, vault: vault)
            #expect(try await next.load() == StoredClient(token: "secret", outbox: [command(1)], lastOrdinal: 1))
            try await next.setToken(nil)
            #expect(vault.state.withLock { $0.tokens.isEmpty })
            #expect(try await next.load() == StoredClient(lastOrdinal: 1))
        }
    }

    @Test func `without the token of its vault a file is as if it were forgotten`() async throws {
        try await withScratchPath { path in
            let store = try DatabaseStore(path: path, vault: TestVault())
            try await store.setToken("secret")
            try await store.put(command(4))
            try await store.save(room(1), of: try reference("7KQ2ZM"))
            await store.close()
            // A backup on another device.
            let other = try DatabaseStore(path: path, vault: TestVault())
            #expect(try await other.load() == StoredClient(lastOrdinal: 4))
            #expect(try await other.room(try reference("7KQ2ZM")) == nil)
        }
    }

    @Test func `a vault that is locked is told, and nothing is forgotten`() async throws {
        try await withScratchPath { path in
            let vault = TestVault()
            let store = try DatabaseStore(path: path, vault: vault)
            try await store.setToken("secret")
            try await store.put(command(1))
            vault.state.withLock { $0.isLocked = true }
            #expect(await fault { _ = try await store.load() }?.code == .unreachable)
            #expect(await fault { try await store.setToken("other") }?.code == .unreachable)
            vault.state.withLock { $0.isLocked = false }
            #expect(try await store.load() == StoredClient(token: "secret", outbox: [command(1)], lastOrdinal: 1))
        }
    }

    @Test func `a program that may not use the vault has its token in the file`() async throws {
        try await withScratchPath { path in
            let vault = TestVault()
            vault.state.withLock { $0.isForbidden = true }
            let store = try DatabaseStore(path: path, vault: vault)
            try await store.setToken("secret")
            #expect(try await store.load().token == "secret")
            #expect(vault.state.withLock { $0.tokens.isEmpty })
        }
    }
}

extension Int {
    fileprivate var ordinalsUpTo: [Int] { self == 0 ? [] : Array(1...self) }
}
