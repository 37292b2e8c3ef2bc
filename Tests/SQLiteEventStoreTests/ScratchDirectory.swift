import Foundation
import GRDB
import Testing

@testable import SQLiteEventStore

/// Runs a test in a directory of its own and removes it afterwards.
func withScratchDirectory<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let directory = FileManager.default.temporaryDirectory.appending(path: "backline-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return try await body(directory)
}

/// Opens the store in a directory with its schema applied; waits long for other processes, because a disk may be slow.
func openMigrated(_ directory: String) async throws -> SQLiteStore {
    let store = try await SQLiteStore.open(directory: directory, lockTimeout: 300)
    _ = try await store.migrate().get()
    return store
}

/// A connection that reads in a transaction, and so holds back the write-ahead log, until it is closed.
func openReader(_ store: SQLiteStore) async throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let reader = try DatabaseQueue(path: store.path, configuration: configuration)
    try await reader.writeWithoutTransaction { db in
        try db.execute(sql: "BEGIN")
        _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM sessions")
    }
    return reader
}
