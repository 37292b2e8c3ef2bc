import EventStorage
import Foundation
import LogTestSupport
import RandomTestSupport
import RoomDomain
import RoomLog
import RoomTestSupport
import RoomWire
import Testing

@testable import LogMaintenance

struct ExportImportTests {
    @Test func `an exported log is imported whole, and its export is the same`() async throws {
        let (first, second) = (MemoryEventStore(), MemoryEventStore())
        let rooms = try await fill(first, seed: TestSeed.fresh())
        let lines = try await export(first)
        let counts = try await importLines(lines, into: second)
        #expect(counts.rooms == rooms.count && counts.events > 1_200 && counts.keys > 1_000 && counts.sessions == 8)
        #expect(counts.waveforms > 3)
        #expect(try await export(second) == lines)
        #expect(try await findings(in: second).isEmpty)
        for room in rooms {
            var (one, other) = (try await first.archived(room), try await second.archived(room))
            one?.snapshots = []
            one?.attachments.removeAll { $0.unneededSince != nil }
            one?.members.sort()
            other?.members.sort()
            for index in one?.keys.indices ?? 0..<0 { #expect(one?.keys[index].key == other?.keys[index].key) }
            #expect(one == other)
        }
        #expect(try await second.hasUnfinishedImport() == false)
    }

    @Test func `a store that holds anything is not imported into`() async throws {
        let store = MemoryEventStore()
        _ = try await fill(store, seed: TestSeed.fixed(1))
        let lines = try await export(store)
        await #expect(throws: LogImporter.Fault.notEmpty) { try await importLines(lines, into: store) }
        #expect(try await findings(in: store).isEmpty)
    }

    @Test func `an export that is truncated anywhere is refused`() async throws {
        let store = MemoryEventStore()
        var filler = LogFiller(store, seed: TestSeed.fixed(5))
        try await filler.makeRoom(events: 20)
        let lines = try await export(store)
        for count in 0..<lines.count {
            let target = MemoryEventStore()
            let fault = await #expect(throws: LogImporter.Fault.self) {
                try await importLines(Array(lines.prefix(count)), into: target)
            }
            #expect(fault == .cut(afterLine: count))
            #expect(try await target.hasUnfinishedImport() == (count > 0))
            if count > 0 {
                #expect(try await findings(in: target).contains { $0.remedy == .importAgain })
                await #expect(throws: LogImporter.Fault.notEmpty) { try await importLines(lines, into: target) }
            }
        }
    }

