import NIOCore
import Testing

@testable import WebSocketCodec

@Suite struct `Cost of reading` {
    /// The cost of reading, step by step; nil stands for the end of the bytes.
    private static func costs(
        _ bytes: [UInt8], deflate: DeflateParameters? = nil, cutAt cut: Int? = nil
    ) throws -> [ReadingCost] {
        var reader = MessageReader(role: .client, deflate: deflate)
        var costs: [ReadingCost] = []
        let parts = cut.map { [bytes[..<$0], bytes[$0...]] } ?? [bytes[...]]
        for part in parts {
            var buffer = ByteBuffer(bytes: part)
            while true {
                let step = try reader.receive(&buffer)
                costs.append(reader.takeCost())
                if step == nil { break }
            }
        }
        return costs
    }

    private static func cost(_ frames: Int, _ bytes: Int) -> ReadingCost {
        var cost = ReadingCost()
        cost.frames = frames
        cost.bytes = bytes
        return cost
    }

    private static let none = ReadingCost()

    @Test func `every frame counts: messages, pings, pongs, closes`() throws {
        let bytes: [UInt8] = [0x81, 2, 0x68, 0x69, 0x89, 1, 0x78, 0x8A, 0, 0x88, 0]
        let expected = [Self.cost(1, 2), Self.cost(1, 1), Self.cost(1, 0), Self.cost(1, 0), Self.none]
        #expect(try Self.costs(bytes) == expected)
    }

    @Test func `a message in fragments counts for each, empty ones too`() throws {
        let bytes: [UInt8] = [0x01, 1, 0x68, 0x00, 0, 0x00, 0, 0x80, 1, 0x69]
        #expect(try Self.costs(bytes) == [Self.cost(4, 2), Self.none])
    }

    @Test func `fragments count before their message is complete`() throws {
        #expect(try Self.costs([0x01, 0, 0x00, 0, 0x00, 0]) == [Self.cost(3, 0)])
    }

    @Test func `a frame counts once, however it is cut`() throws {
        let bytes: [UInt8] = [0x01, 1, 0x68, 0x89, 1, 0x78, 0x80, 2, 0x69, 0x6A]
        for cut in 1..<bytes.count {
            let costs = try Self.costs(bytes, cutAt: cut)
            #expect(costs.reduce(0) { $0 + $1.frames } == 3)
            #expect(costs.reduce(0) { $0 + $1.bytes } == 4)
        }
    }

    @Test func `a compressed message counts by the larger of its lengths`() throws {
        let deflate = DeflateParameters(serverNoContextTakeover: true, clientNoContextTakeover: true)
        // RFC 7692 §7.2.3.1: "Hello" in seven bytes.
        let hello: [UInt8] = [0xC1, 7, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        #expect(try Self.costs(hello, deflate: deflate) == [Self.cost(1, 7), Self.none])
        // 300 spaces in a few bytes, and empty blocks.
        var payload = ByteBuffer()
        let spaces = [UInt8](repeating: 0x20, count: 300)
        try #require(Deflater(threshold: 1).deflate(spaces.span, into: &payload) && payload.readableBytes < 100)
        let short = [0xC1, UInt8(payload.readableBytes)] + Array(payload.readableBytesView)
        #expect(try Self.costs(short, deflate: deflate) == [Self.cost(1, 300), Self.none])
        let nothing: [UInt8] = [0xC1, 10] + [0, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0xFF, 0xFF]
        #expect(try Self.costs(nothing, deflate: deflate) == [Self.cost(1, 10), Self.none])
    }
}
