import EventStorage
import FoundationEssentials
import RandomTestSupport
import Testing

extension ConformanceSuite {
    static let attachmentChecks = [
        EventStoreCheck("attachments are read back as they were written, by their names and streams") {
            (test) async throws in
            let archive = try test.archive
            try await archive.makeStreams([1, 2])
            let every = (0..<2_048).map { UInt8(truncatingIfNeeded: $0) }
            let changes = [
                AttachmentChange(name: "b", bytes: every), AttachmentChange(name: "B", bytes: []),
                AttachmentChange(name: "a-_9", bytes: [0]),
            ]
            let parts = [
                StreamAppend(stream: id(1), expected: made, events: events(after: 2, count: 1), attachments: changes),
                StreamAppend(
                    stream: id(2), expected: made, events: [], attachments: [.init(name: "b", bytes: [7])]),
            ]
            #expect(try await archive.append(parts) == [.appended, .appended])
            for store in [test.store, test.second] {
                #expect(try await store.attachment("b", of: id(1)) == every)
                #expect(try await store.attachment("B", of: id(1)) == [])
                #expect(try await store.attachment("a-_9", of: id(1)) == [0])
                #expect(try await store.attachment("b", of: id(2)) == [7])
                #expect(try await store.attachment("a", of: id(1)) == nil)
                #expect(try await store.attachment("a-_9", of: id(2)) == nil)
                #expect(try await store.attachment("b", of: id(3)) == nil)
            }
            let names = ["B", "a-_9", "b"]
            #expect(try await archive.archived(id(1))?.attachments == names.map { ArchivedAttachment(name: $0) })
            let found = try await archive.attachments(["b", "none", "B", "b"], of: id(1))
            #expect(found == [Attachment(name: "B", bytes: []), Attachment(name: "b", bytes: every)])
            #expect(try await archive.attachments([], of: id(1)).isEmpty)
            #expect(try await archive.streams(in: .attachments, after: nil, limit: 9) == [id(1), id(2)])
            #expect(try await archive.streams(in: .attachments, after: id(1), limit: 9) == [id(2)])
        },
        EventStoreCheck("attachments of an append that conflicts or is rejected are not written") {
            (test) async throws in
            try await test.store.makeStreams([1, 2, 3])
            let change = AttachmentChange(name: "a", bytes: [1])
            let late = StreamAppend(
                stream: id(1), expected: .init(seq: 1, keyed: 0), events: events(after: 1, count: 1),
                attachments: [change])
            let good = StreamAppend(
                stream: id(2), expected: made, events: events(after: 2, count: 1), attachments: [change])
            #expect(try await test.store.append([late, good]) == [.conflict, .appended])
            #expect(try await test.second.attachment("a", of: id(1)) == nil)
            #expect(try await test.second.attachment("a", of: id(2)) == [1])

            // The part of the other stream is rejected, and the whole batch with it.
            var unwanted = entry(3)
            unwanted.code = code(1)
            let rejected = StreamAppend(
                stream: id(3), expected: made, events: events(after: 2, count: 1), directory: unwanted)
            let other = StreamAppend(
                stream: id(2), expected: .init(seq: 3, keyed: 0), events: events(after: 3, count: 1),
                attachments: [.init(name: "b", bytes: [2]), .init(name: "a", bytes: nil, unneededSince: noon)])
            await #expect(throws: StorageFault.self) { _ = try await test.store.append([other, rejected]) }
            #expect(try await test.store.attachment("b", of: id(2)) == nil)
            #expect(try await test.store.removeAttachments(unneededSinceBefore: .max, limit: 9) == 0)
        },
        EventStoreCheck("unneeded attachments are removed once they are old enough, a limited number at a time") {
            (test) async throws in
            let archive = try test.archive
            try await archive.makeStreams([1, 2])
            let changes = (0..<6).map { AttachmentChange(name: "n\($0)", bytes: [UInt8($0)]) }
            try await archive.attach(changes, to: id(1))
            try await archive.attach(changes, to: id(2))
            try await archive.attach(
                [
                    .init(name: "n0", bytes: nil, unneededSince: noon),
                    .init(name: "n1", bytes: nil, unneededSince: noon + 5),
                    .init(name: "n2", bytes: [9], unneededSince: noon + 10),
                    .init(name: "none", bytes: nil, unneededSince: noon),
                ], to: id(1))
            // A mark deletes nothing by itself.
            #expect(try await archive.attachment("n0", of: id(1)) == [0])
            #expect(try await archive.attachment("none", of: id(1)) == nil)
            #expect(
                try await archive.archived(id(1))?.attachments.map(\.unneededSince)
                    == [noon, noon + 5, noon + 10, nil, nil, nil])
            #expect(try await archive.removeAttachments(unneededSinceBefore: noon, limit: 9) == 0)
            #expect(try await archive.removeAttachments(unneededSinceBefore: .max, limit: 0) == 0)
            #expect(try await archive.removeAttachments(unneededSinceBefore: noon + 10, limit: 1) == 1)
            #expect(try await test.second.removeAttachments(unneededSinceBefore: noon + 10, limit: 9) == 1)
            #expect(try await archive.removeAttachments(unneededSinceBefore: noon + 10, limit: 9) == 0)
            #expect(try await archive.archived(id(1))?.attachments.map(\.name) == ["n2", "n3", "n4", "n5"])
            #expect(try await archive.archived(id(2))?.attachments.count == 6)
        },
        EventStoreCheck("an attachment that becomes needed again is not removed") { (test) async throws in
            let archive = try test.archive
            try await archive.makeStreams([1])
            for round in 0..<3 {
                try await archive.attach([.init(name: "a", bytes: [7])], to: id(1))
                try await archive.attach([.init(name: "a", bytes: nil, unneededSince: noon)], to: id(1))
                if round == 1 {
                    #expect(try await test.second.removeAttachments(unneededSinceBefore: noon + 1, limit: 9) == 1)
                    #expect(try await archive.attachment("a", of: id(1)) == nil)
                }
                try await archive.attach([.init(name: "a", bytes: [7])], to: id(1))
                #expect(try await test.second.removeAttachments(unneededSinceBefore: .max, limit: 9) == 0)
                #expect(try await archive.attachment("a", of: id(1)) == [7])
                #expect(try await archive.archived(id(1))?.attachments == [ArchivedAttachment(name: "a")])
            }
        },
        EventStoreCheck("attachments that are set, unset and removed at once are there whenever they are needed") {
            (test) async throws in
            let archive = try test.archive
            try await archive.makeStreams(1...4)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for n in 1...4 {
                    group.addTask {
                        for turn in 0..<30 {
                            let store = test.handle(turn)
                            let isNeeded = turn.isMultiple(of: 2)
                            try await store.attach(
                                [
                                    .init(
                                        name: "a", bytes: isNeeded ? Array(repeating: UInt8(n), count: 2_048) : nil,
                                        unneededSince: isNeeded ? nil : noon)
                                ], to: id(n))
                            guard isNeeded else { continue }
                            #expect(try await test.handle(turn + 1).attachment("a", of: id(n))?.first == UInt8(n))
                        }
                    }
                }
                for remover in 0..<2 {
                    group.addTask {
                        for _ in 0..<40 {
                            _ = try await test.handle(remover).removeAttachments(
                                unneededSinceBefore: noon + 1, limit: 2)
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
        EventStoreCheck("the attachments of a stream that is removed are deleted") { (test) async throws in
            let archive = try test.archive
            try await archive.makeStreams([1, 2])
            let changes = (0..<5).map { AttachmentChange(name: "n\($0)", bytes: [1]) }
            try await archive.attach(changes, to: id(1))
            try await archive.attach(changes, to: id(2))
            try await archive.attach([.init(name: "n0", bytes: nil, unneededSince: noon)], to: id(1))
            try await archive.closeStream(1, at: noon)
            #expect(try await archive.removeStreams(closedBefore: noon + 1, limit: 1) == [id(1)])
            #expect(try await archive.streams(in: .attachments, after: nil, limit: 9) == [id(2)])
            while try await archive.sweep(limit: 2) {}
            for n in 0..<5 {
                #expect(try await archive.attachment("n\(n)", of: id(1)) == nil)
                #expect(try await archive.attachment("n\(n)", of: id(2)) == [1])
            }
        },
        EventStoreCheck("attachments are imported as needed") { (test) async throws in
            let archive = try test.archive
            #expect(try await archive.beginImport())
            var batch = ImportBatch()
            var part = ImportedStream(
                stream: id(1), head: StreamHead(epoch: "e", version: made), checksum: nil, entry: entry(1))
            part.events = events(after: 0, count: 2)
            part.attachments = [Attachment(name: "a", bytes: [1]), Attachment(name: "b", bytes: [2])]
            batch.streams = [part]
            try await archive.write(batch)
            part.events = []
            part.attachments = [Attachment(name: "c", bytes: [3])]
            batch.streams = [part]
            try await archive.write(batch)
            try await archive.finishImport()
            #expect(
                try await archive.archived(id(1))?.attachments == ["a", "b", "c"].map { ArchivedAttachment(name: $0) })
            #expect(try await archive.attachment("c", of: id(1)) == [3])
        },
    ]
}

extension EventStore {
    /// Appends changes of attachments, and one event, at a stream's head.
    fileprivate func attach(_ changes: [AttachmentChange], to stream: UUID) async throws {
        guard let head = try await heads(of: [stream])[stream] else { throw CheckFailure("no stream \(stream)") }
        let part = StreamAppend(
            stream: stream, expected: head.version, events: events(after: head.version.seq, count: 1),
            attachments: changes)
        guard try await append([part]) == [.appended] else { throw CheckFailure("an append to \(stream) conflicts") }
    }
}
