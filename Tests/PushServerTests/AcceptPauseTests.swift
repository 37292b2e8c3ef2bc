import Glibc
import NIOCore
import NIOEmbedded
import Testing

@testable import PushServer

/// `AcceptPause` on an embedded listener, whose time only the tests move.
@Suite struct AcceptPauseTests {
    private struct Listener {
        let channel = EmbeddedChannel()

        init() throws { try AcceptPause.add(to: channel) }

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

    @Test func `another error is passed on, and accepting does not pause`() throws {
        let listener = try Listener()
        listener.fail(ECONNABORTED)
        #expect(throws: IOError.self) { try listener.channel.throwIfErrorCaught() }
        listener.channel.pipeline.fireErrorCaught(ChannelError.alreadyClosed)
        #expect(throws: ChannelError.alreadyClosed) { try listener.channel.throwIfErrorCaught() }
        #expect(listener.accepts == nil)
    }
}
