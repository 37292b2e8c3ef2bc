import HTTPTransport
import NIOCore
import Testing

/// The steps of one connection's requests.
struct HTTPExchangeTests {
    private let start = NIODeadline.uptimeNanoseconds(0)
    private let limits: HTTPExchange.Limits = {
        var limits = HTTPExchange.Limits(
            idle: .seconds(60), head: .seconds(10), bodyGrace: .seconds(10), stall: .seconds(30), linger: .seconds(5),
            unwantedBody: 100)
        limits.lastInput = 200
        return limits
    }()

    private func at(_ seconds: Int64) -> NIODeadline { start + .seconds(seconds) }

    /// A connection that has received a request up to its body.
    private func begun(isLast: Bool = false) -> HTTPExchange {
        var exchange = HTTPExchange(at: start)
        #expect(exchange.bytesCame(10, limits, at: at(1)) == .pass)
        #expect(exchange.headCame(isLast: isLast, at: at(1)) == .pass)
        return exchange
    }

    /// A connection on which a request waits for its answer.
    private func asked(isLast: Bool = false) -> HTTPExchange {
        var exchange = begun(isLast: isLast)
        #expect(exchange.endCame(at: at(1)) == .pass)
        return exchange
    }

    @Test func `the next request is looked at once the answer has been sent`() {
        var exchange = asked()
        #expect(!exchange.takesInput)
        #expect(exchange.answerBegan(limits) == true)
        exchange.answerEnded()
        #expect(!exchange.takesInput)
        #expect(exchange.answerLeft(at: at(2)) == .next)
        #expect(exchange.takesInput && exchange.isBetweenRequests)
        #expect(exchange == HTTPExchange(at: at(2)))
    }

    @Test func `a request is answered once`() {
        var exchange = asked()
        #expect(exchange.answerBegan(limits) == true)
        #expect(exchange.answerBegan(limits) == false)
        exchange.answerEnded()
        #expect(exchange.answerBegan(limits) == false)
    }

    @Test func `the last answer closes`() {
        var exchange = asked(isLast: true)
        #expect(exchange.isEnding)
        #expect(exchange.answerBegan(limits) == true)
        exchange.answerEnded()
        #expect(exchange.answerLeft(at: at(2)) == .close)
    }

    @Test func `an answer before the end of its request leaves the rest to be read, up to a limit`() {
        var exchange = begun()
        #expect(exchange.answerBegan(limits) == true)
        exchange.answerEnded()
        #expect(exchange.answerLeft(at: at(2)) == .nothing)
        #expect(exchange.bodyCame(100, limits) == .pass)
        var short = exchange
        #expect(short.endCame(at: at(3)) == .pass)
        #expect(short.nextIfDone(at: at(3)) == .next)
        #expect(exchange.bodyCame(1, limits) == .linger)
    }

    @Test(arguments: [(100, false, false), (101, false, true), (nil, false, false), (nil, true, true)])
    func `the answer to a body that is too long to be dropped is the last one`(
        declared: Int?, isTooLong: Bool, isLast: Bool
    ) {
        var exchange = HTTPExchange(at: start)
        _ = exchange.bytesCame(10, limits, at: at(1))
        #expect(exchange.headCame(isLast: false, declared: declared, at: at(1)) == .pass)
        #expect(exchange.bodyCame(50, limits) == .pass)
        #expect(exchange.answerBegan(isTooLong: isTooLong, limits) == true)
        #expect(exchange.isEnding == isLast)
        exchange.answerEnded()
        #expect(exchange.answerLeft(at: at(2)) == (isLast ? .linger : .nothing))
        // Where all of it has arrived, the connection stays.
        var whole = HTTPExchange(at: start)
        _ = whole.headCame(isLast: false, declared: declared, at: at(1))
        _ = whole.endCame(at: at(1))
        #expect(whole.answerBegan(isTooLong: isTooLong, limits) == true)
        #expect(!whole.isEnding)
    }

    @Test func `a violation is answered where nothing was, and nothing passes after it`() {
        var fresh = HTTPExchange(at: start)
        #expect(fresh.violated(.badHost) == .refuse(.badHost))
        #expect(fresh.headCame(isLast: false, at: at(1)) == .drop)
        #expect(fresh.answerLeft(at: at(1)) == .linger)
        var owing = begun()
        #expect(owing.violated(.malformed) == .refuse(.malformed))
        #expect(owing.answerBegan(limits) == false)
        #expect(owing.violated(.malformed) == .nothing)
        var answering = begun()
        #expect(answering.answerBegan(limits) == true)
        #expect(answering.violated(.malformed) == .close)
    }

