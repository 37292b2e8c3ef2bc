import NIOCore
import RandomTestSupport
import Testing
import WebSocketCodec

struct DeflaterTests {
    private static let text = Array(String(repeating: "Hello, world! ", count: 20).utf8)

    @Test func `a payload is shorter than its message, without the tail, and the same whenever it is made`() throws {
        let deflater = Deflater()
        let payload = try #require(deflater.payload(of: Self.text))
        #expect(payload.count < Self.text.count / 4)
        #expect(payload.suffix(4) != [0x00, 0x00, 0xFF, 0xFF])
        #expect(try Inflater().message(of: payload) == Self.text)
        #expect(deflater.payload(of: Array("something else, long enough".utf8) + Self.text) != nil)
        #expect(deflater.payload(of: Self.text) == payload)
        #expect(Deflater().payload(of: Self.text) == payload)
    }

    @Test func `a deflater that keeps its context refers to earlier messages`() throws {
        var generator = SeededRandom(seed: TestSeed.fixed(1))
        let message = deltaJSON(400, using: &generator)
        let deflater = Deflater(keepsContext: true)
        let inflater = Inflater()
        let first = try #require(deflater.payload(of: message))
        let second = try #require(deflater.payload(of: message))
        #expect(second.count < first.count / 4)
        #expect(try inflater.message(of: first, keepsContext: true) == message)
        #expect(try inflater.message(of: second, keepsContext: true) == message)
    }

    @Test func `short messages and those that do not become shorter are left as they are`() {
        var generator = SeededRandom(seed: TestSeed.fixed(2))
        let deflater = Deflater(threshold: 100)
        var buffer = ByteBuffer(string: "before")
        let before = buffer
        let (zeros, noise) = ([UInt8](repeating: 0, count: 99), generator.bytes(5_000))
        let isShortTaken = deflater.deflate(zeros.span, into: &buffer)
        let isNoiseTaken = deflater.deflate(noise.span, into: &buffer)
        #expect(!isShortTaken && !isNoiseTaken)
        #expect(buffer == before)
        #expect(deflater.payload(of: zeros + [0]) != nil)
        #expect(Deflater(threshold: 0).payload(of: []) == nil)
        #expect(Deflater(threshold: 0).payload(of: [1]) == nil)
    }

    @Test func `a message that was left as it is, is not referred to`() throws {
        var generator = SeededRandom(seed: TestSeed.fixed(3))
        let deflater = Deflater(keepsContext: true)
        let inflater = Inflater()
        let first = try #require(deflater.payload(of: Self.text))
        #expect(try inflater.message(of: first, keepsContext: true) == Self.text)
        let noise = generator.bytes(1_000)
        #expect(deflater.payload(of: noise) == nil)
        // its second half repeats the noise, which the peer's window does not contain
        let next = Self.text + noise + noise
        let payload = try #require(deflater.payload(of: next))
        #expect(try inflater.message(of: payload, keepsContext: true) == next)
    }

    @Test func `typical deltas become shorter from the default threshold on`() throws {
        var generator = SeededRandom(seed: TestSeed.fixed(4))
        let deflater = Deflater()
        for (length, atMost) in [(200, 90), (400, 75), (2_000, 50)] {
            let message = deltaJSON(length, using: &generator)
            let payload = try #require(deflater.payload(of: message))
            #expect(payload.count * 100 / message.count < atMost)
        }
        #expect(deflater.payload(of: [UInt8](repeating: 0x61, count: Deflater.defaultThreshold)) != nil)
        #expect(deflater.payload(of: [UInt8](repeating: 0x61, count: Deflater.defaultThreshold - 1)) == nil)
    }

    // Windows

    @Test(arguments: 9...15)
    func `a deflater does not refer further back than its window`(_ bits: Int) throws {
        var generator = SeededRandom(seed: TestSeed.fixed(UInt64(bits)))
        // the repeated bytes are one window and a half apart
        let noise = generator.bytes((1 << bits) + (1 << (bits - 1)))
        let parameters = DeflateParameters(serverMaxWindowBits: bits)
        #expect(Deflater(parameters, sender: .server).payload(of: noise + noise) == nil)
        if bits < 14 { #expect(Deflater(windowBits: 15).payload(of: noise + noise) != nil) }
    }

    @Test func `for a window of 8 bits only short messages are compressed, each by itself`() throws {
        let parameters = DeflateParameters(serverMaxWindowBits: 8)
        let deflater = Deflater(parameters, sender: .server)
        let short = [UInt8](Self.text.prefix(256))
        let payload = try #require(deflater.payload(of: short))
        #expect(deflater.payload(of: short) == payload)
        #expect(try Inflater(windowBits: 8).message(of: payload) == short)
        #expect(deflater.payload(of: Self.text) == nil)
        #expect(Deflater(parameters, sender: .server, threshold: 1_000).payload(of: Self.text) == nil)
        // the other end has its own window
        #expect(Deflater(parameters, sender: .client).payload(of: Self.text) != nil)
    }

    @Test func `context is kept only where both ends agreed to it`() throws {
        let alone = Deflater(DeflateParameters(serverNoContextTakeover: true), sender: .server)
        let first = try #require(alone.payload(of: Self.text))
        #expect(alone.payload(of: Self.text) == first)
        let other = Deflater(DeflateParameters(serverNoContextTakeover: true), sender: .client)
        let (one, two) = (other.payload(of: Self.text), other.payload(of: Self.text))
        #expect(one != two)
    }

    // Frames

    @Test(arguments: [130, 200, 70_000, 300_000])
    func `a prepared frame is one compressed message for everybody`(_ length: Int) throws {
        let message = [UInt8](repeating: 0x61, count: length - 5) + Array("Hello".utf8)
        let prepared = PreparedFrame(compressing: message.span, with: Deflater())
        let frame = try #require(prepared)
        let bytes = Array(frame.bytes.readableBytesView)
        #expect(bytes[0] == 0xC1)
        let deflate = DeflateParameters(serverNoContextTakeover: true, serverMaxWindowBits: 15)
        let read = Transcript(bytes, role: .client, limit: 1 << 20, deflate: deflate, inflater: Inflater())
        #expect(read.steps == [.text(ByteBuffer(bytes: message))])
    }

    @Test func `a message that is left as it is has no compressed frame`() {
        let hello = Array("Hello".utf8)
        let frame = PreparedFrame(compressing: hello.span, with: Deflater())
        #expect(frame == nil)
    }

    @Test(arguments: [nil, MaskKey.example])
    func `a frame writer compresses what becomes shorter`(_ mask: MaskKey?) {
        let role: WebSocketRole = mask == nil ? .client : .server
        let deflater = Deflater()
        var buffer = ByteBuffer()
        FrameWriter.write(.text, compressing: Self.text.span, with: deflater, mask: mask, into: &buffer)
        let first = buffer.readableBytes
        #expect(first < Self.text.count)
        let short: [UInt8] = [1, 2, 3]
        FrameWriter.write(.binary, compressing: short.span, with: deflater, mask: mask, into: &buffer)
        #expect(buffer.readableBytes == first + 2 + 3 + (mask == nil ? 0 : 4))
        let read = Transcript(Array(buffer.readableBytesView), role: role, deflate: DeflateParameters())
        #expect(read.steps == [.text(ByteBuffer(bytes: Self.text)), .binary(ByteBuffer(bytes: short))])
    }
}
