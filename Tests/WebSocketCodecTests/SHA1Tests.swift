import Testing
import WebSocketCodec

struct SHA1Tests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// FIPS 180-1, appendices A to C, and the empty message.
    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        ),
    ])
    func `published vectors are met`(_ message: String, _ hash: String) {
        #expect(hex(SHA1.hash(Array(message.utf8))) == hash)
    }

    @Test func `a message of a thousand blocks and more is hashed`() {
        let message = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
        #expect(hex(SHA1.hash(message)) == "c4d4b30851182fc4eb8675494d42fd7f17e29c93")
    }

    /// Computed with another implementation: lengths around the padding's change from one block to two.
    @Test(arguments: [
        (54, "b05d71c64979cb95fa74a33cdb31a40d258ae02e"),
        (55, "c1c8bbdc22796e28c0e15163d20899b65621d65a"),
        (56, "c2db330f6083854c99d4b5bfb6e8f29f201be699"),
        (57, "f08f24908d682555111be7ff6f004e78283d989a"),
        (63, "03f09f5b158a7a8cdad920bddc29b81c18a551f5"),
        (64, "0098ba824b5c16427bd7a1122a5a442a25ec644d"),
        (65, "11655326c708d70319be2610e8a57d9a5b959d3b"),
        (119, "ee971065aaa017e0632a8ca6c77bb3bf8b1dfc56"),
        (120, "f34c1488385346a55709ba056ddd08280dd4c6d6"),
        (128, "ad5b3fdbcb526778c2839d2f151ea753995e26a0"),
    ])
    func `every length around a block is padded right`(_ length: Int, _ hash: String) {
        #expect(hex(SHA1.hash([UInt8](repeating: 0x61, count: length))) == hash)
    }
}
