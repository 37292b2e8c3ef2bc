import EventStorage
import FoundationEssentials
import RandomTestSupport
import Testing

extension ConformanceSuite {
    static let historyChecks = [
        EventStoreCheck("a random history answers as the reference does") { (test) async throws in
            var history = RandomHistory(
                seed: TestSeed.fresh("a random history of an event store"), streams: 12, sharesCodes: true)
            let reference = MemoryEventStore()
            for step in 0..<600 {
                history.take(heads: try await reference.heads(of: (0..<12).map(id)))
                let operation = history.next()
                let expected = try await operation.answer(of: reference)
                let answer = try await operation.answer(of: test.handle(step))
                guard answer == expected else {
                    throw CheckFailure("step \(step), \(operation): \(answer) instead of \(expected)")
                }
            }
        },
        EventStoreCheck("what random writers win at once is what the reference makes of it") { (test) async throws in
            let seed = TestSeed.fresh("random writers of an event store")
            let rooms = 6
            try await test.store.makeStreams(0..<rooms)
            let won = try await withThrowingTaskGroup(of: [StreamAppend].self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        var history = RandomHistory(seed: seed &+ UInt64(writer), streams: rooms, sharesCodes: false)
                        var won: [StreamAppend] = []
                        for _ in 0..<40 {
                            history.take(heads: try await test.handle(writer).heads(of: (0..<rooms).map(id)))
                            let batch = history.batch(alwaysMoving: true)
                            let outcomes = try await test.handle(writer).append(batch)
                            won += zip(batch, outcomes).filter { $0.1 == .appended }.map(\.0)
                        }
                        return won
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            let reference = MemoryEventStore()
            try await reference.makeStreams(0..<rooms)
            for part in won.sorted(by: { ($0.expected.seq, $0.expected.keyed) < ($1.expected.seq, $1.expected.keyed) })
            {
                #expect(try await reference.append([part]) == [.appended])
            }
            for n in 0..<rooms {
                #expect(try await test.store.whole(id(n)) == reference.whole(id(n)))
                #expect(try await test.store.listedEntry(of: id(n)) == reference.listedEntry(of: id(n)))
            }
            for session in RandomHistory.sessions + [id(800)] {
                #expect(
                    Set(try await test.store.memberships(of: session))
                        == Set(try await reference.memberships(of: session)))
            }
        },
    ]
}
