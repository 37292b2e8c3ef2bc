import RandomTestSupport
import RoomDomain
import RoomStatistics
import Testing

@testable import RoomService

/// How many listen, and for how long: whatever the order of changes, and whenever it is asked for.
@Suite struct AudienceTallyTests {
    private func time(_ milliseconds: Int) -> Timestamp {
        Timestamp(milliseconds: 1_782_000_000_000 + Int64(milliseconds))
    }

    private var minute: Int { RoomTally.minute(of: time(0)) }

    @Test func `time counts while a song is on air, for each who is online`() {
        var tally = AudienceTally()
        let isNew = tally.note(online: 2, isPlaying: true, at: time(10_000))
        #expect(isNew)
        let isNewAgain = tally.note(online: 3, isPlaying: true, at: time(20_000))
        #expect(!isNewAgain)
        _ = tally.note(online: 3, isPlaying: false, at: time(30_000))
        _ = tally.note(online: 1, isPlaying: false, at: time(40_000))
        let first = tally.take(at: time(50_000))
        #expect(first == [minute: .init(peak: 3, listenedMs: 50_000)])
        // A minute that goes on is told again, as a whole.
        _ = tally.note(online: 1, isPlaying: true, at: time(50_000))
        let second = tally.take(at: time(130_000))
        #expect(
            second == [
                minute: .init(peak: 3, listenedMs: 60_000), minute + 1: .init(peak: 1, listenedMs: 60_000),
                minute + 2: .init(peak: 1, listenedMs: 10_000),
            ])
        let third = tally.take(at: time(130_000))
        #expect(third.keys.sorted() == [minute + 2])
        #expect(!tally.isQuiet)
        _ = tally.note(online: 0, isPlaying: true, at: time(140_000))
        #expect(!tally.isQuiet)
        let fourth = tally.take(at: time(300_000))
        #expect(fourth == [minute + 2: .init(peak: 1, listenedMs: 20_000)])
        let last = tally.take(at: time(400_000))
        #expect(tally.isQuiet && last.isEmpty)
        let isNewOnce = tally.note(online: 0, isPlaying: true, at: time(500_000))
        #expect(!isNewOnce && tally.isQuiet)
    }

    @Test func `somebody who came and went counts among the most`() {
        var tally = AudienceTally()
        _ = tally.note(online: 5, isPlaying: false, at: time(59_999))
        _ = tally.note(online: 0, isPlaying: false, at: time(59_999))
        let taken = tally.take(at: time(60_000))
        #expect(taken == [minute: .init(peak: 5)])
        #expect(tally.isQuiet)
    }

    @Test(arguments: TestSeed.several(8))
    func `minutes add up to the whole, however often they are taken`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var tally = AudienceTally()
        var told: [Int: AudienceTally.Minute] = [:]
        var (now, online, isPlaying, listened, peak) = (0, 0, false, 0, 0)
        for _ in 0..<400 {
            let step = Int.random(in: 0...40_000, using: &random)
            if isPlaying { listened += online * step }
            now += step
            if random.once(in: 3) {
                // What is told later of the same minute is at least as much.
                for (minute, seen) in tally.take(at: time(now)) {
                    #expect(seen.listenedMs >= told[minute]?.listenedMs ?? 0, "seed \(seed)")
                    #expect(seen.peak >= told[minute]?.peak ?? 0, "seed \(seed)")
                    told[minute] = seen
                }
            } else {
                (online, isPlaying) = (Int.random(in: 0...4, using: &random), random.once(in: 2))
                peak = max(peak, online)
                _ = tally.note(online: online, isPlaying: isPlaying, at: time(now))
            }
        }
        _ = tally.note(online: 0, isPlaying: false, at: time(now))
        told.merge(tally.take(at: time(now))) { $1 }
        #expect(told.values.reduce(0) { $0 + Int($1.listenedMs) } == listened, "seed \(seed)")
        #expect(told.values.map(\.peak).max() == peak, "seed \(seed)")
    }
}
