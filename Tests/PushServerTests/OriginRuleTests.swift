import InMemoryLogging
import Logging
import NIOCore
import Testing

@testable import PushServer

/// Which pages are the server's own, by the fields of a request.
@Suite struct OriginRuleTests {
    /// A request's fields by their names.
    typealias Fields = [String: [String]]

    private func isOwn(_ fields: Fields, through proxy: Bool = false, isSecure: Bool = false) -> Bool {
        let rule = OriginRule(allowed: [], isSecure: isSecure, isBehindProxy: proxy)
        do throws(ForeignOrigin) {
            try rule.check { fields[$0] ?? [] }
            return true
        } catch {
            return false
        }
    }

    @Test(arguments: [
        ("music.example.org", "https://music.example.org", true),
        ("music.example.org", "http://music.example.org", true),
        ("Music.Example.ORG", "https://music.example.org", true),
        // The port of the scheme is none.
        ("music.example.org:443", "https://music.example.org", true),
        ("music.example.org:80", "http://music.example.org", true),
        ("music.example.org", "https://music.example.org:443", true),
        ("music.example.org:", "https://music.example.org", true),
        ("music.example.org:443", "http://music.example.org", false),
        ("music.example.org:80", "https://music.example.org", false),
        // A proxy drops the port, or puts its own name in.
        ("music.example.org", "https://music.example.org:8443", false),
        ("127.0.0.1:18480", "https://music.example.org", false),
        ("music.example.org:8443", "https://music.example.org:8444", false),
        ("music.example.org", "https://evil.example", false),
        ("music.example.org", "https://music.example.org.evil.example", false),
        // One address in two forms.
        ("[2001:DB8:0:0::1]:8443", "https://[2001:db8::1]:8443", true),
        ("[2001:db8::1]:8443", "https://[2001:db8::2]:8443", false),
        ("music.example.org", "null", false), ("music.example.org", "https://", false),
        ("music.example.org", "https://music.example.org:70000", false),
        ("music.example.org", "https://music.example.org/", false),
        ("music.example.org", "ftp://music.example.org", false), ("", "https://", false),
    ])
    func `a page is the server's own where its origin is the address of the request`(
        host: String, origin: String, expected: Bool
    ) {
        #expect(isOwn(["Host": [host], "Origin": [origin]]) == expected)
    }

    @Test(arguments: [
        ["X-Forwarded-Host": ["music.example.org:8443"]],
        ["X-Forwarded-Host": ["music.example.org"], "X-Forwarded-Port": ["8443"]],
        ["X-Forwarded-Port": ["8443"], "Host": ["music.example.org"]],
        ["X-Forwarded-Port": ["8443"], "Host": ["music.example.org:80"]],
        ["X-Forwarded-Host": ["music.example.org:8443, inner"]],
        ["Forwarded": [#"for=192.0.2.1;host="music.example.org:8443";proto=https, for=10.0.0.1"#]],
        ["Forwarded": [#"For=192.0.2.1; Host="Music.Example.Org:8443""#]],
    ])
    func `a trusted proxy names the address that the browser has asked for`(forwarded: Fields) {
        var fields: Fields = ["Host": ["127.0.0.1:18480"], "Origin": ["https://music.example.org:8443"]]
        fields.merge(forwarded) { $1 }
        #expect(isOwn(fields, through: true))
        #expect(!isOwn(fields))
        fields["Origin"] = ["https://evil.example:8443"]
        #expect(!isOwn(fields, through: true))
    }

    @Test func `what a trusted proxy says of the address is told of a page that is refused`() {
        let fields: Fields = [
            "Host": ["127.0.0.1:18480"], "X-Forwarded-Host": ["music.example.org"], "X-Forwarded-Port": ["80"],
            "Origin": ["https://music.example.org:8443"],
        ]
        for (isBehindProxy, host) in [(false, "127.0.0.1:18480"), (true, "127.0.0.1:18480, music.example.org, 80")] {
            let rule = OriginRule(allowed: [], isSecure: false, isBehindProxy: isBehindProxy)
            #expect(throws: ForeignOrigin(origin: "https://music.example.org:8443", host: host)) {
                try rule.check { fields[$0] ?? [] }
            }
        }
    }

    @Test func `http is no origin of a server that speaks TLS, and a list may name further origins`() throws {
        let fields: Fields = ["Host": ["here:8443"], "Origin": ["http://here:8443"]]
        #expect(isOwn(fields))
        #expect(!isOwn(fields, isSecure: true))
        let listed = try #require(WebOrigin("HTTPS://Elsewhere.example:443"))
        let rule = OriginRule(allowed: [listed], isSecure: true)
        try rule.check { ["Origin": ["https://elsewhere.example"], "Host": ["here"]][$0] ?? [] }
        #expect(throws: ForeignOrigin(origin: "https://elsewhere.example:8443", host: "here")) {
            try rule.check { ["Origin": ["https://elsewhere.example:8443"], "Host": ["here"]][$0] ?? [] }
        }
    }

    @Test func `one request has one origin and one address`() {
        #expect(isOwn(["Host": ["here"]]))
        #expect(!isOwn(["Host": ["here"], "Origin": ["https://here", "https://here"]]))
        #expect(!isOwn(["Host": ["here", "here"], "Origin": ["https://here"]]))
    }

    @Test func `each page that is refused is told once an hour, with both addresses, and sixteen at most`() {
        let log = InMemoryLogHandler()
        let told = ForeignOriginLog(logger: Logger(label: "test") { _ in log }, at: .uptimeNanoseconds(0))
        for minute in 0..<59 {
            let now = NIODeadline.uptimeNanoseconds(0) + .minutes(Int64(minute))
            told.note(ForeignOrigin(origin: "https://music.example.org:8443", host: "music.example.org"), at: now)
        }
        #expect(log.entries.map(\.level) == [.warning])
        #expect(log.entries.first?.metadata["origin"] == "https://music.example.org:8443")
        #expect(log.entries.first?.metadata["host"] == "music.example.org")
        for number in 0..<100 {
            told.note(ForeignOrigin(origin: "https://\(number)", host: "here"), at: .uptimeNanoseconds(1))
        }
        #expect(log.entries.count == 16)
        told.note(ForeignOrigin(origin: "https://0", host: "here"), at: .uptimeNanoseconds(0) + .hours(1))
        #expect(log.entries.count == 17)
    }
}
