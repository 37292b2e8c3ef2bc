import IdentityTokens
import Testing

@testable import PushServer

@Suite struct `Sessions of another provider's subjects` {
    @Test func `a subject's hash stands for one issuer and one subject`() {
        let pairs = [("", "ab"), ("a", "b"), ("ab", ""), ("1\na", "b"), ("a", "1\nb"), ("b", "a")]
        let hashes = Set(pairs.map { Authenticator.hash(Identity(issuer: $0.0, subject: $0.1, name: nil)) })
        #expect(hashes.count == pairs.count)
        #expect(hashes.allSatisfy { $0.count == 32 })
    }

    @Test(arguments: [
        ("Ana", "Ana"), ("  Ana ", "Ana"), (nil, "Guest"), ("", "Guest"), ("a\u{7}b", "Guest"),
        (String(repeating: "é", count: 50), String(repeating: "é", count: 40)),
        // Cut between characters, never within one.
        (String(repeating: "a", count: 38) + "👩‍👩‍👧‍👦", String(repeating: "a", count: 38)),
        ("Ana\u{202E}", "Ana"), ("\u{3164}", "Guest"), ("فاطمه\u{200C}زهرا", "فاطمه\u{200C}زهرا"),
    ])
    func `a name is what the provider says, as far as it may be one`(claim: String?, name: String) {
        #expect(Authenticator.name(Identity(issuer: "", subject: "s", name: claim)) == name)
    }
}
