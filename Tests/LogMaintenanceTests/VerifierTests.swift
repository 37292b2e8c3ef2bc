import EventStorage
import Foundation
import LogTestSupport
import RandomTestSupport
import RoomDomain
import RoomLog
import RoomWire
import Testing

@testable import LogMaintenance

struct VerifierTests {
    @Test func `a log that servers wrote has no findings`() async throws {
        let store = MemoryEventStore()
        _ = try await fill(store, seed: TestSeed.fresh())
        let found = try await findings(in: store)
        #expect(found.isEmpty, "\(found)")
    }

    @Test func `an empty log has no findings`() async throws {
        #expect(try await findings(in: MemoryEventStore()).isEmpty)
    }

    @Test func `one room is looked at alone`() async throws {
        let store = MemoryEventStore()
        var filler = LogFiller(store, seed: TestSeed.fixed(1))
        let room = try await filler.makeRoom(events: 30)
        try await filler.makeRoom(events: 30)
        let verifier = LogVerifier(store) { Issue.record("\($0)") }
        let verification = try #require(try await verifier.verify(room: room.room))
        #expect(verification.rooms == 1 && verification.events == room.events)
        #expect(try await verifier.verify(room: UUID()) == nil)
    }

    @Test func `a snapshot that is not the replay is found, one of another version is not looked into`() async throws {
        let store = MemoryEventStore()
        var filler = LogFiller(store, seed: TestSeed.fixed(1))
        // No snapshot is kept from before the room's location was cleared, wherever that was.
        let (room, last) = try await filler.makeRoom(events: 30)
        try await store.save(StoredSnapshot(seq: last, reducerVersion: 99, state: [1, 2]), of: room)
        #expect(try await findings(in: store).isEmpty)
        let version = StoredStateJSON.reducerVersion
        try await store.save(StoredSnapshot(seq: last, reducerVersion: version, state: Array("{}".utf8)), of: room)
        #expect(try await findings(in: store).map(\.what) == ["snapshot \(last)"])
        try await store.save(StoredSnapshot(seq: 99, reducerVersion: version, state: []), of: room)
        #expect(try await findings(in: store).map(\.what) == ["snapshot \(last)", "snapshot 99"])
    }

    @Test func `an epoch that was changed by hand is found, and renewing it is the remedy`() async throws {
        let store = MemoryEventStore()
        var filler = LogFiller(store, seed: TestSeed.fixed(1))
        let rooms = [try await filler.makeRoom(events: 9).room, try await filler.makeRoom(events: 9).room]
        let before = try await store.heads(of: rooms)
        try await store.renewEpochs([EpochRenewal(stream: rooms[0], epoch: "mine", checksum: 7)])
        #expect(try await findings(in: store).map(\.remedy) == [.renewEpoch])
        var random = SeededRandom(seed: TestSeed.fixed(1))
        #expect(try await EpochRenewer.renew(rooms[0], in: store, random: &random))
        #expect(try await EpochRenewer.renew(UUID(), in: store, random: &random) == false)
        #expect(try await findings(in: store).isEmpty)
        #expect(try await EpochRenewer.renewAll(in: store, random: &random) { _ in } == 2)
        #expect(try await findings(in: store).isEmpty)
        let after = try await store.heads(of: rooms)
        for room in rooms {
            #expect(after[room]?.epoch != before[room]?.epoch && after[room]?.version == before[room]?.version)
        }
    }

    @Test(arguments: [
        WatchedArchive.Listing.streams(.events), .streams(.keys), .streams(.snapshots), .creationKeys,
    ])
    func `a room that is removed after its rows were listed is not reported`(
        listing: WatchedArchive.Listing
    ) async throws {
        let store = MemoryEventStore()
        var filler = LogFiller(store, seed: TestSeed.fixed(1), eventsPerSnapshot: 20)
        try await filler.makeRoom(events: 60)
        let removed = try await filler.makeRoom(events: 60, closes: true).room
        let watched = WatchedArchive(log: store) { (listed) async throws(StorageFault) in
            if listed == listing { _ = try await store.removeStreams(closedBefore: .max, limit: 9) }
        }
        let found = try await findings(in: watched)
        #expect(found.isEmpty, "\(found)")
        #expect(try await store.heads(of: [removed]).isEmpty)
    }

