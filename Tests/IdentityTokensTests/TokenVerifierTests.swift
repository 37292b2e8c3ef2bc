import Testing

@testable import IdentityTokens

/// The examples of RFC 7515, appendix A.1 (HS256) and A.3 (ES256), whose claims have no subject.
private enum Example {
    static let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    static let hs256 = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(claims).dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    static let es256 =
        "eyJhbGciOiJFUzI1NiJ9.\(claims)."
        + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    static let keySet = """
        {"keys":[
            {"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"},
            {"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
             "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]}
        """
    /// The expiry of its claims, in milliseconds.
    static let expiry = 1_300_819_380_000.0

    static func verifier(issuer: String? = nil, audience: String? = nil) async throws -> TokenVerifier {
        TokenVerifier(keys: try await TokenKey.keySet(json: Array(keySet.utf8)), issuer: issuer, audience: audience)
    }
}

@Suite struct `JSON Web Tokens` {
    @Test(arguments: [Example.hs256, Example.es256])
    func `the signatures of the RFC's examples are right`(token: String) async throws {
        let verifier = try await Example.verifier(issuer: "joe")
        #expect(throws: TokenViolation.noSubject) { try verifier.identity(of: token, at: Example.expiry - 1) }
    }

    @Test(arguments: [Example.hs256, Example.es256])
    func `a token with one changed bit in any part is refused`(token: String) async throws {
        let verifier = try await Example.verifier()
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

    @Test func `a token is expired after its time and the leeway`() async throws {
        let verifier = try await Example.verifier()
        #expect(throws: TokenViolation.noSubject) {
            try verifier.identity(of: Example.es256, at: Example.expiry + 4_999)
        }
        #expect(throws: TokenViolation.expired) { try verifier.identity(of: Example.es256, at: Example.expiry + 5_000) }
    }

    @Test func `issuer and audience are asked for where they are configured`() async throws {
        let now = Example.expiry - 1
        let issuer = try await Example.verifier(issuer: "ana")
        #expect(throws: TokenViolation.wrongIssuer) { try issuer.identity(of: Example.es256, at: now) }
        let audience = try await Example.verifier(audience: "rooms")
        #expect(throws: TokenViolation.wrongAudience) { try audience.identity(of: Example.es256, at: now) }
    }

    @Test func `the header does not choose how a key is used`() async throws {
        let secret = try await TokenVerifier(keys: [.secret(Array(repeating: 7, count: 32))])
        #expect(throws: TokenViolation.unknownKey) { try secret.identity(of: Example.es256, at: 0) }
        #expect(throws: TokenViolation.wrongSignature) { try secret.identity(of: Example.hs256, at: 0) }
    }

    @Test(arguments: ["", ".", "..", "...", "e30.e30.", "e30.e30.e30", "a.b.c", "====.e30.e30", "W10.e30.e30"])
    func `a text that is not a token is refused`(token: String) async throws {
        let verifier = try await Example.verifier()
        #expect(throws: TokenViolation.malformed) { try verifier.identity(of: token, at: 0) }
    }

    @Test func `a token that is too long is not parsed`() async throws {
        let verifier = try await Example.verifier()
        #expect(throws: TokenViolation.tooLong) {
            try verifier.identity(of: Example.es256 + String(repeating: "A", count: 8_192), at: 0)
        }
    }

    @Test func `a secret that is too short is refused`() async {
        await #expect(throws: TokenKey.Fault.shortSecret(31)) {
            try await TokenKey.secret(Array(repeating: 0, count: 31))
        }
    }
}
