import NIOCore
import Testing
import WebSocketCodec

struct InflaterTests {
    private static let hello = Array("Hello".utf8)

    // RFC 7692 §7.2.3

    @Test(
        arguments: [
            ("compressed", [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]),
            ("not compressed", [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00]),
            ("with a final block", [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]),
            ("in two blocks", [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00]),
        ] as [(String, [UInt8])])
    func `the RFC's examples of Hello are inflated`(_ name: String, _ payload: [UInt8]) throws {
        #expect(try Inflater().message(of: payload) == Self.hello)
        #expect(try Inflater(windowBits: 8).message(of: payload) == Self.hello)
        #expect(try Inflater().message(of: payload, limit: 5) == Self.hello)
        #expect(throws: FrameViolation.messageTooLong(limit: 4)) { try Inflater().message(of: payload, limit: 4) }
    }

    @Test func `the RFC's second Hello refers to the first`() throws {
        let inflater = Inflater()
        let (first, second): ([UInt8], [UInt8]) = (
            [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], [0xF2, 0x00, 0x11, 0x00, 0x00]
        )
        #expect(try inflater.message(of: first, keepsContext: true) == Self.hello)
        #expect(try inflater.message(of: second, keepsContext: true) == Self.hello)
        #expect(try inflater.message(of: second, keepsContext: true) == Self.hello)
        // the message alone refers to nothing
        #expect(throws: FrameViolation.invalidDeflate) { try inflater.message(of: second) }
        #expect(try inflater.message(of: first) == Self.hello)
    }

    @Test func `the RFC's empty message is inflated`() throws {
        #expect(try Inflater().message(of: [0x00]) == [])
    }

    // Ends

    @Test func `a payload without bytes is an empty message and leaves the context as it was`() throws {
        let inflater = Inflater()
        #expect(try inflater.message(of: [], keepsContext: true) == [])
        #expect(try inflater.message(of: [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], keepsContext: true) == Self.hello)
        #expect(try inflater.message(of: [], keepsContext: true) == [])
        #expect(try inflater.message(of: [0xF2, 0x00, 0x11, 0x00, 0x00], keepsContext: true) == Self.hello)
    }

    @Test func `data after a final block goes on, and refers to what came before`() throws {
        let inflater = Inflater()
        let twice = storedBlocks(Self.hello, isFinal: true) + storedPayload(Self.hello)
        #expect(try inflater.message(of: twice, keepsContext: true) == Self.hello + Self.hello)
        // RFC 7692 §7.2.3.4, then the second message of §7.2.3.2
        let final: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]
        #expect(try inflater.message(of: final, keepsContext: true) == Self.hello)
        #expect(try inflater.message(of: [0xF2, 0x00, 0x11, 0x00, 0x00], keepsContext: true) == Self.hello)
        #expect(
            try inflater.message(of: final.dropLast() + final.dropLast() + [0xF2, 0x00, 0x11, 0x00, 0x00]).count == 15)
    }

    @Test func `a message may end with its final block, or keep its tail`() throws {
        let inflater = Inflater()
        for _ in 0..<2 {
            let final: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
            #expect(try inflater.message(of: final, keepsContext: true) == Self.hello)
            #expect(try inflater.message(of: storedBlocks(Self.hello, isFinal: true), keepsContext: true) == Self.hello)
            let tailed: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00, 0x00, 0xFF, 0xFF]
            #expect(try inflater.message(of: tailed, keepsContext: true) == Self.hello)
        }
    }

    @Test func `many empty blocks make nothing`() throws {
        let blocks = Array([[UInt8]](repeating: storedBlocks([]), count: 1_000).joined())
        #expect(try Inflater().message(of: blocks + [0x00], limit: 125) == [])
        let finals = Array([[UInt8]](repeating: storedBlocks([], isFinal: true), count: 1_000).joined())
        #expect(try Inflater().message(of: finals + [0x00], limit: 125) == [])
        // RFC 1951 §3.2.3: final blocks of fixed codes that hold their end alone
        #expect(try Inflater().message(of: [0x03, 0x00, 0x03, 0x00]) == [])
    }

    // Data that is not DEFLATE

    @Test(
        arguments: [
            // a block of the reserved type
            [0x07], [0x06, 0x00],
            // a length that does not match its complement
            [0x00, 0x05, 0x00, 0xFA, 0xFE, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
            // cut inside a block
            [0xF2], [0xF2, 0x48], [0xF2, 0x48, 0xCD, 0xC9, 0xC9], [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48], [0x00, 0x05],
            // a distance before the first byte
            [0xF2, 0x00, 0x11, 0x00, 0x00],
            // the codes of a dynamic block that are over-subscribed
            [0xED, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            // half of an empty block
            [0x00, 0x00],
        ] as [[UInt8]])
    func `a payload without whole blocks is refused, and the next message is not`(_ payload: [UInt8]) throws {
        let inflater = Inflater()
        #expect(throws: FrameViolation.invalidDeflate) { try inflater.message(of: payload) }
        #expect(try inflater.message(of: [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]) == Self.hello)
    }

    // Limits

    @Test(arguments: [0, 1, 255, 256, 257, 1_000, 65_535, 65_536, 300_000])
    func `a message of exactly the limit is taken and one of a byte more is not`(_ length: Int) throws {
        let zeros = [UInt8](repeating: 0x61, count: length)
        let payloads = [
            storedPayload(zeros), storedPayload(zeros, length: 100),
            storedBlocks(zeros, length: 1_000, isFinal: true), storedBlocks(zeros),
            Deflater(threshold: 1).payload(of: zeros),
        ]
        for payload in payloads.compactMap({ $0 }) {
            let inflater = Inflater()
            #expect(try inflater.message(of: payload, limit: length) == zeros)
            #expect(inflater.producedByteCount == UInt64(length))
            guard length > 0 else { continue }
            #expect(throws: FrameViolation.messageTooLong(limit: length - 1)) {
                try inflater.message(of: payload, limit: length - 1)
            }
            #expect(inflater.producedByteCount == UInt64(2 * length))
        }
    }

    @Test func `a bomb of 1 GiB is refused after one byte more than the limit`() {
        let payload = bomb(mebibytes: 1_024)
        #expect(payload.count < 2 << 20)
        for limit in [125, 256 * 1_024, 1_000_000] {
            let inflater = Inflater()
            #expect(throws: FrameViolation.messageTooLong(limit: limit)) {
                try inflater.message(of: payload, limit: limit)
            }
            #expect(inflater.producedByteCount == UInt64(limit) + 1)
        }
    }

    @Test func `a bomb that is not refused is inflated`() throws {
        let message = try Inflater().message(of: bomb(mebibytes: 4), limit: 4 << 20)
        #expect(message == [UInt8](repeating: 0, count: 4 << 20))
    }
}
