import EventStorage
import Foundation
import RandomTestSupport
import SQLiteEventStore
import Testing

@Suite struct SQLiteDurabilityTests {
    @Test func `everything is found again after closing and opening`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            try await makeRoom(in: store)
            let session = SessionRecord(
                id: room, tokenHash: Array(0..<32), name: "Ana", createdAt: 1, expiresAt: 2, hasEnded: true)
            try await store.insert(session)
            let snapshot = StoredSnapshot(seq: 1, reducerVersion: 3, state: [0, 1, 255])
            try await store.save(snapshot, of: room)
            #expect(try await write(20, tag: "w", to: store, acknowledged: { _ in }) == 20)
            let before = try #require(try await store.load(room, reducerVersion: 3, after: .start))
            let records = try await store.directory(of: [room])
            try await store.close()

            let again = try await openMigrated(directory)
            let after = try #require(try await again.load(room, reducerVersion: 3, after: .start))
            #expect(after.head == before.head)
            #expect(after.head == StreamHead(epoch: "e", version: StreamVersion(seq: 21, keyed: 20)))
            #expect(after.events == before.events)
            #expect(after.events.map(\.seq) == Array(1...21))
            #expect(after.keys == before.keys)
            #expect(after.keys.map(\.ordinal) == Array(1...20))
            #expect(try await again.directory(of: [room]) == records)
            #expect(try await again.snapshot(of: room, atMost: 5, reducerVersion: 3) == snapshot)
            #expect(try await again.session(tokenHash: session.tokenHash) == session)
            #expect(try await again.memberships(of: room) == [room])
            try await again.close()
        }
    }

    @Test func `acknowledged events are in the log after the process is killed`() async throws {
        try await withScratchDirectory { directory in
            let setUp = try await openMigrated(directory)
            try await makeRoom(in: setUp)
            try await setUp.close()
            var random = SeededRandom.fresh()
            for round in 0..<5 {
                let delay = Int.random(in: 1...100, using: &random)
                print("killed after \(delay) ms of writing")
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [directory = directory as String, round = round as Int, delay = delay as Int] in
                    let store = try await openMigrated(directory)
                    let log = try AcknowledgementLog(directory: directory, name: "round-\(round)")
                    _ = try await write(1, tag: "r\(round)w", to: store) { log.note($0) }
                    DispatchQueue(label: "killer").asyncAfter(deadline: .now() + .milliseconds(delay)) {
                        kill(getpid(), SIGKILL)
                    }
                    try await withThrowingTaskGroup { group in
                        for writer in 0..<3 {
                            group.addTask {
                                _ = try await write(.max, tag: "r\(round)w\(writer)", to: store) { log.note($0) }
                            }
                        }
                        try await group.waitForAll()
                    }
                }
                let store = try await openMigrated(directory)
                let stored = try await tags(in: store)
                let acknowledged = try AcknowledgementLog.read(directory: directory, name: "round-\(round)")
                #expect(acknowledged.count >= 1)
                for (seq, tag) in acknowledged {
                    #expect(stored[seq] == tag)
                }
                // Each of three writers may have had one append in the log whose acknowledgement was not recorded yet.
                let mine = stored.values.count { $0.hasPrefix("r\(round)w") }
                #expect((acknowledged.count...acknowledged.count + 3).contains(mine))
                try await store.close()
            }
        }
    }

    @Test func `two processes that write to one room win each position once`() async throws {
        try await withScratchDirectory { directory in
            let store = try await openMigrated(directory)
            try await makeRoom(in: store)
            async let first: Void = writeInChild("first", directory)
            async let second: Void = writeInChild("second", directory)
            _ = await (first, second)
            let stored = try await tags(in: store)
            var acknowledged: [Int: String] = [:]
            for process in ["first", "second"] {
                for (seq, tag) in try AcknowledgementLog.read(directory: directory, name: process) {
                    #expect(acknowledged.updateValue(tag, forKey: seq) == nil)
                }
            }
            #expect(stored.count == 2 * 10 * 20 + 1)
            #expect(stored.filter { $0.key > 1 } == acknowledged)
            try await store.close()
        }
    }

    @Test func `processes that open one new file at once all use it`() async throws {
        for _ in 0..<5 {
            try await withScratchDirectory { directory in
                await withTaskGroup { group in
                    for n in 0..<4 {
                        group.addTask { await keepSessionInChild(n, directory) }
                    }
                }
                let store = try await openMigrated(directory)
                #expect(Set(try await store.sessionsToRemove(at: 1, limit: 9).map(\.name)) == ["0", "1", "2", "3"])
                try await store.close()
            }
        }
    }

    private func keepSessionInChild(_ n: Int, _ directory: String) async {
        await #expect(processExitsWith: .success) { [directory = directory as String, n = n as Int] in
            let store = try await openMigrated(directory)
            try await store.insert(
                SessionRecord(id: UUID(), tokenHash: [UInt8(n)], name: "\(n)", createdAt: 0, expiresAt: 1))
            try await store.close()
        }
    }

    private func writeInChild(_ name: String, _ directory: String) async {
        await #expect(processExitsWith: .success) { [directory = directory as String, name = name as String] in
            let store = try await openMigrated(directory)
            let log = try AcknowledgementLog(directory: directory, name: name)
            try await withThrowingTaskGroup { group in
                for writer in 0..<10 {
                    group.addTask {
                        _ = try await write(20, tag: "\(name)\(writer)", to: store) { log.note($0) }
                    }
                }
                try await group.waitForAll()
            }
            try await store.close()
        }
    }
}

