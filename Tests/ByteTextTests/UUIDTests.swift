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
}
