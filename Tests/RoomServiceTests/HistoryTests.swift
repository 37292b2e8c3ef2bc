import NIOCore
import RandomTestSupport
import RoomDomain
import RoomService
import SimulatedTime
import Testing

/// Random histories: every way of folding them, from any position, ends with the same room.
@Suite struct HistoryTests {
    @Test(arguments: 0..<10) func `replay, snapshots, live rooms and clients that come and go agree`(
        block: UInt64
    ) async throws {
        let seeds = TestSeed.fixed(block * 25..<block * 25 + 25)
        print("live rooms, seeds \(seeds[0]) to \(seeds[24])")
        try await withNode(settings: { settings in
            settings.comparisonInterval = .milliseconds(1)
            settings.evictAfter = .milliseconds(0)
            settings.eventsPerSnapshot = 7
        }) { node in
            var resumptions = 0
            for seed in seeds {
                var random = try await RandomRoom(seed: seed, on: [node])
                for step in 0..<12 {
                    if step == 6 { try await random.leaveMemory() }
                    random.reconnect(onceIn: 3)
                    var answers: [Answer] = []
                    for _ in 0...random.dice.number(in: 0..<4) {
                        let (command, actor) = try random.nextCommand()
                        answers.append(node.ask(command, in: random.room, by: actor))
                    }
                    for answer in answers {
                        let outcome = try await answer.outcome()
                        #expect(outcome != .failed(.unavailable) && outcome != .failed(.internalFault), "seed \(seed)")
                    }
                }
                try await random.expectAgreement()
                resumptions += random.resumptions
            }
            #expect(resumptions > 50, "clients came back \(resumptions) times")
        }
    }
}
