import Testing
import WebSocketCodec

struct Base64Tests {
    /// RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `the RFC's examples go both ways`(_ plain: String, _ encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
    }

    @Test func `every character of the alphabet is read back`() {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        let bytes = Base64.decode(alphabet)
        #expect(bytes?.count == 48)
        #expect(bytes.map(Base64.encode) == alphabet)
    }

    @Test(arguments: ["A", "AB", "ABC", "A===", "====", "AB==AB==", "AB=C", "AB C", "AB-_", "AB\n=", "Zm9vYg"])
    func `what is not Base64 is refused`(_ text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test(arguments: SeededGenerator.seeds())
    func `random bytes survive`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for length in 0..<100 {
            let bytes = generator.bytes(length)
            #expect(Base64.decode(Base64.encode(bytes)) == bytes, "seed \(seed), length \(length)")
        }
    }
}
