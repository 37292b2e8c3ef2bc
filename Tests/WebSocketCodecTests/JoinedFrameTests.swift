import NIOCore
import RandomTestSupport
import Testing

@testable import WebSocketCodec

@Suite struct `Frames around a shared part` {
    /// The messages of some frames, as a client with compression reads them.
    private static func read(_ frames: ByteBuffer) throws -> [[UInt8]] {
        var reader = MessageReader(
            role: .client, maximumMessageLength: 1 << 24,
            deflate: DeflateParameters(serverNoContextTakeover: true, clientNoContextTakeover: true),
            inflater: Inflater())
        var (frames, messages) = (frames, [[UInt8]]())
        while let step = try reader.receive(&frames) {
            if case .text(let text) = step { messages.append(Array(buffer: text)) }
        }
        return messages
    }

    private static func frame(_ head: [UInt8], _ part: [UInt8], _ tail: [UInt8], _ deflater: Deflater?) -> ByteBuffer {
        var part = ByteBuffer(bytes: part)
        let frame: JoinedFrame
        if let compressed = deflater?.deflatePart(part.readableBytesUInt8Span) {
            frame = JoinedFrame(head: head.span, compressedPart: compressed.readableBytes, tail: tail.span)
            part = compressed
        } else {
            frame = JoinedFrame(head: head.span, part: part.readableBytes, tail: tail.span)
        }
        var bytes = frame.before
        bytes.writeImmutableBuffer(part)
        bytes.writeImmutableBuffer(frame.after)
        return bytes
    }

    private static func compressed(_ part: [UInt8]) -> [UInt8]? {
        Deflater().deflatePart(part.span).map { Array(buffer: $0) }
    }

    private static func text(_ count: Int, _ random: inout SeededRandom) -> [UInt8] {
        let words = ["\"track\":", "\"votes\":0,", "title", "é", "0123456789"].map { Array($0.utf8) }
        var text: [UInt8] = []
        while text.count < count { text += words[Int.random(in: 0..<words.count, using: &random)] }
        // Cut after a whole scalar: é is the only one of several bytes.
        while text.count > count { text.removeLast() }
        if text.last == 0xC3 { text[text.count - 1] = UInt8(ascii: " ") }
        return text
    }

    @Test(arguments: [0, 1, 100, 65_534, 65_535, 65_536, 65_537, 131_069, 131_070, 131_071, 200_000])
    func `stored blocks of every length around a compressed part inflate to the message`(count: Int) throws {
        var random = SeededRandom(seed: TestSeed.fixed(UInt64(count)))
        let deflater = Deflater()
        for (head, tail) in [(count, 3), (3, count), (count, count)] {
            let (head, tail) = (Self.text(head, &random), Self.text(tail, &random))
            let part = Self.text(90_000, &random)
            #expect(try Self.read(Self.frame(head, part, tail, deflater)) == [head + part + tail], "\(count)")
            #expect(try Self.read(Self.frame(head, part, tail, nil)) == [head + part + tail], "\(count)")
        }
    }

    @Test func `the same part stands in many messages, one behind the other`() throws {
        for seed in TestSeed.fixed(UInt64(1)...100) {
            var random = SeededRandom(seed: seed)
            let deflater = Deflater()
            let part = Self.text(.random(in: 200...70_000, using: &random), &random)
            let messages = (0..<3).map { _ in
                (
                    Self.text(.random(in: 0...400, using: &random), &random),
                    Self.text(.random(in: 0...9_000, using: &random), &random)
                )
            }
            var bytes = ByteBuffer()
            for (head, tail) in messages {
                // A part compressed between two others leaves no state.
                var other = ByteBuffer()
                _ = deflater.deflate(head.span, into: &other)
                bytes.writeImmutableBuffer(Self.frame(head, part, tail, deflater))
            }
            #expect(try Self.read(bytes) == messages.map { $0.0 + part + $0.1 }, "seed \(seed)")
        }
    }

    @Test func `a compressed part ends on a full flush, and is given up where it is no shorter`() throws {
        var random = SeededRandom(seed: TestSeed.fixed(1))
        let text = Self.text(5_000, &random)
        let part = try #require(Self.compressed(text))
        #expect(Array(part.suffix(4)) == [0x00, 0x00, 0xFF, 0xFF] && part.count < text.count)
        let noise = (0..<5_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect(Self.compressed(noise) == nil && Self.compressed([]) == nil)
    }
}
