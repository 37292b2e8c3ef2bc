import Glibc
import InMemoryLogging
import Logging
import NIOCore
import NIOEmbedded
import PrometheusMetrics
import Testing

@testable import PushServer

/// `AcceptPause` on an embedded listener, whose time only the tests move.
@Suite struct AcceptPauseTests {
    private struct Listener {
        let channel = EmbeddedChannel()

        init(below ceiling: ConnectionCeiling? = nil) throws { try AcceptPause.add(to: channel, below: ceiling) }

        /// Accepts a connection.
        func accept() -> EmbeddedChannel {
            let connection = EmbeddedChannel()
            channel.pipeline.fireChannelRead(connection as any Channel)
            channel.pipeline.fireChannelReadComplete()
            return connection
        }

        /// Whether it accepts, as it was told last; nil if it was told nothing.
        var accepts: Bool? {
            channel.options.last { $0.option is ChannelOptions.Types.AutoReadOption }?.value as? Bool
        }

        /// A connection cannot be accepted.
        func fail(_ code: CInt) { channel.pipeline.fireErrorCaught(IOError(errnoCode: code, reason: "accept")) }

        func advance(_ milliseconds: Int64) {
            channel.embeddedEventLoop.advanceTime(by: .milliseconds(milliseconds))
        }
    }

    @Test(arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM])
    func `without descriptors or memory, accepting pauses, and goes on by itself`(code: CInt) throws {
        let listener = try Listener()
        listener.fail(code)
        #expect(listener.accepts == false)
        listener.advance(249)
        #expect(listener.accepts == false)
        listener.advance(1)
        #expect(listener.accepts == true)
        try listener.channel.throwIfErrorCaught()
    }

    @Test func `a second error in a pause changes nothing`() throws {
        let listener = try Listener()
        listener.fail(EMFILE)
        listener.advance(100)
        listener.fail(EMFILE)
        listener.advance(150)
        #expect(listener.accepts == true)
        // The next pause is not ended by what the second error would have begun.
        listener.fail(EMFILE)
        listener.advance(249)
        #expect(listener.accepts == false)
        listener.advance(1)
        #expect(listener.accepts == true)
    }

    @Test func `at the ceiling accepting pauses until a connection is closed`() throws {
        let listener = try Listener(below: ConnectionCeiling(2, logger: .silent))
        let first = listener.accept()
        #expect(listener.accepts == nil)
        let second = listener.accept()
        #expect(listener.accepts == false)
        listener.advance(10_000)
        #expect(listener.accepts == false)
        _ = try first.finish()
        listener.advance(250)
        #expect(listener.accepts == true)
        let third = listener.accept()
        #expect(listener.accepts == false)
        for connection in [second, third] { _ = try connection.finish() }
        listener.advance(250)
        #expect(listener.accepts == true)
    }

    @Test func `all listeners below one ceiling count together, and a short rest is no way around the ceiling`() throws
    {
        let ceiling = ConnectionCeiling(2, logger: .silent)
        let (one, other) = (try Listener(below: ceiling), try Listener(below: ceiling))
        let first = one.accept()
        let second = other.accept()
        #expect(one.accepts == nil)
        #expect(other.accepts == false)
        one.fail(EMFILE)
        one.advance(1_000)
        #expect(one.accepts == false)
        for connection in [first, second] { _ = try connection.finish() }
        for listener in [one, other] {
            listener.advance(250)
            #expect(listener.accepts == true)
        }
    }

    @Test func `a ceiling leaves descriptors for what is not a connection`() throws {
        let process = try #require(ProcessReading())
        var few = process
        (few.fileLimit, few.openFiles) = (300, 40)
        let ceiling = ConnectionCeiling(of: few, besides: 32, logger: .silent)
        let connections = (0..<100).map { _ in
            #expect(!ceiling.isReached)
            let connection = EmbeddedChannel()
            ceiling.add(connection)
            return connection
        }
        #expect(ceiling.isReached)
        for connection in connections { _ = try connection.finish() }
        #expect(!ceiling.isReached)
    }

    @Test func `that connections wait is told once a minute`() throws {
        let log = InMemoryLogHandler()
        let listener = try Listener(below: ConnectionCeiling(1, logger: Logger(label: "test") { _ in log }))
        for _ in 1...2 {
            _ = try listener.accept().finish()
            listener.advance(59_000)
        }
        #expect(log.entries.count == 1)
        listener.advance(1_000)
        _ = try listener.accept().finish()
        #expect(log.entries.count == 2)
    }

    @Test func `another error is passed on, and accepting does not pause`() throws {
        let listener = try Listener()
        listener.fail(ECONNABORTED)
        #expect(throws: IOError.self) { try listener.channel.throwIfErrorCaught() }
        listener.channel.pipeline.fireErrorCaught(ChannelError.alreadyClosed)
        #expect(throws: ChannelError.alreadyClosed) { try listener.channel.throwIfErrorCaught() }
        #expect(listener.accepts == nil)
    }
}

extension Logger {
    fileprivate static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
