import NIOCore
import RandomTestSupport
import Testing
import WebSocketCodec

struct MaskKeyTests {
    /// RFC 6455 §5.3: byte i is combined with byte i MOD 4 of the key.
    private func masked(_ bytes: [UInt8], _ key: [UInt8], phase: Int) -> [UInt8] {
        bytes.enumerated().map { $0.element ^ key[($0.offset + phase) % 4] }
    }

    @Test func `every length and phase is masked as the RFC says, and nothing beside it`() {
        let plain = (0..<48).map { UInt8($0 &* 5) }
        for count in 0...40 {
            for phase in 0..<8 {
                var buffer = ByteBuffer(bytes: [1, 2, 3] + plain)
                buffer.moveReaderIndex(forwardBy: 1)
                MaskKey.example.apply(to: &buffer, at: 5, count: count, phase: phase)
                let expected =
                    Array(plain[..<2]) + masked(Array(plain[2..<(2 + count)]), [0x37, 0xFA, 0x21, 0x3D], phase: phase)
                    + Array(plain[(2 + count)...])
                #expect(Array(buffer.readableBytesView) == [2, 3] + expected, "\(count) bytes, phase \(phase)")
            }
        }
    }

    @Test func `masking twice gives the bytes back`() {
        var buffer = ByteBuffer(string: "a message that is longer than a word")
        let before = buffer
        MaskKey.example.apply(to: &buffer, at: 0, count: buffer.readableBytes)
        #expect(buffer != before)
        MaskKey.example.apply(to: &buffer, at: 0, count: buffer.readableBytes)
        #expect(buffer == before)
    }

    @Test func `a key is drawn from the generator`() {
        var one = SeededRandom(seed: 7)
        var same = SeededRandom(seed: 7)
        let first = MaskKey(using: &one)
        #expect(first == MaskKey(using: &same))
        #expect(first != MaskKey(using: &one))
    }
}
