import NIOCore
import Testing
import WebSocketCodec

struct MessageReaderTests {
    private static let hello = Array("Hello".utf8)

    // RFC 6455 §5.7

    @Test func `the RFC's single-frame unmasked text is read by a client`() {
        let bytes: [UInt8] = [0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]
        #expect(Transcript(bytes, role: .client).steps == [.text(.of("Hello"))])
        #expect(Transcript(bytes, role: .server) == Transcript(bytes, role: .server))
        #expect(Transcript(bytes, role: .server).violation == .unmaskedFrame)
    }

    @Test func `the RFC's single-frame masked text is read by a server`() {
        let bytes: [UInt8] = [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        #expect(Transcript(bytes, role: .server).steps == [.text(.of("Hello"))])
        #expect(Transcript(bytes, role: .client).violation == .maskedFrame)
    }

    @Test func `the RFC's fragmented text is one message`() {
        let bytes: [UInt8] = [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F]
        #expect(Transcript(bytes, role: .client).steps == [.text(.of("Hello"))])
    }

    @Test func `the RFC's ping and its masked pong are read`() {
        let ping: [UInt8] = [0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]
        let pong: [UInt8] = [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        #expect(Transcript(ping, role: .client).steps == [.ping(.of("Hello"))])
        #expect(Transcript(pong, role: .server).steps == [.pong(.of("Hello"))])
    }

    @Test func `the RFC's 256 bytes and 64 KiB of binary are read`() {
        let short = [UInt8](repeating: 7, count: 256)
        let long = [UInt8](repeating: 9, count: 65_536)
        #expect(
            Transcript([0x82, 0x7E, 0x01, 0x00] + short, role: .client).steps == [.binary(ByteBuffer(bytes: short))])
        #expect(
            Transcript([0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + long, role: .client).steps
                == [.binary(ByteBuffer(bytes: long))])
    }

    // However the bytes are cut

    @Test func `a conversation cut anywhere gives the same steps`() {
        let text = Array("größer 😀".utf8)
        for (role, mask) in [(WebSocketRole.server, MaskKey.example), (.client, nil)] {
            let parts: [[UInt8]] = [
                frame(.text, Self.hello, mask: mask), frame(.text, mask: mask),
                frame(.text, Array(text[..<3]), isFinal: false, mask: mask), frame(.ping, [1, 2], mask: mask),
                frame(.continuation, isFinal: false, mask: mask),
                frame(.continuation, Array(text[3..<10]), isFinal: false, mask: mask), frame(.pong, mask: mask),
                frame(.continuation, Array(text[10...]), mask: mask),
                frame(.binary, [UInt8](repeating: 0xFF, count: 130), mask: mask),
                closeFrame(1001, Array("ü".utf8), mask: mask),
            ]
            let bytes = parts.flatMap { $0 }
            let expected: [MessageReader.Step] = [
                .text(.of("Hello")), .text(ByteBuffer()), .ping(ByteBuffer(bytes: [1, 2])), .pong(ByteBuffer()),
                .text(.of("größer 😀")), .binary(ByteBuffer(repeating: 0xFF, count: 130)),
                .close(CloseReason(.goingAway, "ü")),
            ]
            #expect(Transcript(bytes, role: role).steps == expected)
            #expect(Transcript(parts, role: role).steps == expected)
            #expect(Transcript(bytes.singleBytes, role: role).steps == expected)
            for cut in bytes.cuts { #expect(Transcript(cut, role: role).steps == expected) }
        }
    }

    // Fragments

    @Test func `a continuation without a message is refused`() {
        #expect(Transcript(frame(.continuation, Self.hello)).violation == .unexpectedContinuation)
        #expect(
            Transcript(frame(.text, Self.hello) + frame(.continuation, isFinal: false)).violation
                == .unexpectedContinuation)
    }

    @Test func `a new message before the end of another is refused`() {
        let start = frame(.text, Self.hello, isFinal: false)
        #expect(Transcript(start + frame(.text, Self.hello)).violation == .interleavedMessage)
        #expect(Transcript(start + frame(.binary, Self.hello)).violation == .interleavedMessage)
    }

    @Test func `a message of empty fragments is empty`() {
        let bytes = frame(.text, isFinal: false) + frame(.continuation, isFinal: false) + frame(.continuation)
        #expect(Transcript(bytes).steps == [.text(ByteBuffer())])
    }

    @Test func `binary messages are not checked for UTF-8`() {
        let bytes = frame(.binary, [0xFF], isFinal: false) + frame(.continuation, [0xC0])
        #expect(Transcript(bytes).steps == [.binary(ByteBuffer(bytes: [0xFF, 0xC0]))])
    }

    // UTF-8

    @Test(
        arguments: [
            [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xED, 0xA0, 0x80, 0x65], [0xC0, 0xAF], [0xFF], [0xF4, 0x90, 0x80, 0x80],
            [0xE2, 0x82],
        ] as [[UInt8]])
    func `text that is not UTF-8 is refused in one frame, in fragments and in pieces`(_ text: [UInt8]) {
        let whole = frame(.text, text)
        let fragments =
            frame(.text, isFinal: false) + text.flatMap { frame(.continuation, [$0], isFinal: false) }
            + frame(.continuation)
        for bytes in [whole, fragments] {
            let refused = Transcript(bytes)
            #expect(refused == Transcript(bytes.singleBytes))
            #expect(refused.steps.isEmpty)
            #expect(refused.violation == .invalidUTF8)
        }
    }

    @Test func `invalid UTF-8 is refused before its fragment or frame is complete`() {
        let start: [UInt8] = Array("κόσμε".utf8) + [0xF4, 0x90]
        #expect(Transcript(frame(.text, start, isFinal: false)).violation == .invalidUTF8)
        let header = Array(frame(.text, start + [UInt8](repeating: 0x61, count: 100)).prefix(6 + start.count))
        #expect(Transcript(header).violation == .invalidUTF8)
        #expect(Transcript(Array(header.dropLast())).violation == nil)
    }

    @Test func `a scalar may be cut by fragments and by control frames between them`() {
        let euro: [UInt8] = [0xE2, 0x82, 0xAC]
        let bytes =
            frame(.text, [euro[0]], isFinal: false) + frame(.ping, [0xFF])
            + frame(.continuation, [euro[1]], isFinal: false)
            + frame(.continuation, [euro[2]])
        #expect(Transcript(bytes).steps == [.ping(ByteBuffer(bytes: [0xFF])), .text(.of("€"))])
    }

    // Limits

    @Test func `a message as long as the limit is taken, one byte more is refused`() {
        let most = [UInt8](repeating: 0x61, count: 200)
        #expect(Transcript(frame(.text, most), limit: 200).steps == [.text(ByteBuffer(bytes: most))])
        #expect(Transcript(frame(.text, most + [0x61]), limit: 200).violation == .messageTooLong(limit: 200))
        #expect(MessageReader.defaultMaximumMessageLength == 262_144)
    }

    @Test func `a length above the limit is refused when the header is there`() {
        var header = ByteBuffer()
        FrameHeader(.binary, payloadLength: UInt64(Int64.max), mask: .example).write(into: &header)
        #expect(Transcript(Array(header.readableBytesView)).violation == .messageTooLong(limit: 262_144))
    }

    @Test func `fragments are added up`() {
        let part = [UInt8](repeating: 0x61, count: 100)
        let start = frame(.text, part, isFinal: false) + frame(.continuation, part, isFinal: false)
        #expect(Transcript(start + frame(.continuation), limit: 200).steps.count == 1)
        // refused by the header alone
        let next = Array(frame(.continuation, [0x61]).prefix(6))
        #expect(Transcript(start + next, limit: 200).violation == .messageTooLong(limit: 200))
    }

    @Test func `control frames between fragments do not count`() {
        let part = [UInt8](repeating: 0x61, count: 100)
        let bytes =
            frame(.text, part, isFinal: false) + frame(.ping, [UInt8](repeating: 1, count: 125))
            + frame(.continuation, part)
        #expect(Transcript(bytes, limit: 200).steps.count == 2)
    }

    @Test func `a limit holds for each message, not for all`() {
        let one = frame(.text, [UInt8](repeating: 0x61, count: 200))
        #expect(Transcript(one + one + one, limit: 200).steps.count == 3)
    }

    // Control frames and the end

    @Test func `control frames of 125 bytes are taken`() {
        let payload = [UInt8](repeating: 5, count: 125)
        #expect(
            Transcript(frame(.ping, payload) + frame(.pong, payload)).steps
                == [.ping(ByteBuffer(bytes: payload)), .pong(ByteBuffer(bytes: payload))])
        let longest = [UInt8](repeating: 0x61, count: 123)
        #expect(
            Transcript(closeFrame(1000, longest)).steps
                == [.close(CloseReason(.normal, String(repeating: "a", count: 123)))])
    }

    @Test func `a close frame may be empty or hold a code alone`() {
        #expect(Transcript(frame(.close)).steps == [.close(nil)])
        #expect(Transcript(closeFrame(4401)).steps.count == 1)
        #expect(Transcript(closeFrame(1000)).steps == [.close(CloseReason(.normal))])
    }

    @Test func `a close frame of one byte, with a bad code or a bad text is refused`() {
        #expect(Transcript(frame(.close, [3])).violation == .closePayloadTooShort)
        for code: UInt16 in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] {
            #expect(Transcript(closeFrame(code)).violation == .invalidCloseCode(code))
        }
        #expect(Transcript(closeFrame(1000, [0xFF])).violation == .invalidUTF8)
        #expect(Transcript(closeFrame(1000, [0xE2, 0x82])).violation == .invalidUTF8)
    }

    @Test func `bytes after a close frame are consumed and dropped`() {
        let bytes = closeFrame(1000) + frame(.text, Self.hello) + [0xFF, 0xFF, 0xFF]
        #expect(Transcript(bytes).steps == [.close(CloseReason(.normal))])
        #expect(Transcript(bytes).violation == nil)
        var reader = MessageReader(role: .server)
        var buffer = ByteBuffer(bytes: bytes)
        #expect(throws: Never.self) { try reader.receive(&buffer) }
        #expect(throws: Never.self) { try reader.receive(&buffer) }
        #expect(buffer.readableBytes == 0)
    }

    @Test func `a close frame ends a message that is not complete`() {
        let bytes = frame(.text, Self.hello, isFinal: false) + frame(.close) + frame(.continuation)
        #expect(Transcript(bytes).steps == [.close(nil)])
    }

    @Test func `after a violation everything is refused with the same violation`() {
        var reader = MessageReader(role: .server)
        var bad = ByteBuffer(bytes: [0x81, 0x05])
        var good = ByteBuffer(bytes: frame(.text, Self.hello))
        let length = good.readableBytes
        #expect(throws: FrameViolation.unmaskedFrame) { try reader.receive(&bad) }
        #expect(throws: FrameViolation.unmaskedFrame) { try reader.receive(&good) }
        #expect(throws: FrameViolation.unmaskedFrame) { try reader.receive(&good) }
        #expect(good.readableBytes == length)
    }

    @Test func `messages before a violation are handed out`() {
        let result = Transcript(frame(.text, Self.hello) + frame(.ping) + [0x70])
        #expect(result.steps == [.text(.of("Hello")), .ping(ByteBuffer())])
        #expect(result.violation == .reservedBits([.rsv1, .rsv2, .rsv3]))
    }

    // Buffers

    @Test(arguments: [WebSocketRole.server, .client])
    func `a message in one frame is a slice of the caller's buffer`(_ role: WebSocketRole) throws {
        let mask = role == .server ? MaskKey.example : nil
        var bytes = ByteBuffer(bytes: frame(.text, Self.hello, mask: mask) + frame(.text, Self.hello, mask: mask))
        bytes.reserveCapacity(10_000)
        let capacity = bytes.storageCapacity
        var reader = MessageReader(role: role)
        for _ in 0..<2 {
            guard case .text(let text) = try reader.receive(&bytes) else {
                Issue.record("no text")
                return
            }
            #expect(text == .of("Hello"))
            #expect(text.storageCapacity == capacity)
        }
    }

    @Test func `a buffer that is shared is not changed`() throws {
        let original = ByteBuffer(bytes: frame(.text, Self.hello) + frame(.text, Self.hello))
        var bytes = original
        var reader = MessageReader(role: .server)
        let first = try reader.receive(&bytes)
        let second = try reader.receive(&bytes)
        #expect(first == .text(.of("Hello")))
        #expect(second == .text(.of("Hello")))
        #expect(Array(original.readableBytesView) == frame(.text, Self.hello) + frame(.text, Self.hello))
    }

    @Test func `keeping a message does not make the ones after it copy the whole buffer`() throws {
        var bytes = ByteBuffer(bytes: frame(.text, Self.hello) + frame(.text, Self.hello))
        bytes.reserveCapacity(100_000)
        var reader = MessageReader(role: .server)
        let kept = try reader.receive(&bytes)
        guard case .text(let next) = try reader.receive(&bytes) else {
            Issue.record("no text")
            return
        }
        #expect(next == .of("Hello"))
        #expect(next.storageCapacity < 100)
        #expect(kept == .text(.of("Hello")))
    }

    @Test func `a reader keeps nothing of the caller's buffer`() throws {
        var reader = MessageReader(role: .server)
        let half = frame(.text, Self.hello, isFinal: false) + frame(.ping, [1]) + [0x80]
        var bytes = ByteBuffer(bytes: half)
        #expect(try reader.receive(&bytes) == .ping(ByteBuffer(bytes: [1])))
        #expect(try reader.receive(&bytes) == nil)
        #expect(bytes.readableBytes == 0)
        #expect(bytes.modifyIfUniquelyOwned { _ in true } == true)
    }

    @Test func `a reader holds memory only for the received bytes of a message, and none between messages`() throws {
        var capacities: [Int] = []
        var reader = MessageReader(role: .server)
        let long = frame(.binary, [UInt8](repeating: 1, count: 200_000))
        let parts: [[UInt8]] = [
            [], frame(.text, Self.hello), [0x81], Array(frame(.text, Self.hello).dropFirst()), Array(long[..<14]),
            Array(long[14..<1_000]), Array(long[1_000...]), frame(.text, Self.hello, isFinal: false),
            frame(.continuation), Array(frame(.ping, [1, 2]).dropLast()), [2 ^ 0xFA], frame(.text, isFinal: false),
            closeFrame(1000),
        ]
        for part in parts {
            var bytes = ByteBuffer(bytes: part)
            while try reader.receive(&bytes) != nil {}
            capacities.append(reader.heldCapacity)
        }
        let isHolding = [false, false, true, false, false, true, false, true, false, true, false, false, false]
        #expect(capacities.map { $0 > 0 } == isHolding)
        #expect(capacities.allSatisfy { $0 < 2_048 })
    }
}
