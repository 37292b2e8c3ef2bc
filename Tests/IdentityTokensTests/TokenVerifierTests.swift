import Testing

@testable import IdentityTokens

/// The examples of RFC 7515, appendix A.1 (HS256), A.2 (RS256) and A.3 (ES256), whose claims have no subject.
private enum Example {
    static let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    static let hs256 = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(claims).dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let rs256 =
        "eyJhbGciOiJSUzI1NiJ9.\(claims)."
        + "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CU"
        + "Ar7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_d"
        + "O--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0ig"
        + "cN_IoypGlUPQGe77Rw"
    static let es256 =
        "eyJhbGciOiJFUzI1NiJ9.\(claims)."
        + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    static let keySet = """
        {"keys":[
            {"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"},
            {"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
             "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"},
            {"kty":"RSA","n":"\(modulus)","e":"AQAB"}]}
        """
    static let modulus =
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pC"
        + "gNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2Ca"
        + "pHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9g"
        + "b54h4FRWyuXpoQ"
    /// The expiry of its claims, in milliseconds.
    static let expiry = 1_300_819_380_000.0

    static func verifier(issuer: String? = nil, audience: String? = nil) throws -> TokenVerifier {
        TokenVerifier(keys: try TokenKey.keySet(json: Array(keySet.utf8)), issuer: issuer, audience: audience)
    }
}

@Suite struct `JSON Web Tokens` {
    @Test(arguments: [Example.hs256, Example.es256, Example.rs256])
    func `the signatures of the RFC's examples are right`(token: String) throws {
        let verifier = try Example.verifier(issuer: "joe")
        #expect(throws: TokenViolation.noSubject) { try verifier.identity(of: token, at: Example.expiry - 1) }
    }

