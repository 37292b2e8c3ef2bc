import RoomDomain
import RoomReplica
import Testing

@Suite struct ClockSyncTests {
    /// A burst with these delays on the way there and back, in milliseconds; the server is ahead by `offset`.
    private func burst(_ delays: [(there: Double, back: Double)], offset: Double) -> ClockSync {
        var clock = ClockSync()
        var now = 1_000.0
        clock.begin(id: 1, at: .at(1_000))
        for (number, delay) in delays.enumerated() {
            let t1 = now
            let t2 = t1 + delay.there + offset
            let t3 = t2 + 0.5
            now = t3 + delay.back - offset
            let isMore = clock.take(
                Int64(number + 1), t1: t1, t2: t2, t3: t3, at: ClientInstant(nanoseconds: Int64(now * 1_000_000)))
            #expect(isMore == (number < 7))
            if isMore { clock.asks(Int64(number + 2)) }
        }
        return clock
    }

    @Test func `the exchange with the least delay counts, and half of its delay bounds the error`() throws {
        var delays = Array(repeating: (there: 80.0, back: 10.0), count: 8)
        delays[5] = (there: 3, back: 1)
        let clock = burst(delays, offset: 5_000)
        let error = try #require(clock.errorMs)
        #expect(abs(error - 2) < 0.01)
        let time = try #require(clock.time(at: .at(10_000)))
        #expect(abs(Double(time.milliseconds) - 15_000) <= error + 1)
    }

    @Test func `the error is within its bound, whatever the delays`() throws {
        for (there, back) in [(0.0, 40.0), (40.0, 0.0), (20.0, 20.0), (1.0, 2.0)] {
            let clock = burst(Array(repeating: (there, back), count: 8), offset: -700)
            let error = try #require(clock.errorMs)
            let time = try #require(clock.time(at: .at(10_000)))
            #expect(abs(Double(time.milliseconds) - 9_300) <= error + 1)
        }
    }

    @Test func `a time that the server tells is a first estimate, and none after a burst`() {
        var clock = ClockSync()
        #expect(clock.time(at: .at(0)) == nil)
        clock.hint(Timestamp(milliseconds: 9_000), at: .at(1_000))
        #expect(clock.time(at: .at(1_500)) == Timestamp(milliseconds: 9_500))
        #expect(clock.errorMs == nil)
        var measured = burst(Array(repeating: (1, 1), count: 8), offset: 0)
        measured.hint(Timestamp(milliseconds: 99_000), at: .at(1_000))
        #expect((measured.time(at: .at(1_000))?.milliseconds ?? 0) <= 1_001)
    }

    @Test func `an answer to an earlier exchange is ignored`() {
        var clock = ClockSync()
        clock.begin(id: 1, at: .at(0))
        #expect(clock.take(9, t1: 0, t2: 0, t3: 0, at: .at(0)) == false)
        #expect(clock.take(1, t1: 0, t2: 0, t3: 0, at: .at(0)) == true)
        #expect(clock.take(1, t1: 0, t2: 0, t3: 0, at: .at(0)) == false)
    }

    @Test func `bursts begin every ten seconds while a song is heard, else after a minute without answers`() {
        var clock = ClockSync()
        #expect(clock.due(isPlaying: true) == nil)
        clock.begin(id: 1, at: .at(500))
        #expect(clock.due(isPlaying: true) == .at(10_500))
        #expect(clock.due(isPlaying: false) == .at(60_500))
        clock.stop()
        #expect(clock.due(isPlaying: true) == nil)
        let answered = burst(Array(repeating: (1, 1), count: 8), offset: 0)
        #expect(answered.due(isPlaying: true) == .at(11_000))
        #expect(answered.due(isPlaying: false) == nil)
    }

    @Test func `a beat contradicts an estimate that it cannot have been sent by`() {
        // The server is ahead by 5 s, which may be wrong by 20 ms.
        var clock = burst(Array(repeating: (20, 20), count: 8), offset: 5_000)
        func isContradicted(at now: Int64, bySent sent: Int64) -> Bool {
            clock.isContradicted(byBeat: Timestamp(milliseconds: sent + 5_000), at: .at(now))
        }
        // Sent now or two seconds ago; sent later, or long ago.
        for sent: Int64 in [100_000, 99_980, 98_000] { #expect(!isContradicted(at: 100_000, bySent: sent)) }
        for sent: Int64 in [100_025, 200_000, 97_970, 0] { #expect(isContradicted(at: 100_000, bySent: sent)) }
        // At most one burst a minute, and none before the first one is over.
        #expect(!isContradicted(at: 60_900, bySent: 0))
        #expect(isContradicted(at: 61_000, bySent: 0))
        clock.stop()
        #expect(!isContradicted(at: 100_000, bySent: 0))
        clock = ClockSync()
        clock.begin(id: 1, at: .at(0))
        #expect(!isContradicted(at: 100_000, bySent: 0))
    }

    @Test(arguments: [(-1e300, -5e299, -5e299), (1e300, 1e300, 1e300), (1_000, 1e300, -1e300), (1_000, -1e300, 1e300)])
    func `times that no exchange can have give no error that cannot be told`(t1: Double, t2: Double, t3: Double) {
        var clock = ClockSync()
        clock.begin(id: 1, at: .at(1_000))
        for id in Int64(1)...8 {
            _ = clock.take(id, t1: t1, t2: t2, t3: t3, at: .at(1_010))
            clock.asks(id + 1)
        }
        #expect(clock.errorMs.map { $0 <= 300_000 } ?? true)
    }
}
