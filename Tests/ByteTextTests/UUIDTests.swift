import ByteText
import Foundation
import RandomTestSupport
import Testing

struct UUIDTests {
    private let id = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255))

    @Test func `halves compare as the texts do`() {
        #expect(id.halves == (0x0001_0203_0405_0607, 0x0809_0A0B_0C0D_0EFF))
        var random = SeededRandom.fresh()
        for _ in 0..<1_000 {
            let ids = (0..<2).map { _ in
                let b = random.bytes(16).map { $0 & 3 }
                return UUID(
                    uuid: (
                        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
                        b[15]
                    ))
            }
            #expect((ids[0].halves < ids[1].halves) == (ids[0].uuidString < ids[1].uuidString))
        }
    }

    @Test func `a text is read in either case, as Foundation reads it`() throws {
        var random = SeededRandom.fresh()
        for _ in 0..<1_000 {
            let id = UUID(
                high: UInt64.random(in: 0 ... .max, using: &random), low: UInt64.random(in: 0 ... .max, using: &random))
            #expect(UUID(uuidString: id.uuidString) == id)
            #expect(UUID(text: id.uuidString) == id)
            #expect(UUID(text: id.uuidString.lowercased()) == id)
        }
        #expect(UUID(text: "00010203-0405-0607-0809-0a0B0C0D0EFf") == UUID(high: id.halves.high, low: id.halves.low))
    }

    @Test(arguments: [
        "", "-", "00010203-0405-0607-0809-0a0b0c0d0ef", "00010203-0405-0607-0809-0a0b0c0d0eff0",
        "00010203-0405-0607-0809-0a0b0c0d0efg", "000102030-405-0607-0809-0a0b0c0d0eff",
        "00010203-0405-0607-080900a0b0c0d0eff", "-0010203-0405-0607-0809-0a0b0c0d0eff",
        " 0010203-0405-0607-0809-0a0b0c0d0eff", "+1010203-0405-0607-0809-0a0b0c0d0eff",
        "000102030405060708090a0b0c0d0eff", "{0010203-0405-0607-0809-0a0b0c0d0ef}",
        "00010203-0405-0607-0809-0a0b0c0d0eé",
    ])
    func `any other text is no UUID`(text: String) {
        #expect(UUID(text: text) == nil)
    }
}
