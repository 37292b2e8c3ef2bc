import EventStorage
import Foundation
import GRDB
import LogTestSupport
import PostgresEventStore
import PostgresTestSupport
import RandomTestSupport
import SQLiteEventStore
import Testing

@testable import LogMaintenance

/// Verifying finds one changed byte of one value, in any table and column.
struct MutationTests {
    /// The tables whose rows must be exactly as servers wrote them, by their names in both databases.
    private static let tables = [
        "heads", "directory", "events", "command_keys", "snapshots", "memberships", "waveforms",
    ]
    /// Columns that only tell when servers look at a row again, and that cannot be derived from anything.
    private static let unproven = ["listed_in", "unneeded_since"]

    @Test func `a changed byte in any column of the embedded store is found`() async throws {
        let seed = TestSeed.fresh()
        var random = SeededRandom(seed: seed)
        let scratch = FileManager.default.temporaryDirectory.appending(path: "log-mutation-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        let store = try await SQLiteStore.open(directory: scratch)
        _ = try await store.migrate().get()
        try await fillSome(store, seed: seed)
        #expect(try await findings(in: store).isEmpty)
        let tampering = try Tampering(store.path)
        let columns = try await tampering.queue.read { db in
            try Self.tables.flatMap { table in
                try db.columns(in: table).map(\.name).filter { !Self.unproven.contains($0) }
                    .map { (table: table, column: $0) }
            }
        }
        #expect(columns.count > 30)
        for (table, column) in columns {
            for _ in 0..<3 {
                let number = random.next()
                let change = try await blocking { try tampering.mutate(table, column, seed: number) }
                guard let change else { continue }
                let found = try await findings(in: store)
                #expect(!found.isEmpty, "seed \(seed): \(table).\(column) was \(change.old), became \(change.new)")
                try await blocking { try tampering.undo(change) }
            }
        }
        let rest = try await findings(in: store)
        #expect(rest.isEmpty, "\(rest)")
        try await store.close()
    }

    @Test func `a changed byte in any column of PostgreSQL is found`() async throws {
        let seed = TestSeed.fresh()
        var random = SeededRandom(seed: seed)
        let cluster = try await blocking { try PostgresCluster.shared }
        let url = try await blocking { try cluster.makeDatabase(named: "log_mutation") }
        let store = try Self.open(url)
        _ = try await store.migrate().get()
        try await fillSome(store, seed: seed)
        #expect(try await findings(in: store).isEmpty)
        await store.close()
        let names = Self.tables.map { "'\($0)'" }.joined(separator: ", ")
        let listed = try await blocking {
            try cluster.query(
                """
                SELECT table_name || ' ' || column_name || ' ' || data_type FROM information_schema.columns
                WHERE table_schema = 'public' AND table_name IN (\(names)) AND column_name NOT IN (\(Self.unproven.map { "'\($0)'" }.joined(separator: ", ")))
                ORDER BY 1
                """, in: url)
        }
        let columns = listed.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 2).map(String.init) }
        #expect(columns.count > 30)
        for column in columns {
            let number = random.next()
            let mutation = try await blocking {
                let database = try cluster.makeDatabase(from: "log_mutation")
                return try Self.mutate(column, in: database, of: cluster, seed: number).map { (database, $0) }
            }
            guard let (mutated, change) = mutation else { continue }
            let store = try Self.open(mutated)
            let found = try await findings(in: store)
            #expect(!found.isEmpty, "seed \(seed): \(column.prefix(2).joined(separator: ".")) \(change)")
            await store.close()
        }
    }

    /// A few rooms of all kinds, with few events but with snapshots.
    private func fillSome(_ store: any EventStore, seed: UInt64) async throws {
        var filler = LogFiller(store, seed: seed, eventsPerSnapshot: 40)
        try await filler.makeRoom(events: 100)
        try await filler.makeRoom(events: 50, closes: true)
        try await filler.makeRoom(events: 30, forgets: true)
    }

    /// Opens a store with long timeouts: a test machine may be slow.
    private static func open(_ url: String) throws -> PostgresStore {
        var configuration = try PostgresConfiguration(url: url, environment: [:])
        configuration.connectTimeout = .seconds(300)
        configuration.connectionWait = .seconds(300)
        configuration.statementTimeout = .seconds(240)
        configuration.answerTimeout = .seconds(300)
        return try PostgresStore(configuration)
    }

    /// Changes one value of a column; nil if it has no values.
    private static func mutate(
        _ column: [String], in database: String, of cluster: PostgresCluster, seed: UInt64
    ) throws -> String? {
        var random = SeededRandom(seed: seed)
        let (table, name, type) = (column[0], column[1], column[2])
        for _ in 0..<50 {
            let (byte, bit) = (Int.random(in: 0..<16, using: &random), 1 << Int.random(in: 0..<8, using: &random))
            let place = "\(random.next() % 10_000) % length(\(name)"
            let letter = Unicode.Scalar(UInt8.random(in: 48..<123, using: &random))
            let value =
                switch type {
                case "uuid":
                    """
                    encode(set_byte(uuid_send(\(name)), \(byte), get_byte(uuid_send(\(name)), \(byte)) # \(bit)), 'hex')::uuid
                    """
                case "bigint": "\(name) # \(1 << Int.random(in: 0..<40, using: &random))"
                // A slot of the ring: slots from 256 on are free in rooms with few keys.
                case "integer": "\(name) # \(1 << Int.random(in: 8..<10, using: &random))"
                case "boolean": "NOT \(name)"
                case "double precision": "\(name) * (1 + 1e-15 * \(1 + byte))"
                case "bytea": "set_byte(\(name), (\(place)))::int, get_byte(\(name), (\(place)))::int) # \(bit))"
                default: "overlay(\(name)::text placing $x$\(letter)$x$ from (1 + \(place)::text))::int for 1)::\(type)"
                }
            let sql = """
                UPDATE \(table) SET \(name) = \(value)
                WHERE (tableoid, ctid) = (SELECT tableoid, ctid FROM \(table) WHERE \(name) IS NOT NULL
                    ORDER BY md5(ctid::text || '\(random.next())') LIMIT 1) AND (\(value))::text <> \(name)::text
                RETURNING \(name)::text
                """
            // The database refuses some changes.
            if let changed = try? cluster.query(sql, in: database), !changed.isEmpty {
                return "became \(changed.prefix(200))"
            }
            let isEmpty = "SELECT NOT EXISTS (SELECT FROM \(table) WHERE \(name) IS NOT NULL)"
            if try cluster.query(isEmpty, in: database) == "t" { return nil }
        }
        throw StorageFault.rejected(.init(message: "\(table).\(name) could not be changed"))
    }
}

