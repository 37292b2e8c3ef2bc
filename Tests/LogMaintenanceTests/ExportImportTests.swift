import EventStorage
import Foundation
import LogTestSupport
import RandomTestSupport
import Testing

@testable import LogMaintenance

struct ExportImportTests {
    @Test func `an exported log is imported whole, and its export is the same`() async throws {
        let (first, second) = (MemoryEventStore(), MemoryEventStore())
        let rooms = try await fill(first, seed: TestSeed.fresh())
        let lines = try await export(first)
        let counts = try await importLines(lines, into: second)
        #expect(counts.rooms == rooms.count && counts.events > 1_200 && counts.keys > 1_000 && counts.sessions == 8)
        #expect(try await export(second) == lines)
        #expect(try await findings(in: second).isEmpty)
        for room in rooms {
            var (one, other) = (try await first.archived(room), try await second.archived(room))
            one?.snapshots = []
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
            guard ["{\"event\"", "{\"key\"", "{\"room\""].contains(where: text.hasPrefix) else { continue }
            for _ in 0..<4 {
                var changed = lines
                let byte = Int.random(in: line.indices, using: &random)
                changed[place][byte] ^= 1 << Int.random(in: 0..<8, using: &random)
                // The case of hexadecimal digits and of a UUID's letters does not matter.
                guard
                    String(decoding: changed[place], as: UTF8.self).lowercased() != text.lowercased()
                else { continue }
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
        #"{"backline":{"format":2,"version":"9"}}"#,
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
}
