import NIOCore
import Testing

@testable import PushServer

@Suite struct ReadingTurnsTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    /// Handles input for so long from a time on.
    private func handle(_ turns: inout ReadingTurns, from time: NIODeadline, _ length: TimeAmount) {
        _ = turns.begin(at: time)
        turns.end(from: time, to: time + length)
    }

    @Test func `a quarter of a millisecond in ten is handled as it arrives`() {
        var turns = ReadingTurns()
        #expect(turns.handlesAtOnce(at: start))
        let end = turns.begin(at: start)
        #expect(end == start + .microseconds(250) && turns.isHandling)
        turns.end(from: start, to: start + .microseconds(200))
        #expect(turns.handlesAtOnce(at: start + .milliseconds(1)) && !turns.isHandling)
        handle(&turns, from: start + .milliseconds(1), .microseconds(60))
        #expect(!turns.handlesAtOnce(at: start + .milliseconds(2)))
        #expect(!turns.handlesAtOnce(at: start + .microseconds(9_999)))
        #expect(turns.handlesAtOnce(at: start + .milliseconds(10)))
        // A new window begins.
        handle(&turns, from: start + .milliseconds(10), .microseconds(60))
        #expect(turns.handlesAtOnce(at: start + .milliseconds(11)))
    }

    @Test func `a socket stands in line once, and not while it pauses or its peer takes no answers`() {
        var turns = ReadingTurns()
        let first = turns.standInLine(mayGoOn: false)
        let second = turns.standInLine(mayGoOn: true)
        let third = turns.standInLine(mayGoOn: true)
        #expect([first, second, third] == [false, true, false])
        var stays = [turns.turnEnded(inputWaits: true, mayGoOn: true)]
        let pauses = [turns.pause(), turns.pause()]
        #expect(pauses == [true, false])
        stays.append(turns.turnEnded(inputWaits: true, mayGoOn: true))
        let inPause = turns.standInLine(mayGoOn: true)
        turns.resume()
        let afterPause = turns.standInLine(mayGoOn: true)
        stays.append(turns.turnEnded(inputWaits: false, mayGoOn: true))
        #expect(stays == [true, false, false])
        #expect([inPause, afterPause] == [false, true])
    }

    @Test func `a read that was put off is made once`() {
        var turns = ReadingTurns()
        let early = turns.readNow()
        turns.putOffRead()
        turns.putOffRead()
        #expect(turns.isReadPutOff)
        let reads = [turns.readNow(), turns.readNow()]
        #expect(!early && reads == [true, false])
        let scheduled = [turns.scheduleRead(), turns.scheduleRead()]
        turns.scheduledTimeCame()
        let again = turns.scheduleRead()
        #expect(scheduled == [true, false] && again)
    }
}