// MARK: - The embedded store

/// A row before and after a change.
private struct Mutation: Sendable {
    let table: String
    let before: [DatabaseValue]
    let after: [DatabaseValue]
    let column: Int

    var old: DatabaseValue { before[column] }
    var new: DatabaseValue { after[column] }
}

/// Direct access to the embedded store's file, without any checks.
private struct Tampering: Sendable {
    let queue: DatabaseQueue

    init(_ path: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(5)
        queue = try DatabaseQueue(path: path, configuration: configuration)
    }

    /// Changes one byte of a column in some row; nil if the column has no values.
    func mutate(_ table: String, _ column: String, seed: UInt64) throws -> Mutation? {
        var random = SeededRandom(seed: seed)
        for _ in 0..<100 {
            let number = random.next()
            let row = try queue.read { db in
                let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table) WHERE \(column) IS NOT NULL") ?? 0
                return try Row.fetchOne(
                    db, sql: "SELECT * FROM \(table) WHERE \(column) IS NOT NULL LIMIT 1 OFFSET ?",
                    arguments: [count == 0 ? 0 : Int(number % UInt64(count))])
            }
            guard let row else { return nil }
            let before = Array(row.databaseValues)
            let index = try #require(Array(row.columnNames).firstIndex(of: column))
            var after = before
            after[index] = after[index].damaged(&random)
            // The database refuses some changes.
            guard after != before, (try? replace(table, before, after)) != nil else { continue }
            return Mutation(table: table, before: before, after: after, column: index)
        }
        throw StorageFault.rejected(.init(message: "\(table).\(column) could not be changed"))
    }

    func undo(_ mutation: Mutation) throws {
        try replace(mutation.table, mutation.after, mutation.before)
    }

    private func replace(_ table: String, _ old: [DatabaseValue], _ new: [DatabaseValue]) throws {
        try queue.write { db in
            let names = try db.columns(in: table).map(\.name)
            let condition = names.map { "\($0) IS ?" }.joined(separator: " AND ")
            let places = names.map { _ in "?" }.joined(separator: ", ")
            try db.execute(sql: "DELETE FROM \(table) WHERE \(condition)", arguments: StatementArguments(old))
            guard db.changesCount == 1 else { throw StorageFault.rejected(.init(message: "no such row")) }
            try db.execute(sql: "INSERT INTO \(table) VALUES (\(places))", arguments: StatementArguments(new))
        }
    }
}

extension DatabaseValue {
    /// The value with one byte of it changed.
    fileprivate func damaged(_ random: inout SeededRandom) -> DatabaseValue {
        switch storage {
        case .null: return .null
        case .int64(let value):
            // Truth values are stored as 0 and 1, and any other number is read as true.
            let isTruth = value == 0 || value == 1
            return (isTruth ? value ^ 1 : value ^ 1 << Int64.random(in: 0..<48, using: &random)).databaseValue
        case .double(let value):
            return Double(bitPattern: value.bitPattern ^ 1 << UInt64.random(in: 0..<48, using: &random)).databaseValue
        case .string(let text):
            var bytes = Array(text.utf8)
            guard !bytes.isEmpty else { return databaseValue }
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 32..<127, using: &random)
            return String(decoding: bytes, as: UTF8.self).databaseValue
        case .blob(let data):
            var bytes = Array(data)
            guard !bytes.isEmpty else { return databaseValue }
            bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            return Data(bytes).databaseValue
        }
    }
}
