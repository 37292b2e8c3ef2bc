import Foundation
import RandomTestSupport
import Testing

@testable import TLSTransport

/// The keys and the message of RFC 7515 (appendices A.2 and A.3), and a secret.
private enum Example {
    static let message = Array("eyJhbGciOiJFUzI1NiJ9.\(claims)".utf8)
    static let signature = decoded(
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
    static let secret = SignatureKey(secret: Array(0..<32))
    static let elliptic = SignatureKey(x: x, y: y)
    static let rsa = SignatureKey(modulus: modulus, exponent: [1, 0, 1])
    static let x = decoded("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
    static let y = decoded("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
    static let modulus = decoded(
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pC"
            + "gNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2Ca"
            + "pHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9g"
            + "b54h4FRWyuXpoQ")

    private static let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    private static func decoded(_ text: String) -> [UInt8] {
        let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Array(Data(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding) ?? Data())
    }
}

/// What a call of OpenSSL leaves in its thread's queue would end a connection of this thread that is well.
@Suite struct SignatureKeyTests {
    @Test func `no signature by chance is right, and none leaves an error behind`() throws {
        let keys = [Example.secret, try #require(Example.elliptic), try #require(Example.rsa)]
        let seed = TestSeed.fresh()
        var random = SeededRandom(seed: seed)
        #expect(keys[1].verifies(Example.signature, of: Example.message))
        for count in 0...600 {
            var signature = random.bytes(count)
            // What OpenSSL is given for a point on a curve is a sequence; some begin as one.
            if random.once(in: 4) { signature.replaceSubrange(..<min(2, count), with: [0x30, 0x44].prefix(count)) }
            for key in keys {
                #expect(!key.verifies(signature, of: Example.message), "\(key.algorithm), seed \(seed)")
                #expect(OpenSSLError.takeLast().code == 0, "\(key.algorithm), seed \(seed)")
            }
        }
    }

    @Test func `each changed bit of a signature makes it wrong, and no number is taken from beyond it`() throws {
        let key = try #require(Example.elliptic)
        for bit in 0..<8 * Example.signature.count {
            var changed = Example.signature
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(!key.verifies(changed, of: Example.message))
        }
        for zeros in 1...3 {
            let padding = [UInt8](repeating: 0, count: zeros)
            #expect(!key.verifies(padding + Example.signature, of: Example.message))
            #expect(!key.verifies(Example.signature + padding, of: Example.message))
        }
        // Numbers that OpenSSL refuses for their value: none, and one that is larger than the curve's order.
        for number in [UInt8.min, .max] {
            #expect(!key.verifies(Array(repeating: number, count: 64), of: Example.message))
        }
        #expect(OpenSSLError.takeLast().code == 0)
    }

    @Test func `what is no key leaves no error behind`() {
        let texts = ["", "-----BEGIN PUBLIC KEY-----\n?\n-----END PUBLIC KEY-----\n"]
        let makers: [() -> SignatureKey?] = [
            { SignatureKey(p256PEM: Array(texts[0].utf8)) }, { SignatureKey(p256PEM: Array(texts[1].utf8)) },
            { SignatureKey(x: Example.x, y: Example.x) }, { SignatureKey(x: Example.x, y: []) },
            { SignatureKey(modulus: [], exponent: []) }, { SignatureKey(modulus: Example.modulus, exponent: [2]) },
            { SignatureKey(modulus: Array(Example.modulus.prefix(128)), exponent: [1, 0, 1]) },
        ]
        for (place, make) in makers.enumerated() {
            #expect(make() == nil, "\(place)")
            #expect(OpenSSLError.takeLast().code == 0, "\(place)")
        }
    }
}
