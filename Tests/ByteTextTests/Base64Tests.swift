import ByteText
import RandomTestSupport
import Testing

struct Base64Tests {
    /// RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `the RFC's examples go both ways`(_ plain: String, _ encoded: String) {
        #expect(Base64.standard.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.standard.decode(encoded.utf8) == Array(plain.utf8))
    }

    @Test func `every character of the alphabet is read back`() {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        let bytes = Base64.standard.decode(alphabet.utf8)
        #expect(bytes?.count == 48)
        #expect(bytes.map(Base64.standard.encode) == alphabet)
    }

    @Test(arguments: ["A", "AB", "ABC", "A===", "====", "AB==AB==", "AB=C", "AB C", "AB-_", "AB\n=", "Zm9vYg"])
    func `what is not Base64 is refused`(_ text: String) {
        #expect(Base64.standard.decode(text.utf8) == nil)
    }

    private static let urls: [(String, [UInt8]?)] = [
        ("", []), ("Zg", [0x66]), ("Zm8", [0x66, 0x6F]), ("Zm9v", [0x66, 0x6F, 0x6F]), ("-_-_", [0xFB, 0xFF, 0xBF]),
        ("Z", nil), ("Zg==", nil), ("+/+/", nil), ("Zm9\n", nil), ("Zm9vY", nil),
    ]

    @Test(arguments: urls)
    func `the URL alphabet has no padding`(text: String, bytes: [UInt8]?) {
        #expect(Base64.url.decode(text.utf8) == bytes)
        if let bytes { #expect(Base64.url.encode(bytes) == text) }
    }

    @Test(arguments: TestSeed.several())
    func `random bytes survive`(_ seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        for length in 0..<100 {
            let bytes = generator.bytes(length)
            for base64 in [Base64.standard, .url] {
                #expect(base64.decode(base64.encode(bytes).utf8) == bytes, "seed \(seed), length \(length)")
            }
        }
    }
}
