import NIOCore
import NIOEmbedded
import Testing

@testable import TLSTransport

@Suite struct DataTests {
    @Test func `writes before one flush become one record and one transport write`() throws {
        let pair = try EmbeddedPair.connected()
        for word in ["one ", "two ", "", "three"] { pair.server.write(word) }
        #expect(try pair.server.takeOutbound().isEmpty)
        pair.server.channel.flush()
        let outbound = try pair.server.takeOutbound()
        #expect(outbound.count == 1)
        #expect(records(outbound).map(\.type) == [23])
        for buffer in outbound { try pair.client.channel.writeInbound(buffer) }
        #expect(pair.client.recorder.text == "one two three" && pair.client.recorder.reads == 1)
    }

    @Test func `a long write fills its records and the next write joins its tail`() throws {
        let pair = try EmbeddedPair.connected()
        pair.server.write(String(repeating: "x", count: 40_000))
        pair.server.write("the end")
        pair.server.channel.flush()
        let outbound = try pair.server.takeOutbound()
        #expect(outbound.count == 1)
        // 17 bytes of tag and content type (RFC 8446 §5.2).
        #expect(records(outbound).map(\.length) == [16_384 + 17, 16_384 + 17, 40_007 - 2 * 16_384 + 17])
        for buffer in outbound { try pair.client.channel.writeInbound(buffer) }
        #expect(pair.client.recorder.bytes.count == 40_007 && pair.client.recorder.text.hasSuffix("xthe end"))
    }

    @Test func `small records of one transport read are handed on together`() throws {
        let pair = try EmbeddedPair.connected()
        for _ in 0..<10 { pair.server.writeAndFlush("0123456789") }
        var joined = ByteBuffer()
        for buffer in try pair.server.takeOutbound() { joined.writeImmutableBuffer(buffer) }
        try pair.client.channel.writeInbound(joined)
        #expect(pair.client.recorder.bytes.count == 100 && pair.client.recorder.reads == 1)
    }

    @Test func `each promise succeeds when the transport has taken its bytes`() throws {
        let pair = try EmbeddedPair.connected()
        let loop = pair.server.channel.eventLoop
        let promises = (0..<6).map { _ in loop.makePromise(of: Void.self) }
        var done: [Int] = []
        for (index, promise) in promises.enumerated() {
            promise.futureResult.assumeIsolated().whenSuccess { done.append(index) }
            let length = [10, 0, 100_000, 0, 5, 200_000][index]
            pair.server.channel.write(ByteBuffer(repeating: 1, count: length), promise: promise)
        }
        #expect(done == [])
        pair.server.channel.flush()
        #expect(done.sorted() == [0, 1, 2, 3, 4, 5])
        try pair.exchange()
        #expect(pair.client.recorder.bytes.count == 300_015)
    }

    @Test func `an empty write alone sends nothing and succeeds`() throws {
        let pair = try EmbeddedPair.connected()
        let promise = pair.server.channel.eventLoop.makePromise(of: Void.self)
        pair.server.channel.writeAndFlush(ByteBuffer(), promise: promise)
        try promise.futureResult.wait()
        #expect(records(try pair.server.takeOutbound()).isEmpty)
    }

    @Test func `the promises of what was not sent fail when the channel closes`() throws {
        let pair = try EmbeddedPair()
        let held = pair.client.channel.eventLoop.makePromise(of: Void.self)
        pair.client.channel.writeAndFlush(ByteBuffer(string: "never"), promise: held)
        try pair.client.channel.close().wait()
        #expect(throws: ChannelError.ioOnClosedChannel) { try held.futureResult.wait() }
        let late = pair.client.channel.eventLoop.makePromise(of: Void.self)
        pair.client.channel.writeAndFlush(ByteBuffer(string: "later"), promise: late)
        #expect(throws: ChannelError.ioOnClosedChannel) { try late.futureResult.wait() }
    }

    @Test func `send goes out at once and in order with the pipeline's writes`() throws {
        let pair = try EmbeddedPair.connected()
        #expect(pair.server.tls.send(ByteBuffer(string: "1")))
        pair.server.write("2")
        #expect(pair.server.tls.send(ByteBuffer(string: "3")))
        #expect(pair.server.tls.send(ByteBuffer(repeating: UInt8(ascii: "4"), count: 20_000)))
        #expect(pair.server.tls.send(ByteBuffer()))
        pair.server.writeAndFlush("5")
        let outbound = try pair.server.takeOutbound()
        #expect(records(outbound).count == 5)
        for buffer in outbound { try pair.client.channel.writeInbound(buffer) }
        #expect(pair.client.recorder.text == "123" + String(repeating: "4", count: 20_000) + "5")
        try pair.server.channel.close().wait()
        #expect(!pair.server.tls.send(ByteBuffer(string: "6")))
    }

