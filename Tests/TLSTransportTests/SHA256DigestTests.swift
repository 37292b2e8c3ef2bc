import Testing

@testable import TLSTransport

@Suite struct SHA256DigestTests {
    @Test func `digests are those of FIPS 180-4`() {
        #expect(
            SHA256Digest(hashing: []).hex == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            SHA256Digest(hashing: Array("abc".utf8)).hex
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            SHA256Digest(hashing: Array(repeating: UInt8(ascii: "a"), count: 1_000_000)).hex
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test func `both textual forms are read back`() {
        let digest = SHA256Digest(hashing: Array("abc".utf8))
        #expect(digest.colonHex.hasPrefix("BA:78:16:BF:") && digest.colonHex.count == 95)
        #expect(SHA256Digest(hex: digest.hex) == digest)
        #expect(SHA256Digest(hex: digest.hex.uppercased()) == digest)
        #expect(SHA256Digest(hex: digest.colonHex) == digest)
        #expect(SHA256Digest(bytes: digest.bytes) == digest)
    }

    @Test func `other texts and lengths are not digests`() {
        let hex = SHA256Digest(hashing: []).hex
        for text in ["", "e3", hex.dropLast(2) + "", hex + "00", hex.dropLast() + "g", hex.dropLast() + "é"] {
            #expect(SHA256Digest(hex: text) == nil)
        }
        #expect(SHA256Digest(hex: SHA256Digest(hashing: []).colonHex.replacing(":", with: ";")) == nil)
        #expect(SHA256Digest(bytes: [1, 2, 3]) == nil)
    }
}