    @Test func `a line that is missing, repeated or out of order is reported by its number`() async throws {
        let seed = TestSeed.fresh()
        var random = SeededRandom(seed: seed)
        let store = MemoryEventStore()
        var filler = LogFiller(store, seed: seed)
        try await filler.makeRoom(events: 20)
        try await filler.makeRoom(events: 20)
        let lines = try await export(store)
        for _ in 0..<50 {
            var changed = lines
            let place = Int.random(in: 1..<lines.count, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: changed.remove(at: place)
            case 1: changed.insert(lines[place], at: place)
            default: changed.insert(changed.remove(at: Int.random(in: 1..<lines.count, using: &random)), at: place)
            }
            guard changed != lines else { continue }
            await #expect(throws: LogImporter.Fault.self, "seed \(seed)") {
                do throws(LogImporter.Fault) {
                    try await importLines(changed, into: MemoryEventStore())
                } catch {
                    // Creation keys and sessions may be in any order, but no two may be equal.
                    if case .storage(.rejected) = error { throw LogImporter.Fault.notEmpty }
                    throw error
                }
                guard Set(changed) == Set(lines), changed.count == lines.count else { return }
                throw LogImporter.Fault.notEmpty
            }
        }
    }

    @Test func `a changed byte in an event, a key or an epoch is reported by its line`() async throws {
        let seed = TestSeed.fresh()
        var random = SeededRandom(seed: seed)
        let store = MemoryEventStore()
        var filler = LogFiller(store, seed: seed)
        try await filler.makeRoom(events: 20)
        let lines = try await export(store)
        for (place, line) in lines.enumerated().dropFirst() {
            let text = String(decoding: line, as: UTF8.self)
            guard ["{\"event\"", "{\"key\"", "{\"room\"", "{\"waveform\""].contains(where: text.hasPrefix) else {
                continue
            }
            for _ in 0..<4 {
                var changed = lines
                let byte = Int.random(in: line.indices, using: &random)
                changed[place][byte] ^= 1 << Int.random(in: 0..<8, using: &random)
                // The case of hexadecimal digits and of a UUID's letters does not matter.
                guard
                    String(decoding: changed[place], as: UTF8.self).lowercased() != text.lowercased()
                else { continue }
                // A last digit may make no other number.
                if let same = try? JSONValue(parsing: changed[place]), same == (try? JSONValue(parsing: line)) {
                    continue
                }
                let fault = await #expect(throws: LogImporter.Fault.self, "seed \(seed): \(text)") {
                    try await importLines(changed, into: MemoryEventStore())
                }
                guard case .line? = fault else {
                    Issue.record("seed \(seed): \(fault as LogImporter.Fault?) for \(text)")
                    continue
                }
            }
        }
    }

    @Test(arguments: [
        "", "{}", "null", "[]", "{\"backline\":1}", #"{"backline":{"format":1}}"#,
        #"{"backline":{"format":3,"version":"9"}}"#, #"{"backline":{"format":0,"version":"9"}}"#,
        #"{"end":{"rooms":0,"events":0,"keys":0,"creations":0,"sessions":0}}"#,
    ])
    func `an input that does not begin as an export is refused before anything is written`(line: String) async throws {
        let store = MemoryEventStore()
        let fault = await #expect(throws: LogImporter.Fault.self) {
            try await importLines([Array(line.utf8)], into: store)
        }
        guard case .line(1, _)? = fault else {
            Issue.record("the fault was \(fault as LogImporter.Fault?)")
            return
        }
        #expect(try await store.hasUnfinishedImport() == false)
    }

    @Test func `an event without a checksum stays without`() async throws {
        let store = MemoryEventStore()
        var filler = LogFiller(store, seed: TestSeed.fixed(3))
        try await filler.makeRoom(events: 10)
        var lines = try await export(store)
        for index in lines.indices {
            let text = String(decoding: lines[index], as: UTF8.self)
            lines[index] = Array(text.replacing(/,"checksum":"[0-9a-f]+"/, with: "").utf8)
        }
        let target = MemoryEventStore()
        try await importLines(lines, into: target)
        #expect(try await export(target) == lines)
        var unsealed = 0
        unsealed = try await LogVerifier(target) { Issue.record("\($0)") }.verify().withoutChecksum
        #expect(unsealed > 10)
    }

    @Test func `an export of format 1, which has no waveforms, is imported`() async throws {
        let store = MemoryEventStore()
        let (room, owner) = (UUID(), UUID())
        try await makeRoom(room, by: owner, in: store, waveforms: false)
        let lines = try await export(store).map { line in
            let text = String(decoding: line, as: UTF8.self)
            return Array(
                text.replacing("\"format\":2", with: "\"format\":1").replacing(",\"waveforms\":0", with: "").utf8)
        }
        #expect(lines.last?.count ?? 0 < (try await export(store).last?.count ?? 0))
        let target = MemoryEventStore()
        let counts = try await importLines(lines, into: target)
        #expect(counts.rooms == 1 && counts.waveforms == 0)
        #expect(try await export(target) == export(store))
    }

    @Test func `waveforms that are missing, strange, of no track or out of order are refused`() async throws {
        let store = MemoryEventStore()
        try await makeRoom(UUID(), by: UUID(), in: store, waveforms: true)
        let lines = try await export(store)
        let places = lines.indices.filter { String(decoding: lines[$0], as: UTF8.self).hasPrefix("{\"waveform\"") }
        #expect(places.count == 2)
        func refusal(_ change: (inout [[UInt8]]) -> Void) async -> String {
            var changed = lines
            change(&changed)
            do throws(LogImporter.Fault) {
                try await importLines(changed, into: MemoryEventStore())
            } catch {
                if case .line(_, let message) = error { return message }
                return "\(error)"
            }
            return "imported"
        }
        let stranger = Array(
            #"{"waveform":{"name":"\#(Waveform.samples[5].name)","data":"\#(Waveform.samples[5].text)"}}"#.utf8)
        #expect(await refusal { $0.remove(at: places[0]) }.contains("it lacks the waveform"))
        #expect(await refusal { $0.removeSubrange(places[0]...places[1]) }.contains("it lacks the waveform"))
        #expect(await refusal { $0[places[0]] = stranger }.contains("waveform"))
        #expect(await refusal { $0.swapAt(places[0], places[1]) }.contains("is out of order"))
        #expect(await refusal { $0.insert(lines[places[0]], at: places[0]) }.contains("is out of order"))
        #expect(await refusal { $0.insert(lines[places[0]], at: 1) }.contains("it belongs to no room"))
        // Without its waveforms it is of format 1 only if no track has any.
        let message = await refusal { changed in
            changed.removeSubrange(places[0]...places[1])
            changed[0] = Array(#"{"backline":{"format":1,"version":"1"}}"#.utf8)
        }
        #expect(message.contains("it lacks the waveform"))
    }

    /// Makes a room with two tracks, and with two waveforms or none.
    private func makeRoom(_ room: UUID, by owner: UUID, in store: any EventStore, waveforms: Bool) async throws {
        var state = RoomState(id: RoomID(room))
        let founding = RoomFounding(
            id: RoomID(room), code: .zero, name: "Kitchen", location: nil, visibility: .public,
            settings: SettingsUpdate(), founder: SessionID(owner), founderName: "Ana")
        var events: [RoomEvent] = try RoomState.found(founding)
        let tracks = (1...2).map { number in
            NumberedTrack(
                id: TrackID(rawValue: number), info: TrackInfo(source: "s", sourceID: "\(number)", title: "Song"))
        }
        events.append(.tracksAdded(tracks: tracks, by: MemberID(rawValue: 1)))
        let given = Waveform.samples.prefix(waveforms ? 2 : 0)
        for (track, waveform) in zip(tracks, given) {
            events.append(.waveformSet(track: track.id, waveform: waveform.name, by: MemberID(rawValue: 1)))
        }
        let recorded = state.recorded(events, at: Timestamp(milliseconds: 1_782_000_000_000))
        for event in recorded { state.evolve(event) }
        let epoch = EpochRenewal(of: state.id, random: 7)
        let stored = recorded.map { EventJSON.stored($0, in: state.id) }
        let creation = StreamCreation(
            first: StreamAppend(
                stream: room, expected: .start, events: Array(stored.prefix(2)), directory: DirectoryEntry(of: state),
                joined: [owner]),
            epoch: epoch.epoch, checksum: epoch.checksum, creator: owner, key: nil, fingerprint: 1, at: 1,
            keysSince: 0, ownerLimit: 1)
        #expect(try await store.create(creation) == .created)
        let rest = StreamAppend(
            stream: room, expected: StreamVersion(seq: 2, keyed: 0), events: Array(stored.dropFirst(2)),
            attachments: given.map { AttachmentChange(name: $0.name.description, bytes: $0.data) })
        #expect(try await store.append([rest]) == [.appended])
    }
}
