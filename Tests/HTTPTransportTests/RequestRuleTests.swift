import HTTPTransport
import NIOHTTP1
import Testing
import WebSocketCodec

/// Heads that are accepted and heads that are refused.
struct RequestRuleTests {
    private func checked(
        _ uri: String, _ method: HTTPMethod = .GET, _ version: HTTPVersion = .http1_1, hosts: [String] = ["here"],
        _ more: HTTPHeaders = [:]
    ) throws(HTTPViolation) -> HTTPRequestHead {
        var head = HTTPRequestHead(version: version, method: method, uri: uri, headers: more)
        for host in hosts { head.headers.add(name: "Host", value: host) }
        try RequestRule.check(&head)
        return head
    }

    @Test(arguments: ["here", "a.b:80", "127.0.0.1:", "[::1]", "[2001:DB8::1]:65535", "a%2Db", "_a-b~"])
    func `a host is a name or an address, with a port or without`(_ host: String) {
        #expect(RequestRule.isHost(host))
        #expect(throws: Never.self) { try checked("/", hosts: [host]) }
    }

    @Test(arguments: [
        "", " ", "a b", "a/b", "a@b", ":80", "a:b", "a:123456", "[::1", "[]", "[g]", "[::1]x", "a%2", "a%zz", "ä",
    ])
    func `any other text is not a host`(_ host: String) {
        #expect(!RequestRule.isHost(host))
        #expect(throws: HTTPViolation.badHost) { try checked("/", hosts: [host]) }
    }

    @Test func `over HTTP 1.1 there is one host, over 1.0 at most one`() throws {
        #expect(throws: HTTPViolation.badHost) { try checked("/", hosts: []) }
        #expect(throws: HTTPViolation.badHost) { try checked("/", hosts: ["a", "a"]) }
        #expect(throws: Never.self) { try checked("/", .GET, .http1_0, hosts: []) }
        #expect(throws: HTTPViolation.badHost) { try checked("/", .GET, .http1_0, hosts: ["a", "b"]) }
    }

    @Test func `an absolute target becomes a path, its host the field`() throws {
        for (uri, path, host) in [
            ("http://there/x?y", "/x?y", "there"), ("HTTPS://[::1]:1", "/", "[::1]:1"), ("http://a?q", "/?q", "a"),
            ("http://there//x", "//x", "there"),
        ] {
            let head = try checked(uri)
            #expect(head.uri == path)
            #expect(head.headers["Host"] == [host])
        }
    }

    @Test(arguments: ["", "x", "*", "http://", "http:///x", "ftp://a/x", "http://u@a/x", "/x#y", "here:80"])
    func `other targets are refused`(_ uri: String) {
        #expect(throws: HTTPViolation.badTarget) { try checked(uri) }
    }

    @Test func `HTTP 1.0 has no transfer encoding, and other versions are refused`() {
        #expect(throws: HTTPViolation.transferEncodingInHTTP10) {
            try checked("/", .POST, .http1_0, ["Transfer-Encoding": "chunked"])
        }
        #expect(throws: HTTPViolation.unsupportedVersion) { try checked("/", .GET, .http2) }
        #expect(throws: HTTPViolation.badTarget) { try checked("here:80", .CONNECT) }
        #expect(throws: Never.self) { try checked("*", .OPTIONS) }
    }

    @Test(arguments: [
        ("plain", "plain"), ("behind \t ", "behind"), ("", ""), (" \t", ""), ("a b", "a b"),
        // A scalar that joins what follows it into one character.
        ("joined\u{600} ", "joined\u{600}"),
    ])
    func `white space behind a value is no part of it`(_ value: String, _ taken: String) throws {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
        head.headers.add(name: "X", value: value)
        let read = try #require(RequestHead(head))
        #expect(read.fields.values(of: "x").map { Array($0.utf8) } == [Array(taken.utf8)])
    }
}
