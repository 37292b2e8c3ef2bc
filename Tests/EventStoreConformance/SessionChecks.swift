import EventStorage
import FoundationEssentials
import RandomTestSupport
import Testing

extension ConformanceSuite {
    static let sessionChecks = [
        EventStoreCheck("a session is found by its token's hash alone") { (test) async throws in
            let ana = session(1, name: "Ana 🎧 '\"\\")
            let ben = session(2)
            try await test.store.insert(ana)
            try await test.store.insert(ben)
            #expect(try await test.second.session(tokenHash: ana.tokenHash) == ana)
            #expect(try await test.store.session(tokenHash: ben.tokenHash) == ben)
            #expect(try await test.store.session(tokenHash: session(3).tokenHash) == nil)
            #expect(try await test.store.session(tokenHash: []) == nil)
            #expect(try await test.store.session(tokenHash: Array(ana.tokenHash.dropLast())) == nil)
        },
        EventStoreCheck("a second session of one id or one token hash is refused") { (test) async throws in
            try await test.store.insert(session(1))
            var sameID = session(2)
            sameID.id = id(1)
            var sameHash = session(3)
            sameHash.tokenHash = session(1).tokenHash
            for double in [sameID, sameHash] {
                let fault = await #expect(throws: StorageFault.self) { try await test.store.insert(double) }
                guard case .rejected? = fault else { throw CheckFailure("the fault was \(fault as StorageFault?)") }
            }
            #expect(try await test.store.session(tokenHash: session(1).tokenHash) == session(1))
            #expect(try await test.store.session(tokenHash: session(2).tokenHash) == nil)
        },
        EventStoreCheck("a session is renamed and extended") { (test) async throws in
            try await test.store.insert(session(1))
            try await test.store.insert(session(2))
            #expect(try await test.store.renameSession(id(1), to: "Zoë"))
            #expect(try await test.store.renameSession(id(9), to: "Nobody") == false)
            try await test.store.extendSession(id(1), to: noon + 77)
            try await test.store.extendSession(id(9), to: noon + 77)
            var changed = session(1, name: "Zoë")
            changed.expiresAt = noon + 77
            #expect(try await test.second.session(tokenHash: changed.tokenHash) == changed)
            #expect(try await test.store.session(tokenHash: session(2).tokenHash) == session(2))
        },
        EventStoreCheck("a session that has ended is not extended and waits to be removed") { (test) async throws in
            try await test.store.insert(session(1))
            try await test.store.endSession(id(1), at: noon)
            try await test.store.endSession(id(1), at: noon)
            try await test.store.endSession(id(9), at: noon)
            try await test.store.extendSession(id(1), to: noon + 1_000_000)
            var ended = session(1)
            ended.hasEnded = true
            ended.expiresAt = min(ended.expiresAt, noon)
            #expect(try await test.second.session(tokenHash: ended.tokenHash) == ended)
            #expect(try await test.store.sessionsToRemove(at: 0, limit: 10) == [ended])
        },
        EventStoreCheck("of many sessions those are told that have ended or are not there") { (test) async throws in
            for n in 1...4 { try await test.store.insert(session(n)) }
            try await test.store.endSession(id(2), at: noon)
            try await test.store.deleteSession(id(3))
            #expect(Set(try await test.second.endedSessions(among: (1...5).map(id))) == [id(2), id(3), id(5)])
            #expect(try await test.store.endedSessions(among: []).isEmpty)
        },
        EventStoreCheck("sessions that have ended or expired are given for removal") { (test) async throws in
            for n in 1...6 {
                try await test.store.insert(session(n))
            }
            try await test.store.endSession(id(5), at: noon)
            func removable(_ now: Int64, limit: Int = 10) async throws -> Set<UUID> {
                let sessions = try await test.store.sessionsToRemove(at: now, limit: limit)
                #expect(Set(sessions).count == sessions.count)
                return Set(sessions.map(\.id))
            }
            #expect(try await removable(session(1).expiresAt - 1) == [id(5)])
            #expect(try await removable(session(2).expiresAt) == [id(1), id(2), id(5)])
            #expect(try await removable(session(6).expiresAt) == Set((1...6).map(id)))
            #expect(try await removable(session(6).expiresAt, limit: 4).count == 4)
            #expect(try await removable(session(6).expiresAt, limit: 0).isEmpty)
        },
        EventStoreCheck("a session is removed, its memberships are not") { (test) async throws in
            try await test.store.insert(session(800))
            try await test.store.insert(session(2))
            try await test.store.makeStreams([1])
            try await test.store.deleteSession(id(800))
            try await test.store.deleteSession(id(800))
            #expect(try await test.second.session(tokenHash: session(800).tokenHash) == nil)
            #expect(try await test.store.session(tokenHash: session(2).tokenHash) == session(2))
            #expect(try await test.store.memberships(of: id(800)) == [id(1)])
            #expect(try await test.store.renameSession(id(800), to: "Gone") == false)
            try await test.store.insert(session(800))
        },
        EventStoreCheck("with a session the keys are removed under which it made streams, and no others") {
            (test) async throws in
            try await test.store.insert(session(800))
            #expect(try await test.store.create(creation(1, key: "k")) == .created)
            #expect(try await test.store.create(creation(2, creator: id(801), key: "k")) == .created)
            try await test.store.deleteSession(id(800))
            let others = CreationOutcome.existing(stream: id(2), fingerprint: 7)
            #expect(try await test.second.create(creation(3, creator: id(801), key: "k")) == others)
            #expect(try await test.second.create(creation(3, key: "k")) == .created)
        },
        EventStoreCheck("a store that works is healthy") { (test) async throws in
            try await test.store.checkHealth()
            try await test.store.makeStreams([1])
            try await test.second.checkHealth()
        },
    ]

    /// The `n`th session; the `n`th to expire.
    private static func session(_ n: Int, name: String = "Ana") -> SessionRecord {
        var mixer = SeededRandom(seed: UInt64(n))
        return SessionRecord(
            id: id(n), tokenHash: (0..<32).map { _ in UInt8.random(in: 0...255, using: &mixer) }, name: name,
            createdAt: noon, expiresAt: noon + Int64(n) * 1_000)
    }
}