    @Test func `send before the handshake waits for it`() throws {
        let pair = try EmbeddedPair()
        #expect(pair.server.tls.send(ByteBuffer(string: "soon")))
        try pair.exchange()
        #expect(pair.client.recorder.text == "soon")
    }

    @Test func `sending directly falls back where there is no socket`() throws {
        let identity = try Identity.shared.get()
        let channel = EmbeddedChannel()
        let tls = TLSHandler(identity.pinned, resources: try TLSEventLoopResources(), sendsDirectly: true)
        try channel.pipeline.syncOperations.addHandler(tls)
        try channel.connect(to: SocketAddress(unixDomainSocketPath: "/client")).wait()
        #expect(try channel.readOutbound(as: ByteBuffer.self)?.readableBytes ?? 0 > 0)
        _ = try channel.finish()
    }

    @Test func `a handler may write from within channelRead`() throws {
        let pair = try EmbeddedPair.connected()
        // Both ends share one loop's buffers: the echo encrypts while the plaintext is being passed on.
        pair.server.recorder.onRead = { context, buffer in
            context.write(NIOAny(buffer), promise: nil)
            context.writeAndFlush(NIOAny(ByteBuffer(string: "!")), promise: nil)
        }
        for word in ["a", "b", String(repeating: "c", count: 50_000)] { pair.client.writeAndFlush(word) }
        try pair.exchange(piece: 9_000)
        #expect(pair.client.recorder.text.filter { $0 != "!" } == "ab" + String(repeating: "c", count: 50_000))
    }

    @Test func `plaintext that a handler keeps is not overwritten`() throws {
        let pair = try EmbeddedPair.connected()
        var kept: [ByteBuffer] = []
        pair.client.recorder.onRead = { _, buffer in kept.append(buffer) }
        for index in 0..<5 {
            pair.server.writeAndFlush("message \(index)")
            try pair.exchange()
        }
        #expect(kept.map { String(buffer: $0) } == (0..<5).map { "message \($0)" })
    }

    @Test func `bytes fired from within channelRead are decrypted in order`() throws {
        let pair = try EmbeddedPair.connected()
        pair.client.writeAndFlush("first ")
        pair.client.writeAndFlush("second ")
        let outbound = try pair.client.takeOutbound()
        try #require(outbound.count == 2)
        var nested = false
        pair.server.recorder.onRead = { context, _ in
            guard !nested else { return }
            nested = true
            context.pipeline.syncOperations.fireChannelRead(NIOAny(outbound[1]))
            context.pipeline.syncOperations.fireChannelRead(NIOAny(ByteBuffer()))
        }
        try pair.server.channel.writeInbound(outbound[0])
        #expect(pair.server.recorder.text == "first second " && pair.server.recorder.faults == [])
    }

    @Test func `another connection of the loop may run from within channelRead`() throws {
        let identity = try Identity.shared.get()
        let resources = try TLSEventLoopResources()
        let ends = try [identity.pinned, identity.server, identity.pinned, identity.server].map {
            try EmbeddedEnd($0, resources)
        }
        // Handshakes of both connections interleaved: they share the one BIO.
        for end in ends.reversed() { try end.channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait() }
        for _ in 0..<4 {
            for (from, to) in [(0, 1), (2, 3), (1, 0), (3, 2)] {
                for buffer in try ends[from].takeOutbound() { try ends[to].channel.writeInbound(buffer) }
            }
        }
        try #require(ends.allSatisfy { $0.recorder.events.count == 1 })
        // 0 -> 1 is relayed to 3 -> 2, which answers at once, all inside the first channelRead.
        defer { ends[1].recorder.onRead = nil }
        ends[1].recorder.onRead = { _, buffer in
            ends[3].channel.writeAndFlush(buffer, promise: nil)
            for buffer in (try? ends[3].takeOutbound()) ?? [] { _ = try? ends[2].channel.writeInbound(buffer) }
            ends[1].channel.writeAndFlush(ByteBuffer(string: "relayed"), promise: nil)
        }
        ends[0].writeAndFlush(String(repeating: "hop ", count: 10_000))
        for buffer in try ends[0].takeOutbound() { try ends[1].channel.writeInbound(buffer) }
        for buffer in try ends[1].takeOutbound() { try ends[0].channel.writeInbound(buffer) }
        #expect(ends[2].recorder.text == String(repeating: "hop ", count: 10_000))
        #expect(ends[0].recorder.text.hasPrefix("relayed"))
        #expect(ends.allSatisfy { $0.recorder.faults == [] })
    }

