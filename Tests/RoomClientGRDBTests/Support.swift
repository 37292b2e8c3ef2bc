import Foundation
import GRDB
import RoomClient
import Synchronization
import Testing

@testable import RoomClientGRDB

/// Runs a test with the path of a store in a directory of its own, and removes that afterwards.
func withScratchPath<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Value
) async throws -> Value {
    let directory = FileManager.default.temporaryDirectory.appending(path: "backline-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return try await body(directory + "/party.sqlite")
}

func reference(_ text: String) throws -> RoomReference { try #require(RoomReference(text)) }

func command(_ ordinal: Int) -> StoredCommand {
    StoredCommand(
        ordinal: ordinal, room: "7KQ2ZM", key: "key-\(ordinal)", command: Array(#"{"n":\#(ordinal)}"#.utf8),
        sentEpoch: nil, sentKeyed: nil, expiresAt: 5)
}

func room(_ sequence: Int, bytes: Int = 10) -> StoredRoom {
    StoredRoom(epoch: "e", sequence: sequence, keyed: nil, state: [UInt8](repeating: 7, count: bytes))
}

/// The fault that a piece of work ends with.
func fault(_ work: () async throws -> Void) async -> StoreFault? {
    do {
        try await work()
        return nil
    } catch {
        return error as? StoreFault
    }
}

/// A vault that can be looked into.
final class TestVault: TokenVault {
    struct State {
        var tokens: [String: String] = [:]
        var isForbidden = false
        var isLocked = false
        var calls: [String] = []
    }

    let state = Mutex(State())

    func keep(_ token: String, under name: String) throws(StoreFault) -> Bool {
        try state.withLock { state throws(StoreFault) in
            guard !state.isLocked else { throw StoreFault(.unreachable, "locked") }
            if !state.isForbidden { state.tokens[name] = token }
            return !state.isForbidden
        }
    }

    func token(under name: String) throws(StoreFault) -> String? {
        try state.withLock { state throws(StoreFault) in
            guard !state.isLocked else { throw StoreFault(.unreachable, "locked") }
            return state.tokens[name]
        }
    }

    func forget(_ name: String) throws(StoreFault) {
        try state.withLock { state throws(StoreFault) in
            guard !state.isLocked else { throw StoreFault(.unreachable, "locked") }
            state.tokens[name] = nil
        }
    }
}
