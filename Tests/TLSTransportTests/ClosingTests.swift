import NIOCore
import NIOEmbedded
import Testing

@testable import TLSTransport

@Suite struct ClosingTests {
    @Test(arguments: [CloseMode.all, .output])
    func `closing sends close_notify, and the peer answers it and closes`(mode: CloseMode) throws {
        let pair = try EmbeddedPair.connected()
        pair.server.writeAndFlush("last words")
        pair.server.channel.close(mode: mode, promise: nil)
        let outbound = try pair.server.takeOutbound()
        // TLS 1.3 hides the type of an alert: 2 bytes, the content type and 16 bytes of tag.
        #expect(records(outbound).map(\.length) == [10 + 17, 2 + 17])
        #expect(!pair.server.channel.isActive && pair.server.tls.isFreed)
        for buffer in outbound { try pair.client.channel.writeInbound(buffer) }
        #expect(pair.client.recorder.text == "last words" && pair.client.recorder.faults == [])
        #expect(!pair.client.channel.isActive && pair.client.recorder.isInactive)
        #expect(records(try pair.client.takeOutbound()).map(\.length) == [2 + 17])
    }

    @Test func `a transport that ends without close_notify is a truncation`() throws {
        let pair = try EmbeddedPair.connected()
        pair.client.channel.pipeline.fireChannelInactive()
        #expect(pair.client.recorder.faults == [.truncated])
        pair.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(pair.server.recorder.faults == [.truncated])
        #expect(!pair.server.channel.isActive)
        #expect(pair.client.tls.isFreed && pair.server.tls.isFreed)
    }

    @Test func `a peer that closes its side is still sent to where the channel allows that`() throws {
        let pair = try EmbeddedPair.connected()
        try pair.server.channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
        pair.client.channel.close(promise: nil)
        for buffer in try pair.client.takeOutbound() { try pair.server.channel.writeInbound(buffer) }
        #expect(pair.server.channel.isActive && pair.server.recorder.ends == 1)
        pair.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(pair.server.channel.isActive && pair.server.recorder.faults == [])
        pair.server.writeAndFlush("answer")
        #expect(records(try pair.server.takeOutbound()).map(\.length) == [6 + 17])
        pair.server.channel.close(promise: nil)
        #expect(!pair.server.channel.isActive && pair.server.tls.isFreed && pair.server.recorder.faults == [])
    }

    @Test func `closing the input alone is not supported`() throws {
        let pair = try EmbeddedPair.connected()
        #expect(throws: ChannelError.operationUnsupported) { try pair.client.channel.close(mode: .input).wait() }
        #expect(pair.client.channel.isActive)
    }

    @Test func `closing waits until the transport has taken what was sent`() throws {
        let pair = try EmbeddedPair.connected()
        let transport = StalledTransport()
        try pair.server.channel.pipeline.syncOperations.addHandler(transport, position: .first)
        pair.server.writeAndFlush("slow")
        let closed = pair.server.channel.close()
        let closedAgain = pair.server.channel.close()
        #expect(pair.server.channel.isActive)
        #expect(!pair.server.tls.send(ByteBuffer(string: "too late")))
        // Later bytes from the peer are dropped.
        pair.client.writeAndFlush("unheard")
        for buffer in try pair.client.takeOutbound() { try pair.server.channel.writeInbound(buffer) }
        #expect(pair.server.recorder.text == "")
        transport.resume()
        try closed.wait()
        try closedAgain.wait()
        #expect(!pair.server.channel.isActive)
        try pair.exchange()
        #expect(pair.client.recorder.text == "slow" && pair.client.recorder.faults == [])
    }

    @Test func `closing does not wait longer than its timeout`() throws {
        let pair = try EmbeddedPair.connected()
        let transport = StalledTransport()
        try pair.server.channel.pipeline.syncOperations.addHandler(transport, position: .first)
        let closed = pair.server.channel.close()
        pair.server.channel.embeddedEventLoop.advanceTime(by: .milliseconds(4_999))
        #expect(pair.server.channel.isActive)
        pair.server.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(!pair.server.channel.isActive)
        try closed.wait()
    }

    @Test func `a channel that dies while closing completes the promise`() throws {
        let pair = try EmbeddedPair.connected()
        let transport = StalledTransport()
        try pair.server.channel.pipeline.syncOperations.addHandler(transport, position: .first)
        let closed = pair.server.channel.close()
        pair.server.channel.pipeline.fireChannelInactive()
        try closed.wait()
        transport.resume()
        #expect(pair.server.recorder.faults == [])
    }

    @Test func `closing during the handshake closes at once`() throws {
        let pair = try EmbeddedPair()
        try pair.client.channel.close().wait()
        #expect(pair.client.tls.isFreed && pair.client.recorder.faults == [])
    }

    @Test func `handlers and their connections are freed when the channel closes`() throws {
        weak var client: TLSHandler?
        weak var server: TLSHandler?
        do {
            let pair = try EmbeddedPair.connected()
            client = pair.client.tls
            server = pair.server.tls
            try pair.server.channel.close().wait()
            try pair.exchange()
        }
        #expect(client == nil && server == nil)
    }
}

/// Holds writes until told to continue, like a socket whose peer does not read.
private final class StalledTransport: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    private var held: [(NIOAny, EventLoopPromise<Void>?)] = []
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        for (_, promise) in held { promise?.fail(ChannelError.ioOnClosedChannel) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        held.append((data, promise))
    }

    func flush(context: ChannelHandlerContext) {}

    func resume() {
        let writes = held
        held = []
        for (data, promise) in writes { context?.write(data, promise: promise) }
        context?.flush()
    }
}
