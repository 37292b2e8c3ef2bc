import RandomTestSupport
import RoomDomain
import Testing

@Suite struct WebAddressRuleTests {
    private static func accepted(_ text: String) -> String? { WebAddressRule.accepted(text, length: 1...2_048) }

    @Test(arguments: [
        "https://example.org", "http://example.org/a.png", "HTTPS://Example.ORG/ä?x=1#y", "https://[::1]:8080/a",
        "https://user:word@example.org:443/", "https://127.0.0.1:/a", "http://例え.jp/絵.png", "https://a?//b",
    ])
    func `absolute addresses of the web are accepted as they are`(text: String) {
        #expect(Self.accepted(text) == text)
        #expect(Self.accepted(" \(text)\n") == text)
    }

    @Test(arguments: [
        "", "javascript:alert(1)", "JavaScript://example.org/%0aalert(1)", "data:image/png;base64,AAAA",
        "file:///etc/passwd", "ftp://example.org/a", "blob:https://example.org/1", "//example.org/a", "/a.png", "a.png",
        "https:", "https:/", "https://", "https:///a", "https:example.org", "https://?a", "https://#a", "https://:80/",
        "https://user@/a", "https://[]/", "https://[::1/", "https://[::1]x/", "https://a:b/", "https://a:8x/",
        "https://exa mple.org/", "https://example.org/a b", "https://example.org/a\u{A0}b", "https://example.org\\@b/",
        "https:\\\\example.org", "ht\ntps://example.org", "https://example.org/\u{1}", "https://example.org/a\u{7F}",
        "httpſ://example.org", "https\u{200B}://example.org", " https ://example.org",
    ])
    func `everything else is refused`(text: String) {
        #expect(Self.accepted(text) == nil)
    }

    @Test func `the length counts scalars`() {
        let start = "https://a/"
        #expect(Self.accepted(start + String(repeating: "é", count: 2_048 - start.count)) != nil)
        #expect(Self.accepted(start + String(repeating: "é", count: 2_049 - start.count)) == nil)
    }

    @Test func `every accepted address begins with http or https and has a host`() {
        let seed = TestSeed.fixed(27)
        print("random addresses, seed \(seed)")
        var random = SeededRandom(seed: seed)
        let parts = [
            "http", "https", "HTTPS", ":", "/", "//", "://", "@", "a", "[", "]", "?", "#", " ", "\\", "8", "é", "\t",
        ]
        var count = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...7, using: &random)).map { _ in random.pick(parts, or: "a") }.joined()
            guard let address = Self.accepted(text) else { continue }
            count += 1
            let lowered = address.lowercased()
            let rest = lowered.hasPrefix("http://") ? lowered.dropFirst(7) : lowered.dropFirst(8)
            #expect(lowered.hasPrefix("http://") || lowered.hasPrefix("https://"))
            #expect(rest.first.map { !"/?#:\\".contains($0) } == true, "\(address)")
            #expect(!address.contains { $0.isWhitespace || $0 == "\\" })
        }
        #expect(count > 10)
    }
}