private let room = UUID(uuid: (1, 0x97, 0, 0, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 1))

/// Makes the room with one event.
private func makeRoom(in store: SQLiteStore) async throws {
    let entry = DirectoryEntry(code: "ABC123", name: "Room", isPublic: true, createdAt: 5, owner: room)
    let event = StoredEvent(seq: 1, at: 5, type: "roomCreated", payload: Array(#"{"tag":"first"}"#.utf8))
    let creation = StreamCreation(
        first: StreamAppend(stream: room, expected: .start, events: [event], directory: entry, joined: [room]),
        epoch: "e", creator: room, key: nil, fingerprint: 0, at: 5, keysSince: 0, ownerLimit: 1)
    #expect(try await store.create(creation) == .created)
}

/// Appends events one at a time, each with a key, reading the head again after each conflict; after an append has
/// returned, `acknowledged` gets a line with its position and the writer's tag.
private func write(
    _ count: Int, tag: String, to store: SQLiteStore, acknowledged: (String) -> Void
) async throws -> Int {
    var written = 0
    while written < count, let version = try await store.heads(of: [room])[room]?.version {
        let event = StoredEvent(
            seq: version.seq + 1, at: 6, type: "voteCast", payload: Array(#"{"tag":"\#(tag)"}"#.utf8))
        let key = CommandKey(
            ordinal: version.keyed + 1, session: room, key: tag, fingerprint: 1, seq: event.seq, result: nil)
        let part = StreamAppend(stream: room, expected: version, events: [event], keys: [key])
        if try await store.append([part]) == [.appended] {
            acknowledged("\(event.seq) \(tag)\n")
            written += 1
        }
    }
    return written
}

/// The tag of each event of the room, with the positions checked.
private func tags(in store: SQLiteStore) async throws -> [Int: String] {
    let loaded = try #require(try await store.load(room, reducerVersion: 1, after: nil))
    #expect(loaded.events.map(\.seq) == Array(1..<loaded.head.version.seq + 1))
    return try Dictionary(
        uniqueKeysWithValues: loaded.events.map { event in
            let payload = try JSONDecoder().decode([String: String].self, from: Data(event.payload))
            return (event.seq, payload["tag"] ?? "")
        })
}

/// The acknowledgements of a child process, one a line, in a file that outlives it.
private struct AcknowledgementLog: Sendable {
    private let file: FileHandle

    init(directory: String, name: String) throws {
        let path = "\(directory)/\(name).acknowledged"
        try Data().write(to: URL(filePath: path))
        file = try #require(FileHandle(forWritingAtPath: path))
    }

    func note(_ line: String) {
        file.write(Data(line.utf8))
    }

    /// The recorded positions and tags; an incomplete last line is left out.
    static func read(directory: String, name: String) throws -> [(Int, String)] {
        let text = try String(contentsOfFile: "\(directory)/\(name).acknowledged", encoding: .utf8)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().compactMap { line in
            let parts = line.split(separator: " ")
            return Int(parts[0]).map { ($0, String(parts[1])) }
        }
    }
}
