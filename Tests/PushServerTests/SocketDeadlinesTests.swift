import NIOCore
import RandomTestSupport
import Testing

@testable import PushServer

/// `SocketDeadlines` at times of the tests' own.
@Suite struct SocketDeadlinesTests {
    private static let limits = SocketDeadlines.Limits(
        ping: .seconds(25), silence: .seconds(60), stall: .seconds(30), close: .seconds(5))
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func at(_ seconds: Double) -> NIODeadline { Self.start + .milliseconds(Int64(seconds * 1_000)) }

    /// A socket that was opened at 0.
    private func opened() -> SocketDeadlines { SocketDeadlines(Self.limits, at: Self.start) }

    private func reached(_ deadlines: inout SocketDeadlines, _ seconds: Double, isClosing: Bool = false)
        -> SocketDeadlines.Step
    {
        deadlines.reached(at(seconds), isClosing: isClosing, readsNothing: false)
    }

    @Test func `a socket that is used is pinged at intervals`() {
        var deadlines = opened()
        #expect(deadlines.next(readsNothing: false) == at(25))
        #expect(reached(&deadlines, 24.9) == .wait)
        #expect(reached(&deadlines, 25) == .ping)
        deadlines.received(at: at(30))
        #expect(deadlines.next(readsNothing: false) == at(50))
        #expect(reached(&deadlines, 51) == .ping)
        #expect(deadlines.next(readsNothing: false) == at(76))
    }

    @Test func `a silent peer is closed, unless nothing is read from it`() {
        var deadlines = opened()
        _ = reached(&deadlines, 25)
        _ = reached(&deadlines, 50)
        #expect(deadlines.next(readsNothing: false) == at(60))
        #expect(deadlines.next(readsNothing: true) == at(75))
        var unread = deadlines
        let step = unread.reached(at(61), isClosing: false, readsNothing: true)
        #expect(step == .wait)
        #expect(reached(&deadlines, 60) == .endSilent)
    }

    @Test func `a peer that takes nothing is closed`() {
        var deadlines = opened()
        let looks = [deadlines.stalled(at: at(10)), deadlines.stalled(at: at(11))]
        #expect(looks == [at(40), nil], "the first time counts")
        _ = reached(&deadlines, 25)
        #expect(reached(&deadlines, 39.9) == .wait)
        #expect(reached(&deadlines, 40) == .endSlow)
        var taken = opened()
        _ = taken.stalled(at: at(10))
        taken.taken()
        #expect(!taken.isStalled)
        #expect(reached(&taken, 40) == .ping)
    }

    @Test func `a planned stop waits for the last answers, for a time`() {
        var deadlines = opened()
        deadlines.leaves(at: at(3))
        #expect(deadlines.next(readsNothing: false) == at(3))
        #expect(!deadlines.isLeaving)
        #expect(reached(&deadlines, 3) == .leave)
        #expect(deadlines.isLeaving)
        #expect(deadlines.next(readsNothing: false) == at(8))
        #expect(reached(&deadlines, 7.9) == .wait)
        #expect(reached(&deadlines, 8) == .endLeaving)
    }

    @Test func `a close handshake has its time, and a peer that broke the protocol only has to be quiet`() {
        var deadlines = opened()
        #expect(deadlines.drops(from: at(1)) == at(6))
        #expect(deadlines.next(readsNothing: false) == at(6))
        #expect(reached(&deadlines, 5.9, isClosing: true) == .wait)
        #expect(reached(&deadlines, 6, isClosing: true) == .drop)
        var broken = opened()
        _ = broken.drops(from: at(1))
        #expect(broken.lingers(from: at(1)) == at(1.25))
        broken.received(at: at(1.2))
        #expect(reached(&broken, 1.3, isClosing: true) == .wait)
        #expect(broken.next(readsNothing: false) == at(1.45))
        #expect(reached(&broken, 1.45, isClosing: true) == .drop)
        var sending = opened()
        _ = sending.drops(from: at(1))
        _ = sending.lingers(from: at(1))
        for tenth in stride(from: 1.2, to: 6, by: 0.2) {
            sending.received(at: at(tenth))
            #expect(reached(&sending, tenth, isClosing: true) == .wait)
        }
        #expect(reached(&sending, 6, isClosing: true) == .drop, "whatever the peer sends")
    }

    @Test func `where the peer's close was answered, nothing is due any more`() {
        var deadlines = opened()
        #expect(reached(&deadlines, 1_000, isClosing: true) == .rest)
    }

    @Test func `time in which the server stood still is the peer's`() {
        var deadlines = opened()
        _ = deadlines.stalled(at: at(10))
        deadlines.excuse(.seconds(20))
        _ = reached(&deadlines, 25)
        _ = reached(&deadlines, 50)
        #expect(reached(&deadlines, 59.9) == .wait)
        #expect(reached(&deadlines, 60) == .endSlow)
    }

    /// Whatever happens: a look at the time that was told does something, or tells a later one.
    @Test(arguments: TestSeed.several(4))
    func `looks come to an end`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<200 {
            var deadlines = opened()
            var now = Self.start
            var isClosing = false
            for _ in 0..<60 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0: deadlines.received(at: now)
                case 1: _ = deadlines.stalled(at: now)
                case 2: deadlines.taken()
                case 3: deadlines.leaves(at: now + .seconds(Int64.random(in: 0...9, using: &random)))
                case 4 where isClosing: _ = deadlines.lingers(from: now)
                default: break
                }
                let next = deadlines.next(readsNothing: false)
                now = max(next, now)
                let step = deadlines.reached(now, isClosing: isClosing, readsNothing: false)
                switch step {
                case .wait: #expect(deadlines.next(readsNothing: false) > next)
                case .endSilent, .endSlow, .endLeaving:
                    isClosing = true
                    _ = deadlines.drops(from: now)
                case .leave, .ping: #expect(deadlines.next(readsNothing: false) > now || deadlines.isLeaving)
                case .rest, .drop: break
                }
                if step == .rest || step == .drop { break }
            }
        }
    }
}
