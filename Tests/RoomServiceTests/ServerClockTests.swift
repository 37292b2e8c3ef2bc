import RoomService
import Synchronization
import Testing

@Suite struct ServerClockTests {
    private final class Times: Sendable {
        private let state = Mutex((wall: 1_000_000.0, steady: 5.0))

        var wall: Double { state.withLock { $0.wall } }
        var steady: Double { state.withLock { $0.steady } }

        /// Both clocks go on, and the wall clock is set by `correction`.
        func pass(_ time: Double, setBy correction: Double = 0) {
            state.withLock { $0 = ($0.wall + time + correction, $0.steady + time) }
        }
    }

    @Test func `events follow the time forward and never back, and tokens are judged by the time that it is`() {
        let times = Times()
        let clock = ServerClock.following(wall: { times.wall }, steady: { times.steady })
        #expect(clock.milliseconds == 1_000_000)
        times.pass(10)
        #expect(clock.milliseconds == 1_000_010 && clock.wallMilliseconds == 1_000_010)
        // A machine without a battery hears the time a day late.
        times.pass(1, setBy: 86_400_000)
        #expect(clock.milliseconds == 87_400_011 && clock.wallMilliseconds == 87_400_011)
        times.pass(1, setBy: -60_000)
        #expect(clock.milliseconds == 87_400_012)
        #expect(clock.wallMilliseconds == 87_340_012)
        // It goes on meanwhile, and follows again from where the wall clock has come to.
        times.pass(100)
        #expect(clock.milliseconds == 87_400_112)
        times.pass(0, setBy: 60_001)
        #expect(clock.milliseconds == 87_400_113)
    }

    @Test func `the machine's clock follows its time forward, and never back`() {
        let times = Times()
        let clock = ServerClock.system { times.wall }
        #expect(clock.milliseconds >= 1_000_000)
        times.pass(0, setBy: 86_400_000)
        #expect(clock.milliseconds >= 87_400_000 && clock.wallMilliseconds == 87_400_000)
        times.pass(0, setBy: -60_000)
        #expect(clock.milliseconds >= 87_400_000 && clock.wallMilliseconds == 87_340_000)
    }

    @Test func `the machine's clock is the time that it is`() {
        let clock = ServerClock.system()
        let before = clock.milliseconds
        #expect(abs(before - clock.wallMilliseconds) < 60_000)
        #expect(clock.milliseconds >= before)
    }
}