    @Test func `a handler may close from within channelRead`() throws {
        let pair = try EmbeddedPair.connected()
        pair.server.recorder.onRead = { context, _ in
            context.writeAndFlush(NIOAny(ByteBuffer(string: "bye")), promise: nil)
            context.close(promise: nil)
        }
        for _ in 0..<3 { pair.client.writeAndFlush(String(repeating: "x", count: 16_384)) }
        var joined = ByteBuffer()
        for buffer in try pair.client.takeOutbound() { joined.writeImmutableBuffer(buffer) }
        try pair.server.channel.writeInbound(joined)
        #expect(pair.server.recorder.reads == 1 && pair.server.tls.isFreed)
        #expect(pair.server.recorder.faults == [] && pair.server.recorder.isInactive)
        try pair.exchange()
        #expect(pair.client.recorder.text == "bye" && pair.client.recorder.faults == [])
    }

    @Test func `the handler may be removed from within channelRead, which closes the channel`() throws {
        let pair = try EmbeddedPair.connected()
        pair.server.recorder.onRead = { [tls = pair.server.tls] context, _ in
            context.pipeline.syncOperations.removeHandler(tls, promise: nil)
            // Before any code can write in clear.
            #expect(!context.channel.isActive)
        }
        for _ in 0..<2 { pair.client.writeAndFlush(String(repeating: "x", count: 16_384)) }
        var joined = ByteBuffer()
        for buffer in try pair.client.takeOutbound() { joined.writeImmutableBuffer(buffer) }
        _ = try? pair.server.channel.writeInbound(joined)
        #expect(pair.server.recorder.reads == 1)
        #expect(pair.server.tls.isFreed && !pair.server.channel.isActive)
    }

    @Test func `a handler may write, flush and close when the handshake is done`() throws {
        let pair = try EmbeddedPair()
        pair.server.recorder.onEvent = { context in
            context.write(NIOAny(ByteBuffer(string: "hello ")), promise: nil)
            context.writeAndFlush(NIOAny(ByteBuffer(string: "goodbye")), promise: nil)
            context.close(promise: nil)
        }
        try pair.exchange()
        #expect(pair.client.recorder.text == "hello goodbye" && pair.client.recorder.faults == [])
        #expect(!pair.client.channel.isActive && !pair.server.channel.isActive)
    }

    @Test func `a read that brings no plaintext is followed by another`() throws {
        let pair = try EmbeddedPair.connected()
        try pair.client.channel.setOption(.autoRead, value: false).wait()
        let reads = ReadCounter()
        try pair.client.channel.pipeline.syncOperations.addHandler(reads, position: .first)
        pair.server.writeAndFlush("whole")
        var record = try #require(try pair.server.takeOutbound().first)
        let half = record.readSlice(length: 10) ?? ByteBuffer()
        pair.client.channel.read()
        #expect(reads.count == 1)
        try pair.client.channel.writeInbound(half)
        #expect(reads.count == 2)
        try pair.client.channel.writeInbound(record)
        #expect(reads.count == 2)
        #expect(pair.client.recorder.text == "whole")
    }

    @Test func `a changed record is refused and ends the connection`() throws {
        let pair = try EmbeddedPair.connected()
        pair.server.writeAndFlush("good")
        pair.server.writeAndFlush("evil")
        let outbound = try pair.server.takeOutbound()
        try #require(outbound.count == 2)
        var joined = outbound[0]
        joined.writeImmutableBuffer(outbound[1])
        let last = joined.writerIndex - 1
        joined.setInteger(try #require(joined.getInteger(at: last, as: UInt8.self)) ^ 1, at: last)
        _ = try? pair.client.channel.writeInbound(joined)
        #expect(pair.client.recorder.text == "good")
        guard case .record? = pair.client.recorder.faults.first else {
            Issue.record("\(pair.client.recorder.faults)")
            return
        }
        #expect(!pair.client.channel.isActive)
        // An alert informs the peer.
        try pair.exchange()
        #expect(pair.server.recorder.faults.count == 1)
    }
}

/// Counts the reads that reach the transport.
private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    var count = 0

    func read(context: ChannelHandlerContext) {
        count += 1
        context.read()
    }
}
