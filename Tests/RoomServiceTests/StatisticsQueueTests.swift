import RoomDomain
import RoomStatistics
import RoomWire
import Testing

@testable import RoomService

/// What is counted is asked for in one queue.
@Suite struct StatisticsQueueTests {
    private typealias Question = @Sendable (StatisticsReader, RoomID, Asker) async throws -> Void

    private static let questions: [(name: String, ask: Question)] = [
        (
            "counts",
            {
                _ = try await $0.counts(
                    of: $1, StatisticsQuery(step: .hour, from: 0, to: 1, offset: 0, now: Timestamp(milliseconds: 0)),
                    for: $2)
            }
        ),
        ("plays", { _ = try await $0.plays(of: $1, from: 0, to: .max, before: nil, limit: 1, for: $2) }),
        ("a ranking", { _ = try await $0.ranking(of: $1, from: 0, to: .max, byArtist: false, limit: 1, for: $2) }),
        ("a look with which a watch begins", { _ = try await $0.countWatches.look(at: $1, for: $2) }),
        (
            "what all rooms play",
            { reader, _, _ in _ = try await reader.acrossRooms.top(.hour, byArtist: false, limit: 1) }
        ),
    ]

    @Test func `nobody asks about what is counted before its turn`() async throws {
        try await withNode(isCounting: true) { node in
            let (room, _) = try await node.makeRoom()
            let reader = try #require(node.host.statistics)
            let work = node.host.registry.dependencies.heavyWork
            let gate = Gate()
            defer { gate.open() }
            try await withThrowingTaskGroup { group in
                for number: UInt8 in 0..<2 {
                    group.addTask {
                        try await work.run(.statistics, for: Person.guest(number).asker) { await gate.pass() }
                    }
                }
                try await eventually("all places are taken") { gate.arrived == 2 }
                for (index, question) in Self.questions.enumerated() {
                    let asker = Person.guest(UInt8(index) + 10).asker
                    group.addTask { try await question.ask(reader, room, asker) }
                    try await eventually("\(question.name) waits") {
                        node.metrics.samples[#"backline_heavy_work_waiting{kind="statistics"}"#] == Double(index + 1)
                    }
                }
                gate.open()
                try await group.waitForAll()
            }
        }
    }
}
