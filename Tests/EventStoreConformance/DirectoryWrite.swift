import EventStorage
import Testing

/// A call that writes, and the streams whose entries it changes.
struct DirectoryWrite: Sendable {
    let name: String
    let changes: [Int]
    let carryOut: @Sendable (any LogArchive) async throws -> Void

    init(_ name: String, changes: [Int] = [], _ carryOut: @escaping @Sendable (any LogArchive) async throws -> Void) {
        (self.name, self.changes, self.carryOut) = (name, changes, carryOut)
    }
}

/// Every writing call of a store, in an order in which each finds the rows that it needs.
let directoryWrites = [
    DirectoryWrite("beginImport") { store in
        let hasBegun = try await store.beginImport()
        #expect(hasBegun)
    },
    DirectoryWrite("write, new streams", changes: [1, 2]) { try await $0.importEntries([1: "Import", 2: "Import"]) },
    DirectoryWrite("write, a later part", changes: [2]) { try await $0.importEntries([1: "Import", 2: "Later"]) },
    DirectoryWrite("finishImport") { try await $0.finishImport() },
    DirectoryWrite("create", changes: [3]) { try await $0.makeStreams([3]) },
    DirectoryWrite("append") { try await $0.appendEvent(to: 3) },
    DirectoryWrite("append, with an entry", changes: [3]) { store in
        let entry = entry(3, owner: id(800), name: "New").withStored(latitude: 1, longitude: 2)
        try await store.appendEvent(to: 3, entry)
    },
    DirectoryWrite("append, with an entry beside other streams", changes: [1]) { store in
        let other = StreamAppend(stream: id(2), expected: .start, events: events(after: 0, count: 1))
        try await store.appendEvent(to: 1, entry(1, name: "New"), beside: [other])
    },
    DirectoryWrite("save") { try await $0.save(StoredSnapshot(seq: 1, reducerVersion: 1, state: [1]), of: id(3)) },
    DirectoryWrite("renewEpochs") { store in
        try await store.renewEpochs((1...3).map { EpochRenewal(stream: id($0), epoch: "renewed", checksum: 1) })
    },
    DirectoryWrite("append, with a wish to be forgotten", changes: [3]) { store in
        var entry = entry(3)
        entry.closedAt = noon
        try await store.appendEvent(to: 3, entry, forgetAt: noon)
    },
    DirectoryWrite("rewrite") { try await $0.rewrite(events(after: 0, count: 2, tag: "bare"), of: id(3)) },
    DirectoryWrite("endForgetting") { store in
        try await store.endForgetting(EpochRenewal(stream: id(3), epoch: "forgotten", checksum: 2), at: noon)
    },
    DirectoryWrite("append, with an entry for the wish's stream", changes: [3]) { store in
        var entry = entry(3, name: "")
        entry.closedAt = noon
        try await store.appendEvent(to: 3, entry)
    },
    DirectoryWrite("sessions") { store in
        let session = SessionRecord(
            id: id(800), tokenHash: [1], name: "Ana", createdAt: noon, expiresAt: noon, hasEnded: false)
        try await store.insert(session)
        _ = try await store.renameSession(id(800), to: "Bob")
        try await store.extendSession(id(800), to: noon + 1)
        try await store.endSession(id(800), at: noon)
        try await store.deleteSession(id(800))
    },
    // A removed stream is not a change.
    DirectoryWrite("removeStreams, sweep") { store in
        let removed = try await store.removeStreams(closedBefore: noon + 1, limit: 9)
        #expect(removed == [id(3)])
        while try await store.sweep(limit: 9) {}
    },
]

extension LogArchive {
    /// Imports empty streams under these names.
    fileprivate func importEntries(_ names: [Int: String]) async throws {
        var batch = ImportBatch()
        for (n, name) in names {
            let head = StreamHead(epoch: "epoch-\(n)", version: .start)
            batch.streams.append(
                ImportedStream(stream: id(n), head: head, checksum: nil, entry: entry(n, name: name)))
        }
        try await write(batch)
    }
}

extension EventStore {
    /// Appends an event to the `n`th stream, in one batch with others.
    fileprivate func appendEvent(
        to n: Int, _ entry: DirectoryEntry? = nil, forgetAt: Int64? = nil, beside others: [StreamAppend] = []
    ) async throws {
        guard let version = try await heads(of: [id(n)])[id(n)]?.version else {
            throw CheckFailure("stream \(n) does not exist")
        }
        let part = StreamAppend(
            stream: id(n), expected: version, events: events(after: version.seq, count: 1), directory: entry,
            forgetAt: forgetAt)
        let outcomes = try await append(others + [part])
        guard outcomes.allSatisfy({ $0 == .appended }) else { throw CheckFailure("stream \(n): \(outcomes)") }
    }
}
