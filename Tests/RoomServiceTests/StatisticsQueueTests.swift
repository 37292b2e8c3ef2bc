import NIOCore
import RoomDomain
import RoomStatistics
import RoomTestSupport
import RoomWire
import Synchronization
import Testing

@testable import RoomService

/// What is counted is read in two lines: for those who ask, and for the server itself.
@Suite struct StatisticsQueueTests {
    private typealias Question = @Sendable (StatisticsReader, RoomID, Asker) async throws -> Void

    private static let near = NearbyQuery(origin: place(41.15, -8.61))

    private static let askers: [Question] = [
        { reader, room, asker in
            let query = try StatisticsQuery(step: .hour, from: 0, to: 1, offset: 0, now: Timestamp(milliseconds: 0))
            _ = try await reader.counts(of: room, query, for: asker)
        },
        { _ = try await $0.plays(of: $1, from: 0, to: .max, before: nil, limit: 1, for: $2) },
        { _ = try await $0.ranking(of: $1, from: 0, to: .max, byArtist: false, limit: 1, for: $2) },
        { _ = try await $0.countWatches.look(at: $1, for: $2) },
        { reader, _, asker in
            _ = try await reader.acrossRooms.top(near: near, .hour, byArtist: false, limit: 1, for: asker)
        },
    ]

    private static let own: [Question] = [
        { reader, _, _ in _ = try await reader.acrossRooms.top(.hour, byArtist: true, limit: 1) },
        { reader, _, _ in _ = try await reader.acrossRooms.top(.week, byArtist: true, limit: 1) },
        { reader, _, _ in
            _ = try await reader.trendWatches.answer(TrendingQuery(window: .hour, place: near), for: nil)
        },
    ]

    /// Questions that are asked while all places of a kind are taken wait, and are answered then.
    private func waits(_ kind: HeavyWorkKind, places: Int, _ questions: [Question]) async throws {
        try await withNode(isCounting: true, settings: { $0.nearby.isKept = true }) { node in
            let (room, _) = try await node.makeRoom()
            let reader = try #require(node.host.statistics)
            let work = node.host.registry.dependencies.heavyWork
            let gate = Gate()
            try await withThrowingTaskGroup { group in
                defer { gate.open() }
                for _ in 0..<places { group.addTask { try await work.run(kind) { await gate.pass() } } }
                try await eventually("all places are taken") { gate.arrived == places }
                for (index, question) in questions.enumerated() {
                    let asker = Person.guest(UInt8(index) + 10).asker
                    group.addTask { try await question(reader, room, asker) }
                    try await eventually("question \(index) waits") {
                        node.metrics.samples["backline_heavy_work_waiting{kind=\"\(kind.rawValue)\"}"]
                            == Double(index + 1)
                    }
                }
                gate.open()
                try await group.waitForAll()
            }
        }
    }

    @Test func `nobody asks about what is counted before its turn`() async throws {
        try await waits(.statistics, places: 2, Self.askers)
    }

    @Test func `the server reads what it tells and shares one after the other`() async throws {
        try await waits(.watched, places: 1, Self.own)
    }

    @Test func `what all rooms play is read and encoded once for all who ask`() async throws {
        let clock = ManualClock()
        try await withNode(clock: clock, isCounting: true) { node in
            let across = try #require(node.host.statistics?.acrossRooms)
            let reads = { node.metrics.samples[#"backline_heavy_work_wait_seconds_count{kind="watched"}"#] }
            let before = reads() ?? 0
            // Where the bytes of an answer are in memory.
            let place = { @Sendable (body: TopBody) in
                unsafe body.bytes.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
            }
            let bodies = try await withThrowingTaskGroup { group in
                for _ in 0..<5 {
                    group.addTask { try await across.top(.hour, byArtist: false, limit: 10).body }
                }
                return try await group.reduce(into: [TopBody]()) { $0.append($1) }
            }
            let later = try await across.top(.hour, byArtist: false, limit: 10).body
            #expect(Set((bodies + [later]).map(place)).count == 1 && reads() == before + 1)
            // Ten seconds later it is read anew.
            clock.advance(milliseconds: 10_000)
            let next = try await across.top(.hour, byArtist: false, limit: 10).body
            #expect(next.entityTag != later.entityTag && reads() == before + 2)
        }
    }

    @Test func `who watches is told while those who ask wait, and asks while the server reads`() async throws {
        let clock = ManualClock()
        try await withNode(clock: clock, isCounting: true) { node in
            let (room, owner) = try await node.makeRoom(tracks: 1)
            let reader = try #require(node.host.statistics)
            let watches = reader.countWatches
            let look = try await watches.look(at: room, for: owner.asker)
            let told = Mutex(0)
            let (watch, _) = watches.watch(look, offset: 0, sub: 1, of: WatchClient()) { _, _ in
                told.withLock { $0 += 1 }
            }
            watch.taken()
            defer { watches.unwatch(watch) }
            let work = node.host.registry.dependencies.heavyWork
            /// Runs `body` while the places of a kind are taken.
            func busy(_ kind: HeavyWorkKind, places: Int, _ body: () async throws -> Void) async throws {
                let gate = Gate()
                try await withThrowingTaskGroup { group in
                    defer { gate.open() }
                    for _ in 0..<places { group.addTask { try await work.run(kind) { await gate.pass() } } }
                    try await eventually("all places are taken") { gate.arrived == places }
                    try await body()
                    gate.open()
                    try await group.waitForAll()
                }
            }
            try await busy(.statistics, places: 2) {
                _ = try await node.tell(.vote(track: 1), in: room, by: owner)
                clock.advance(milliseconds: 5_000)
                try await eventually("it is told") { told.withLock { $0 } == 1 }
            }
            try await busy(.watched, places: 1) {
                let answers = Mutex(0)
                async let answer: Void = {
                    _ = try await reader.ranking(
                        of: room, from: 0, to: .max, byArtist: false, limit: 1, for: owner.asker)
                    answers.withLock { $0 += 1 }
                }()
                try await eventually("it is answered") { answers.withLock { $0 } == 1 }
                try await answer
            }
        }
    }
}