    @Test func `a lingering connection is closed when the peer is quiet, sends too much, or takes too long`() {
        var exchange = HTTPExchange(at: start)
        exchange.lingers(at: at(1))
        #expect(exchange.deadline(limits) == at(1) + HTTPExchange.quiet)
        #expect(exchange.bytesCame(60, limits, at: at(2)) == .drop)
        #expect(exchange.deadline(limits) == at(2) + HTTPExchange.quiet)
        #expect(exchange.timeCame(at(2), limits) == .nothing)
        var quiet = exchange
        #expect(quiet.timeCame(at(3), limits) == .close)
        var long = exchange
        _ = long.bytesCame(1, limits, at: at(6))
        #expect(long.timeCame(at(6), limits) == .close)
        #expect(exchange.bytesCame(141, limits, at: at(2)) == .close)
    }

    @Test func `between requests a connection may be idle for a while`() {
        var exchange = HTTPExchange(at: start)
        #expect(exchange.deadline(limits) == at(60))
        #expect(exchange.timeCame(at(59), limits) == .nothing)
        #expect(exchange.timeCame(at(60), limits) == .close)
    }

    @Test func `a head counts from its first byte`() {
        var exchange = HTTPExchange(at: start)
        _ = exchange.bytesCame(1, limits, at: at(40))
        _ = exchange.bytesCame(1, limits, at: at(45))
        #expect(exchange.deadline(limits) == at(50))
        #expect(exchange.timeCame(at(50), limits) == .refuse(.headTooSlow))
    }

    @Test func `a body must come at the least rate once its grace is over`() {
        var exchange = begun()
        #expect(exchange.deadline(limits) == at(11))
        _ = exchange.bodyCame(5 * 1_024, limits)
        let enough = exchange.deadline(limits)
        #expect(enough.map { $0 > at(15) && $0 <= at(16) } == true)
        #expect(exchange.timeCame(at(15), limits) == .nothing)
        #expect(exchange.timeCame(at(16), limits) == .refuse(.bodyTooSlow))
        var unread = begun()
        unread.excuseBody(.seconds(30))
        #expect(unread.timeCame(at(40), limits) == .nothing)
    }

    @Test func `the server's own time is not the peer's`() {
        #expect(asked().deadline(limits) == nil)
    }

    @Test func `a peer that takes nothing is closed, one that makes progress is not`() {
        var exchange = asked()
        #expect(exchange.answerBegan(limits) == true)
        exchange.answerEnded()
        exchange.waits(at: at(2))
        exchange.waits(at: at(20))
        #expect(exchange.deadline(limits) == at(32))
        exchange.progressed(by: 1, at: at(31))
        #expect(exchange.timeCame(at(60), limits) == .nothing)
        // Bytes in the peer's system may still have to be read.
        exchange.progressed(by: 20 * 1_024, at: at(60))
        #expect(exchange.timeCame(at(109), limits) == .nothing)
        exchange.progressed(by: 1 << 30, at: at(110))
        #expect(exchange.timeCame(at(259), limits) == .nothing)
        #expect(exchange.timeCame(at(260), limits) == .close)
    }

    @Test func `bytes that have left the process but not the system count as waiting`() {
        var exchange = HTTPExchange(at: start)
        exchange.waits(at: at(10))
        #expect(exchange.deadline(limits) == at(40))
        exchange.waitsNoMore(at: at(30))
        #expect(exchange.deadline(limits) == at(90))
    }

    @Test func `a time in which the event loop stalled does not count against the peer`() {
        var exchange = HTTPExchange(at: start)
        exchange.excuse(.seconds(5))
        #expect(exchange.timeCame(at(64), limits) == .nothing)
        #expect(exchange.timeCame(at(65), limits) == .close)
    }

    @Test func `a connection that is asked to end ends after the answer`() {
        var idle = HTTPExchange(at: start)
        #expect(idle.askedToEnd() == .close)
        var owing = asked()
        #expect(owing.askedToEnd() == .nothing)
        #expect(owing.answerBegan(limits) == true)
        owing.answerEnded()
        #expect(owing.answerLeft(at: at(2)) == .close)
    }
}
