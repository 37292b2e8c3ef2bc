import RoomReplica
import Testing

@Suite struct ConnectingTests {
    private func started() -> Connecting {
        var connecting = Connecting()
        _ = connecting.start()
        return connecting
    }

    @Test func `the first attempt is at once, and a second start changes nothing`() {
        var connecting = Connecting()
        #expect(connecting.start() == [.connect(attempt: 1, afterMs: 0)])
        #expect(connecting.start() == [])
    }

    @Test func `waits are drawn from zero to a limit that doubles up to twenty seconds`() {
        var connecting = started()
        var limits: [Int64] = []
        for attempt in 1...10 {
            // The largest random number below each limit that is tried finds the limit.
            var longest: Int64 = 0
            for limit: Int64 in [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000] {
                var copy = connecting
                guard case .connect(_, let wait)? = copy.lost(attempt, at: .at(0, random: UInt64(limit)))?.first
                else { continue }
                longest = max(longest, wait)
            }
            limits.append(longest)
            #expect(connecting.lost(attempt, at: .at(0)) == [.connect(attempt: attempt + 1, afterMs: 0)])
        }
        #expect(limits == [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000, 20_000])
    }

    @Test func `thirty seconds of a connection end a row of failures, and less do not`() {
        for (lasted, limit) in [(29_999, 1_000), (30_000, 250)] as [(Int64, UInt64)] {
            var connecting = started()
            _ = connecting.lost(1, at: .at(0))
            _ = connecting.lost(2, at: .at(0))
            #expect(connecting.opened(3, at: .at(5_000)) == true)
            let next = connecting.lost(3, at: .at(5_000 + lasted, random: limit))
            #expect(next == [.connect(attempt: 4, afterMs: Int64(limit))])
        }
    }

    @Test func `what happens to an earlier attempt is ignored`() {
        var connecting = started()
        _ = connecting.lost(1, at: .at(0))
        #expect(connecting.opened(1, at: .at(1)) == false)
        #expect(connecting.lost(1, at: .at(1)) == nil)
        #expect(connecting.attempt == 2)
    }

    @Test func `after a goaway the first attempt is at once, and the next one waits`() {
        var connecting = started()
        _ = connecting.opened(1, at: .at(0))
        connecting.goingAway()
        #expect(connecting.isOpen)
        #expect(connecting.lost(1, at: .at(9_000, random: 99)) == [.connect(attempt: 2, afterMs: 0)])
        #expect(connecting.lost(2, at: .at(9_000, random: 99)) == [.connect(attempt: 3, afterMs: 99)])
    }

    @Test func `a server may ask for a longer wait`() {
        var connecting = started()
        #expect(connecting.lost(1, at: .at(0, random: 7), leastMs: 3_000) == [.connect(attempt: 2, afterMs: 3_000)])
    }

    @Test func `waking replaces a long wait by one of at most 250 ms`() {
        var connecting = started()
        for attempt in 1...9 { _ = connecting.lost(attempt, at: .at(0)) }
        #expect(connecting.wake(at: .at(1, random: 250)) == [.connect(attempt: 11, afterMs: 250)])
        #expect(connecting.wake(at: .at(1, random: 251)) == [.connect(attempt: 12, afterMs: 0)])
    }

    @Test func `waking leaves an open connection alone, and connects nothing that was stopped`() {
        var connecting = started()
        _ = connecting.opened(1, at: .at(0))
        #expect(connecting.wake(at: .at(1)) == [])
        #expect(connecting.stop(code: 1_001) == [.close(attempt: 1, code: 1_001)])
        #expect(connecting.wake(at: .at(2)) == [])
        #expect(connecting.lost(1, at: .at(3)) == nil)
        #expect(connecting.start() == [.connect(attempt: 2, afterMs: 0)])
    }

    @Test func `a dead connection is closed and replaced, at once if somebody waits`() {
        var connecting = started()
        _ = connecting.opened(1, at: .at(0))
        var other = connecting
        #expect(
            connecting.replace(at: .at(9, random: 40), atOnce: false)
                == [.close(attempt: 1, code: 1_001), .connect(attempt: 2, afterMs: 40)])
        #expect(
            other.replace(at: .at(9, random: 40), atOnce: true)
                == [.close(attempt: 1, code: 1_001), .connect(attempt: 2, afterMs: 0)])
    }
}
