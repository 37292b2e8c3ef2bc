import ByteText
import Testing

struct ASCIITests {
    @Test func `only ASCII letters are lower-cased`() {
        for byte in UInt8.min ... .max {
            let isCapital = byte >= 0x41 && byte <= 0x5A
            #expect(byte.asciiLowercased == (isCapital ? byte + 32 : byte))
        }
        #expect("AbZ[@ÄΣ İ".asciiLowercased == "abz[@ÄΣ İ")
    }
}