    @Test(arguments: [Example.hs256, Example.es256, Example.rs256])
    func `a token with one changed bit in any part is refused`(token: String) throws {
        let verifier = try Example.verifier()
        let bytes = Array(token.utf8)
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            let text = String(decoding: changed, as: UTF8.self)
            let violation = #expect(throws: TokenViolation.self) {
                try verifier.identity(of: text, at: Example.expiry - 1)
            }
            // The last character of a part may have unused bits.
            let isLast = index == bytes.count - 1
            #expect(violation != .noSubject || isLast, "byte \(index)")
        }
    }

    @Test func `a token is expired after its time and the leeway`() throws {
        let verifier = try Example.verifier()
        #expect(throws: TokenViolation.noSubject) {
            try verifier.identity(of: Example.es256, at: Example.expiry + 4_999)
        }
        #expect(throws: TokenViolation.expired) { try verifier.identity(of: Example.es256, at: Example.expiry + 5_000) }
    }

    @Test func `issuer and audience are asked for where they are configured`() throws {
        let now = Example.expiry - 1
        let issuer = try Example.verifier(issuer: "ana")
        #expect(throws: TokenViolation.wrongIssuer) { try issuer.identity(of: Example.es256, at: now) }
        let audience = try Example.verifier(audience: "rooms")
        #expect(throws: TokenViolation.wrongAudience) { try audience.identity(of: Example.es256, at: now) }
    }

    @Test func `the header does not choose how a key is used`() throws {
        let secret = try TokenVerifier(keys: [.secret(Array(repeating: 7, count: 32))])
        #expect(throws: TokenViolation.unknownKey) { try secret.identity(of: Example.es256, at: 0) }
        #expect(throws: TokenViolation.wrongSignature) { try secret.identity(of: Example.hs256, at: 0) }
    }

    @Test(arguments: ["", ".", "..", "...", "e30.e30.", "e30.e30.e30", "a.b.c", "====.e30.e30", "W10.e30.e30"])
    func `a text that is not a token is refused`(token: String) throws {
        let verifier = try Example.verifier()
        #expect(throws: TokenViolation.malformed) { try verifier.identity(of: token, at: 0) }
    }

    @Test func `a token that is too long is not parsed`() throws {
        let verifier = try Example.verifier()
        #expect(throws: TokenViolation.tooLong) {
            try verifier.identity(of: Example.es256 + String(repeating: "A", count: 8_192), at: 0)
        }
    }

    /// The key of the RFC's example, as it is and with its point compressed.
    @Test(arguments: [
        """
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
        6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
        """,
        """
        MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgADf83OJ3D2xF1Bg8vub9tLe1gHMzV7
        6e8Tus9uPHvRVEU=
        """,
    ])
    func `a key in PEM format verifies tokens`(base64: String) throws {
        let verifier = try TokenVerifier(keys: [.publicKey(pem: Self.pem(base64))])
        #expect(throws: TokenViolation.noSubject) { try verifier.identity(of: Example.es256, at: 0) }
        #expect(throws: TokenViolation.unknownKey) { try verifier.identity(of: Example.hs256, at: 0) }
    }

    /// One on P-384, one that is cut, and one that is no PEM.
    @Test(arguments: [
        """
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEld5KHS3qQ3+ahr6KYKmSprdsT1h42YzQ
        kSF4pRySFNkGir9wvK+i/AHPOYFJwX1iU3iK39gEo3tJ7PJ3Hz7GhAqa1PSLdRM7
        xR42MRbm17XzScFhdI6oFKebOPJ6o4Dj
        """,
        "MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgADf83OJ3D2xF1Bg8vub9tLe1gHMzV7", "?",
    ])
    func `what is no public key on P-256 is refused`(base64: String) {
        #expect(throws: TokenKey.Fault.noPublicKey) { try TokenKey.publicKey(pem: Self.pem(base64)) }
    }

    private static func pem(_ base64: String) -> [UInt8] {
        Array("-----BEGIN PUBLIC KEY-----\n\(base64)\n-----END PUBLIC KEY-----\n".utf8)
    }

    /// A point beside the curve, one with a coordinate that is too short, a modulus of 1,024 bits, an even one, an even
    /// exponent, a short secret, another curve, another algorithm, another use, and nothing at all.
    @Test(arguments: [
        #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"}"#,
        #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVE","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
        #"{"kty":"RSA","n":"peokjT8BUQ45tFgfHSj1DB2oxl0LUG0nqyn_kxL551SncKmykn7WqR9OwiyubdAKV_ovdsS5eO2QKshKFD3UMVtAUYjU60hfp8YpWEwhREK7RGiNeJLrRTIgWFek32UgAiANpGoL4_0EbrncnilWN5IEgOi1j3sR83_jij2Kp1M","e":"AQAB"}"#,
        #"{"kty":"RSA","n":"\#(Example.modulus.dropLast())g","e":"AQAB"}"#,
        #"{"kty":"RSA","n":"\#(Example.modulus)","e":"AQAA"}"#,
        #"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ"}"#,
        #"{"kty":"EC","crv":"P-384","x":"AQ","y":"AQ"}"#,
        #"{"kty":"RSA","alg":"RS512","n":"\#(Example.modulus)","e":"AQAB"}"#,
        #"{"kty":"RSA","use":"enc","n":"\#(Example.modulus)","e":"AQAB"}"#,
        "{}", "[]",
    ])
    func `a key that cannot be used is left out of a set`(key: String) throws {
        #expect(throws: TokenKey.Fault.noUsableKey) { try TokenKey.keySet(json: Array("{\"keys\":[\(key)]}".utf8)) }
        let good = #"{"kty":"RSA","kid":"r","n":"\#(Example.modulus)","e":"AQAB"}"#
        let keys = try TokenKey.keySet(json: Array("{\"keys\":[\(key),\(good)]}".utf8))
        #expect(keys.map(\.algorithm) == ["RS256"])
    }

    @Test func `a secret that is too short is refused`() {
        #expect(throws: TokenKey.Fault.shortSecret(31)) {
            try TokenKey.secret(Array(repeating: 0, count: 31))
        }
    }
}
