import NIOCore
import RandomTestSupport
import Testing
import WebSocketCodec

struct CompressedMessageTests {
    /// RFC 7692 §7.2.3.1.
    private static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
    /// RFC 7692 §7.2.3.2: the same once more, as a reference to the first.
    private static let again: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]

    private static let takeover = DeflateParameters()
    private static let alone = DeflateParameters(serverNoContextTakeover: true, clientNoContextTakeover: true)

    private func rsv1(_ opcode: Opcode, _ payload: [UInt8], isFinal: Bool = true, mask: MaskKey? = .example) -> [UInt8]
    {
        frame(opcode, payload, isFinal: isFinal, reserved: .rsv1, mask: mask)
    }

    // RFC 7692 §7.2.3

    @Test func `the RFC's compressed frame and its two fragments are read`() {
        let whole: [UInt8] = [0xC1, 0x07, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        let fragments: [UInt8] = [0x41, 0x03, 0xF2, 0x48, 0xCD, 0x80, 0x04, 0xC9, 0xC9, 0x07, 0x00]
        for bytes in [whole, fragments] {
            for pieces in bytes.cuts + [bytes.singleBytes] {
                #expect(Transcript(pieces, role: .client, deflate: Self.takeover).steps == [.text(.of("Hello"))])
            }
        }
    }

    @Test func `the RFC's messages that share a window are read, with others between them`() {
        let bytes: [UInt8] =
            [0xC1, 0x07] + Self.hello + [0x81, 0x02, 0x68, 0x69] + [0xC1, 0x05] + Self.again + [0x89, 0x00]
            + [0xC2, 0x05] + Self.again
        let expected: [MessageReader.Step] = [
            .text(.of("Hello")), .text(.of("hi")), .text(.of("Hello")), .ping(ByteBuffer()), .binary(.of("Hello")),
        ]
        for pieces in bytes.cuts + [bytes.singleBytes] {
            #expect(Transcript(pieces, role: .client, deflate: Self.takeover).steps == expected)
        }
        let server = DeflateParameters(serverNoContextTakeover: true)
        let refused = Transcript(bytes, role: .client, deflate: server)
        #expect(refused.violation == .invalidDeflate)
        #expect(refused.steps == Array(expected.prefix(2)))
    }

    @Test func `a masked compressed conversation is read however it is cut`() {
        let parts: [[UInt8]] = [
            rsv1(.text, Self.hello), frame(.text, Array("plain".utf8)), rsv1(.text, [0x00]), rsv1(.binary, []),
            rsv1(.text, [0xF2, 0x48], isFinal: false), frame(.ping, [1, 2]), frame(.continuation, [], isFinal: false),
            frame(.continuation, Array(Self.hello.dropFirst(2))), frame(.pong), rsv1(.binary, storedPayload([0xFF])),
            rsv1(.text, [], isFinal: false), frame(.continuation, []), closeFrame(1000),
        ]
        let bytes = parts.flatMap { $0 }
        let expected: [MessageReader.Step] = [
            .text(.of("Hello")), .text(.of("plain")), .text(ByteBuffer()), .binary(ByteBuffer()),
            .ping(ByteBuffer(bytes: [1, 2])), .text(.of("Hello")), .pong(ByteBuffer()),
            .binary(ByteBuffer(bytes: [0xFF])), .text(ByteBuffer()), .close(CloseReason(.normal)),
        ]
        let shared = Inflater()
        for deflate in [Self.takeover, Self.alone] {
            #expect(Transcript(parts, deflate: deflate, inflater: shared).steps == expected)
            for pieces in bytes.cuts + [bytes.singleBytes] {
                #expect(Transcript(pieces, deflate: deflate, inflater: shared).steps == expected)
            }
        }
    }

    // RSV1

    @Test func `RSV1 is a violation where compression was not agreed on`() {
        #expect(Transcript(rsv1(.text, Self.hello)).violation == .reservedBits(.rsv1))
        #expect(Transcript(rsv1(.text, Self.hello), inflater: Inflater()).violation == .reservedBits(.rsv1))
    }

    @Test(arguments: [Opcode.ping, .pong, .close])
    func `RSV1 is a violation on control frames`(_ opcode: Opcode) {
        var bytes = frame(opcode)
        bytes[0] |= 0x40
        #expect(Transcript(bytes, deflate: Self.takeover).violation == .reservedBits(.rsv1))
    }

    @Test func `RSV1 is a violation on continuations`() {
        let rest: [UInt8] = [0xC0, 0x80, 0x37, 0xFA, 0x21, 0x3D]
        for start in [rsv1(.text, Self.hello, isFinal: false), frame(.text, [0x61], isFinal: false)] {
            #expect(Transcript(start + rest, deflate: Self.takeover).violation == .reservedBits(.rsv1))
        }
    }

    @Test func `the other reserved bits are violations with compression too`() {
        for bits: ReservedBits in [.rsv2, .rsv3, [.rsv1, .rsv2], [.rsv1, .rsv2, .rsv3]] {
            let bytes = frame(.text, Self.hello, reserved: bits)
            #expect(Transcript(bytes, deflate: Self.takeover).violation == .reservedBits(bits))
        }
    }

    // Texts

    @Test(arguments: [[0xC0, 0xAF], [0x61, 0xFF], [0xED, 0xA0, 0x80], [0x61, 0xE2, 0x82]] as [[UInt8]])
    func `a text that is not UTF-8 once it is inflated is refused`(_ text: [UInt8]) {
        let payload = storedPayload(text)
        let whole = rsv1(.text, payload)
        let fragments = rsv1(.text, [], isFinal: false) + frame(.continuation, payload)
        for bytes in [whole, fragments] {
            #expect(Transcript(bytes, deflate: Self.alone).violation == .invalidUTF8)
            #expect(Transcript(bytes.singleBytes, deflate: Self.alone).violation == .invalidUTF8)
        }
        #expect(Transcript(rsv1(.binary, payload), deflate: Self.alone).steps == [.binary(ByteBuffer(bytes: text))])
    }

    @Test func `the compressed payload is not checked for UTF-8`() {
        let bytes = rsv1(.text, storedPayload(Array("ä".utf8)), isFinal: false) + frame(.continuation, [])
        #expect(Transcript(bytes, deflate: Self.alone).steps == [.text(.of("ä"))])
    }

    @Test func `data that cannot be inflated is refused once it is complete`() {
        let bytes = rsv1(.text, Self.hello) + rsv1(.text, [0x07]) + rsv1(.text, Self.hello)
        for deflate in [Self.alone, Self.takeover] {
            let refused = Transcript(bytes, deflate: deflate)
            #expect(refused.steps == [.text(.of("Hello"))])
            #expect(refused.violation == .invalidDeflate)
            #expect(Transcript(bytes.singleBytes, deflate: deflate) == refused)
        }
        #expect(Transcript(rsv1(.text, [0x07], isFinal: false), deflate: Self.alone) == Transcript([] as [UInt8]))
    }

    // Limits

    @Test func `a bomb is refused as too long a message, whole, in fragments and in pieces`() {
        let limit = 256 * 1_024
        let payload = bomb(mebibytes: 256)
        let whole = rsv1(.binary, payload)
        let fragments =
            rsv1(.binary, Array(payload.prefix(1_000)), isFinal: false)
            + frame(.continuation, Array(payload.dropFirst(1_000)))
        for deflate in [Self.alone, Self.takeover] {
            for pieces in [[whole], [fragments], [Array(whole.prefix(100)), Array(whole.dropFirst(100))]] {
                let inflater = Inflater()
                let refused = Transcript(pieces, limit: limit, deflate: deflate, inflater: inflater)
                #expect(refused.violation == .messageTooLong(limit: limit))
                if deflate == Self.alone { #expect(inflater.producedByteCount == UInt64(limit) + 1) }
            }
        }
    }

    @Test func `a payload much longer than a message may be is refused by its header`() {
        let inflater = Inflater()
        let header = Array(rsv1(.binary, bomb(mebibytes: 1_024)).prefix(14))
        let refused = Transcript(header, deflate: Self.alone, inflater: inflater)
        #expect(refused.violation == .messageTooLong(limit: MessageReader.defaultMaximumMessageLength))
        #expect(inflater.producedByteCount == 0)
    }

    @Test func `the bytes that compressing adds to a message of the longest length are allowed`() {
        var generator = SeededRandom(seed: TestSeed.fixed(1))
        let noise = generator.bytes(10_000)
        let payload = storedPayload(noise, length: 50)
        #expect(payload.count == 11_001)
        let expected: [MessageReader.Step] = [.binary(ByteBuffer(bytes: noise))]
        #expect(Transcript(rsv1(.binary, payload), limit: 10_000, deflate: Self.alone).steps == expected)
        #expect(
            Transcript(rsv1(.binary, payload), limit: 9_999, deflate: Self.alone).violation
                == .messageTooLong(limit: 9_999))
        // 12,564: a quarter and 64 bytes more
        let empty = storedBlocks([])
        let longest = Array([[UInt8]](repeating: empty, count: 2_512).joined()) + [0x00]
        #expect(Transcript(rsv1(.binary, longest), limit: 10_000, deflate: Self.alone).steps == [.binary(ByteBuffer())])
        #expect(
            Transcript(rsv1(.binary, longest + empty), limit: 10_000, deflate: Self.alone).violation
                == .messageTooLong(limit: 10_000))
        // the limit of an uncompressed message does not change
        #expect(
            Transcript(frame(.binary, payload), limit: 10_000, deflate: Self.alone).violation
                == .messageTooLong(limit: 10_000))
    }

    @Test func `the payload of fragments is bounded as a whole`() throws {
        var reader = MessageReader(role: .server, maximumMessageLength: 1_000, deflate: Self.alone)
        var bytes = ByteBuffer(bytes: rsv1(.binary, [UInt8](repeating: 0, count: 700), isFinal: false))
        #expect(try reader.receive(&bytes) == nil)
        #expect(reader.heldCapacity >= 700)
        bytes = ByteBuffer(bytes: frame(.continuation, [UInt8](repeating: 0, count: 614), isFinal: false))
        #expect(try reader.receive(&bytes) == nil)
        bytes = ByteBuffer(bytes: Array(frame(.continuation, [0]).prefix(6)))
        #expect(throws: FrameViolation.messageTooLong(limit: 1_000)) { try reader.receive(&bytes) }
        #expect(reader.heldCapacity == 0)
    }

    // Memory

    @Test func `a reader holds nothing between compressed messages`() throws {
        var reader = MessageReader(role: .server, deflate: Self.alone, inflater: Inflater())
        let parts: [[UInt8]] = [
            rsv1(.text, Self.hello), rsv1(.text, Self.hello, isFinal: false), frame(.continuation, []),
            Array(rsv1(.text, Self.hello).prefix(9)), Array(rsv1(.text, Self.hello).dropFirst(9)),
        ]
        var isHolding: [Bool] = []
        for part in parts {
            var bytes = ByteBuffer(bytes: part)
            while let step = try reader.receive(&bytes) { #expect(step == .text(.of("Hello"))) }
            isHolding.append(reader.heldCapacity > 0)
        }
        #expect(isHolding == [false, true, false, true, false])
    }

    @Test func `connections that share an inflater see nothing of each other`() throws {
        let shared = Inflater()
        var first = MessageReader(role: .server, deflate: Self.alone, inflater: shared)
        var second = MessageReader(role: .server, deflate: Self.alone, inflater: shared)
        var bytes = ByteBuffer(bytes: rsv1(.text, Self.hello))
        #expect(try first.receive(&bytes) == .text(.of("Hello")))
        bytes = ByteBuffer(bytes: rsv1(.text, Self.again))
        #expect(throws: FrameViolation.invalidDeflate) { try second.receive(&bytes) }
        bytes = ByteBuffer(bytes: rsv1(.text, Self.hello))
        #expect(try first.receive(&bytes) == .text(.of("Hello")))
        // the refused message begins with its own H
        #expect(shared.producedByteCount == 11)
    }

    @Test func `a peer with context takeover never gets the shared inflater`() throws {
        let shared = Inflater()
        var first = MessageReader(role: .server, deflate: Self.takeover, inflater: shared)
        var second = MessageReader(role: .server, deflate: Self.takeover, inflater: shared)
        for payload in [Self.hello, Self.again, Self.again] {
            var bytes = ByteBuffer(bytes: rsv1(.text, payload))
            #expect(try first.receive(&bytes) == .text(.of("Hello")))
            bytes = ByteBuffer(bytes: rsv1(.text, payload))
            #expect(try second.receive(&bytes) == .text(.of("Hello")))
        }
        #expect(shared.producedByteCount == 0)
    }
}
