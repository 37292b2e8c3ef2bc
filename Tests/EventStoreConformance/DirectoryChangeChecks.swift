import EventStorage
import FoundationEssentials
import Testing

extension ConformanceSuite {
    static let directoryChangeChecks = [
        EventStoreCheck("without a mark no changes are given, and with one those after it") { (test) async throws in
            try await test.store.makeStreams(1...3)
            let first = try await test.store.directoryChanges(since: nil)
            #expect(first.records == nil)
            #expect(try await test.store.changes(since: first.mark).records == [])
            try await test.store.makeStreams([4])
            try await test.second.close(2)
            let second = try await test.store.changes(since: first.mark)
            var closed = entry(2, owner: id(800))
            closed.closedAt = noon + 100
            #expect(
                second.records == [
                    DirectoryRecord(stream: id(2), entry: closed),
                    DirectoryRecord(stream: id(4), entry: entry(4, owner: id(800))),
                ])
            #expect(try await test.second.changes(since: second.mark).records == [])
            #expect(try await test.second.changes(since: first.mark).records == second.records)
        },
        EventStoreCheck("what changed twice comes once, as it is") { (test) async throws in
            try await test.store.makeStreams([1])
            let mark = try await test.store.directoryChanges(since: nil).mark
            for turn in 0..<3 {
                let moved = entry(1, owner: id(800)).withStored(latitude: Double(turn), longitude: -180)
                let part = StreamAppend(
                    stream: id(1), expected: StreamVersion(seq: 2 + turn, keyed: 0),
                    events: events(after: 2 + turn, count: 1), directory: moved)
                #expect(try await test.handle(turn).append([part]) == [.appended])
            }
            let changes = try await test.store.changes(since: mark)
            #expect(changes.records.map(\.stream) == [id(1)])
            #expect(changes.records.first?.entry.latitude == 2)
        },
        EventStoreCheck("an append without an entry, and one that wrote nothing, change no directory") {
            (test) async throws in
            try await test.store.makeStreams(1...3)
            let mark = try await test.store.directoryChanges(since: nil).mark
            let batch = [
                StreamAppend(stream: id(1), expected: made, events: events(after: 2, count: 1)),
                StreamAppend(
                    stream: id(2), expected: .start, events: events(after: 0, count: 1),
                    directory: entry(2, name: "late")),
                StreamAppend(
                    stream: id(3), expected: made, events: events(after: 2, count: 1), directory: entry(3, name: "new")),
            ]
            #expect(try await test.store.append(batch) == [.appended, .conflict, .appended])
            #expect(try await test.store.changes(since: mark).records.map(\.stream) == [id(3)])
        },
        EventStoreCheck("a stream that was removed since it changed does not come") { (test) async throws in
            try await test.store.makeStreams(1...2)
            let mark = try await test.store.directoryChanges(since: nil).mark
            try await test.store.close(1)
            try await test.store.close(2, at: noon + 500)
            #expect(try await test.store.removeStreams(closedBefore: noon + 200, limit: 9) == [id(1)])
            #expect(try await test.store.changes(since: mark).records.map(\.stream) == [id(2)])
        },
        EventStoreCheck("whichever call changes what the directory shows, the change comes") { (test) async throws in
            let archive = try test.archive
            var mark = try await test.second.directoryChanges(since: nil).mark
            var shown: [UUID: DirectoryEntry] = [:]
            for write in directoryWrites {
                try await write.carryOut(archive)
                let all = try await archive.directory(of: (1...9).map(id))
                let entries = Dictionary(uniqueKeysWithValues: all.map { ($0.stream, $0.entry) })
                let changed = entries.keys.filter { entries[$0] != shown[$0] }
                #expect(changed.sorted() == write.changes.map(id), "\(write.name)")
                let changes = try await test.second.changes(since: mark)
                #expect(Set(changes.records.map(\.stream)).isSuperset(of: changed), "\(write.name)")
                for record in changes.records { #expect(record.entry == entries[record.stream], "\(write.name)") }
                (mark, shown) = (changes.mark, entries)
            }
        },
        EventStoreCheck("a reader that goes from mark to mark misses nothing of what many write") {
            (test) async throws in
            try await test.store.makeStreams(1...8)
            var mark = try await test.second.directoryChanges(since: nil).mark
            var seen: [UUID: DirectoryEntry] = [:]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for n in 1...8 {
                    group.addTask {
                        for turn in 0..<40 {
                            let part = StreamAppend(
                                stream: id(n), expected: StreamVersion(seq: 2 + turn, keyed: 0),
                                events: events(after: 2 + turn, count: 1), directory: entry(n, name: "\(n) \(turn)"))
                            let outcome = try await test.handle(n + turn).append([part])
                            #expect(outcome == [.appended])
                            await Task.yield()
                        }
                    }
                }
                var isLast = false
                while !isLast {
                    // Writes before this must appear in a read after it.
                    isLast = try await test.store.isWritten(8, times: 40)
                    let changes = try await test.second.changes(since: mark)
                    for record in changes.records { seen[record.stream] = record.entry }
                    mark = changes.mark
                    // A store in memory never suspends its caller.
                    await Task.yield()
                }
            }
            let all = try await test.store.directory(of: (1...8).map(id))
            #expect(seen == Dictionary(uniqueKeysWithValues: all.map { ($0.stream, $0.entry) }))
        },
    ]
}

extension EventStore {
    /// The changes since a mark of this log, by stream.
    fileprivate func changes(
        since mark: DirectoryMark
    ) async throws -> (records: [DirectoryRecord], mark: DirectoryMark) {
        let changes = try await directoryChanges(since: mark)
        guard let records = changes.records else { throw CheckFailure("the mark is not known") }
        return (records.sorted { $0.stream < $1.stream }, changes.mark)
    }

    /// Whether all streams up to this one got `count` events after ``made``.
    fileprivate func isWritten(_ last: Int, times: Int) async throws -> Bool {
        try await heads(of: (1...last).map(id)).values.allSatisfy { $0.version.seq == made.seq + times }
    }
}
