import EventStorage
import Foundation
import GRDB
import LogTestSupport
import RandomTestSupport
import SQLiteEventStore
import Testing

@testable import LogMaintenance

/// Damage to the embedded store that an operator repairs with SQL, as the findings say.
struct RemedyTests {
    @Test func `a room with a damaged key is whole again without its keys and with none counted`() async throws {
        try await withStore { store, database in
            var filler = LogFiller(store, seed: TestSeed.fixed(1))
            let room = try await filler.makeRoom(events: 60).room
            try await filler.makeRoom(events: 20)
            try await database.write { db in
                try db.execute(
                    sql: "UPDATE command_keys SET key = key || 'x' WHERE room_id = ? AND ordinal = 3",
                    arguments: [room])
            }
            #expect(try await findings(in: store).map(\.remedy) == [.deleteKeys])
            let remedy = Finding.Remedy.deleteKeys.rawValue
            #expect(remedy.contains("rows of command_keys, set keyed of its row of heads to 0"))
            try await database.write { db in
                try db.execute(sql: "DELETE FROM command_keys WHERE room_id = ?", arguments: [room])
            }
            #expect(try await findings(in: store).map(\.remedy) == [.deleteKeys])
            try await database.write { db in
                try db.execute(sql: "UPDATE heads SET keyed = 0 WHERE room_id = ?", arguments: [room])
            }
            var random = SeededRandom(seed: TestSeed.fixed(1))
            #expect(try await EpochRenewer.renew(room, in: store, random: &random))
            #expect(try await findings(in: store).isEmpty)
            let copy = MemoryEventStore()
            try await importLines(export(store), into: copy)
            #expect(try await findings(in: copy).isEmpty)
        }
    }

    @Test func `a row whose room cannot be read is a finding, and the rest is looked at`() async throws {
        try await withStore { store, database in
            var filler = LogFiller(store, seed: TestSeed.fixed(1))
            try await filler.makeRoom(events: 20)
            try await database.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO events (room_id, seq, at, type, payload) VALUES (x'00', 1, 1, 'x', '{}');
                        INSERT INTO memberships (session, room_id) VALUES (randomblob(16), randomblob(16));
                        """)
            }
            let found = try await findings(in: store)
            #expect(found.map(\.what) == ["events", "memberships"])
            #expect(found.map(\.remedy) == [.restoreLog, .deleteRows])
            #expect(found.first?.room == nil)
        }
    }

    /// A store, with direct access to its file without any checks.
    private func withStore(_ body: (SQLiteStore, DatabaseQueue) async throws -> Void) async throws {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "log-remedy-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        let store = try await SQLiteStore.open(directory: scratch)
        _ = try await store.migrate().get()
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(5)
        try await body(store, try DatabaseQueue(path: store.path, configuration: configuration))
        try await store.close()
    }
}
