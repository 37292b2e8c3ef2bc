@_spi(_Unicode) import Swift
import Synchronization
import Testing

@testable import RoomDomain

@Suite struct TitleKeyTests {
    /// The key that the protocol defines, computed with the standard library only.
    private static func reference(_ title: String) -> [UInt8] {
        title._nfc.flatMap { Array($0.properties.lowercaseMapping.utf8) }
    }

    /// Every scalar, but only a few ideographs and syllables.
    private static var scalars: some Sequence<Unicode.Scalar> {
        (UInt32(0)..<0x1_F000).lazy.filter { value in
            switch value {
            case 0x3400..<0xD700, 0x1_1000..<0x1_D000: value.isMultiple(of: 97) || value & 0xFFF < 16
            default: true
            }
        }.compactMap(Unicode.Scalar.init)
    }

    @Test func `short cuts give the same keys as normalization and lower case`() {
        for scalar in Self.scalars {
            // Alone, after scalars with which it might combine, and before them.
            let title = "\(scalar)e\(scalar)\u{301}И\(scalar)\u{306}か\(scalar)\u{3099}"
            #expect(TitleKey(title).bytes == Self.reference(title), "U+\(String(scalar.value, radix: 16))")
            let plain = "Éx\(scalar)Иか漢각"
            #expect(TitleKey(plain).bytes == Self.reference(plain), "U+\(String(scalar.value, radix: 16))")
        }
    }

    @Test func `the key of a track is made once, for all copies`() {
        let shared = SharedTrackInfo(TrackInfo(source: "s", sourceID: "1", title: "T", artist: "A", album: "B"))
        #expect(shared.sorting.load() == nil)
        #expect(shared.titleKey.bytes == [0x74])
        let kept = shared.sorting.load()
        #expect(kept != nil && shared.titleKey.bytes == [0x74] && shared.sorting.load() === kept)
        #expect(shared.searching.load() == nil)
    }
}