    @Test func `rows that cannot be listed are a finding, and the rest is looked at`() async throws {
        let store = MemoryEventStore()
        var filler = LogFiller(store, seed: TestSeed.fixed(1))
        let room = try await filler.makeRoom(events: 9).room
        try await store.renewEpochs([EpochRenewal(stream: room, epoch: "mine", checksum: 7)])
        for (listing, found) in [
            (.unfinishedImport, ["unfinished_imports", "epoch mine"]), (.streams(.heads), ["heads"]),
            (.streams(.directory), ["epoch mine", "directory"]),
            (.streams(.events), ["epoch mine", "events"]), (.streams(.keys), ["epoch mine", "command_keys"]),
            (.streams(.snapshots), ["epoch mine", "snapshots"]),
            (.streams(.memberships), ["epoch mine", "memberships"]), (.creationKeys, ["epoch mine", "creation keys"]),
        ] as [(WatchedArchive.Listing, [String])] {
            func watched(_ fault: StorageFault) -> WatchedArchive {
                WatchedArchive(log: store) { (listed) async throws(StorageFault) in
                    if listed == listing { throw fault }
                }
            }
            let findings = try await findings(in: watched(.corrupt(.init(message: "a page is damaged"))))
            #expect(findings.map { $0.what.replacing(": checksum", with: "") } == found)
            #expect(findings.contains { $0.remedy == .restoreLog && $0.room == nil && $0.found == "a page is damaged" })
            await #expect(throws: StorageFault.closed) {
                try await LogVerifier(watched(.closed)) { _ in }.verify()
            }
        }
    }

    // MARK: One room

    @Test func `a hole, a double key, a twin and rows beyond the head are found`() async throws {
        let store = MemoryEventStore()
        var filler = LogFiller(store, seed: TestSeed.fixed(2))
        let room = try await filler.makeRoom(events: 40).room
        let whole = try #require(try await store.archived(room))
        let events = try await store.read(room, after: 0, limit: 1_000)
        func found(
            _ events: [StoredEvent], _ change: (inout ArchivedStream) -> Void = { _ in }
        ) -> [String] {
            var archived = whole
            change(&archived)
            var proof = RoomProof(archived)
            for event in events { proof.take(event) }
            proof.finish()
            return proof.findings.map(\.what)
        }
        let code = try #require(whole.entry?.entry.code)
        #expect(found(events).isEmpty)
        #expect(found(events.filter { $0.seq != 7 }) == ["event 7"])
        #expect(found(Array(events.dropLast())) == ["event \(events.count)"])
        #expect(found(events) { $0.lastEvent += 1 } == ["head: seq"])
        #expect(found(events) { $0.entry?.codeTwin = UUID() } == ["code \(code)"])
        #expect(found(events) { $0.snapshots = [0, 10_000] } == ["snapshot 0", "snapshot 10000"])
        #expect(found(events) { $0.members.removeLast() } == ["memberships"])
        #expect(found(events) { $0.members.append(UUID()) } == ["memberships"])
        #expect(found(events) { $0.entry?.entry.djName = "x" } == ["directory: dj_name"])
        #expect(found(events) { $0.entry = nil } == ["directory"])
        #expect(found(events) { $0.head.version.keyed += 1 } == ["keys"])
        #expect(found(events) { $0.keys.removeFirst() } == ["keys"])
        #expect(found(events) { $0.keys[1].slot += 1 } == ["key 2: slot"])
        #expect(found(events) { $0.keys[1].key.seq = 10_000 }.contains("key 2: seq"))
        let double = found(events) {
            ($0.keys[1].key.session, $0.keys[1].key.key) = ($0.keys[0].key.session, $0.keys[0].key.key)
            $0.keys[1].key = $0.keys[1].key.sealed(in: RoomID(room))
        }
        #expect(double == ["key 2"])
        #expect(
            found([]) {
                $0.head.version.seq = 0; $0.lastEvent = 0
            }.first == "event 1")
    }

    @Test func `an event that was written into the past, or that nobody can read, is found without a checksum`()
        async throws
    {
        let store = MemoryEventStore()
        var filler = LogFiller(store, seed: TestSeed.fixed(2))
        let room = try await filler.makeRoom(events: 40).room
        let whole = try #require(try await store.archived(room))
        let events = try await store.read(room, after: 0, limit: 1_000)
        func found(_ change: (inout StoredEvent) -> Void) -> [String] {
            var proof = RoomProof(whole)
            for (index, event) in events.enumerated() {
                var event = event
                event.checksum = nil
                if index == 19 { change(&event) }
                proof.take(event)
            }
            proof.finish()
            #expect(proof.withoutChecksum == events.count)
            return proof.findings.map(\.what)
        }
        #expect(found { _ in }.isEmpty)
        #expect(found { $0.at = 5 } == ["event 20: at"])
        #expect(found { $0.type = "unheardOf" } == ["event 20"])
        #expect(found { $0.payload = Array("{".utf8) } == ["event 20"])
    }

    @Test func `waveforms that are missing, damaged, marked or kept for nothing are found`() async throws {
        let store = MemoryEventStore()
        var filler = LogFiller(store, seed: TestSeed.fixed(1))
        var room = UUID()
        var needed: [String] = []
        while needed.count < 3 {
            room = try await filler.makeRoom(events: 150).room
            needed = try #require(try await store.archived(room)).attachments.filter { $0.unneededSince == nil }
                .map(\.name)
        }
        func change(_ changes: AttachmentChange...) async throws -> [Finding] {
            let version = try #require(try await store.heads(of: [room])[room]).version
            let part = StreamAppend(stream: room, expected: version, events: [], attachments: changes)
            #expect(try await store.append([part]) == [.appended])
            return try await findings(in: store)
        }
        #expect(try await findings(in: store).isEmpty)
        let good = try #require(try await store.attachment(needed[0], of: room))
        let damaged = try await change(AttachmentChange(name: needed[0], bytes: good.map { $0 ^ 1 }))
        #expect(damaged.map(\.what) == ["waveform \(needed[0])"])
        #expect(damaged.map(\.remedy) == [.restoreWaveform])
        #expect(try await change(AttachmentChange(name: needed[0], bytes: [1])).first?.found == "1 bytes")
        #expect(try await change(AttachmentChange(name: needed[0], bytes: good)).isEmpty)
        let marked = try await change(AttachmentChange(name: needed[1], bytes: nil, unneededSince: 7))
        #expect(marked.map(\.remedy) == [.unmarkWaveform])
        #expect(try await store.removeAttachments(unneededSinceBefore: 8, limit: 1) == 1)
        let lost = try await findings(in: store)
        #expect(lost.map(\.what) == ["waveform \(needed[1])"] && lost.map(\.remedy) == [.restoreWaveform])
        let name = try #require(Waveform(data: Array(repeating: 77, count: Waveform.byteCount)))
        let extra = try await change(AttachmentChange(name: name.name.description, bytes: name.data))
        #expect(Set(extra.map(\.remedy)) == [.restoreWaveform, .deleteWaveform])
    }
}
