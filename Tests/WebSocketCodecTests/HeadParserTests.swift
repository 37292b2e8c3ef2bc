import NIOCore
import RandomTestSupport
import Testing
import WebSocketCodec

struct HeadParserTests {
    /// A parser's result for a request that arrives in pieces, and the bytes left after it.
    private func parse(
        _ pieces: [[UInt8]], maximumHeadLength: Int = HeadParser.defaultMaximumHeadLength,
        maximumFieldCount: Int = HeadParser.defaultMaximumFieldCount
    ) -> (Result<RequestHead?, HandshakeViolation>, rest: ByteBuffer) {
        var parser = HeadParser(maximumHeadLength: maximumHeadLength, maximumFieldCount: maximumFieldCount)
        var bytes = ByteBuffer()
        var head: RequestHead?
        for piece in pieces {
            bytes.writeBytes(piece)
            let before = bytes
            guard head == nil else { continue }
            do throws(HandshakeViolation) {
                head = try parser.parseRequest(&bytes)
            } catch {
                return (.failure(error), bytes)
            }
            if head == nil { #expect(bytes == before) }
        }
        return (.success(head), bytes)
    }

    private func parse(_ text: String) -> Result<RequestHead?, HandshakeViolation> {
        parse([Array(text.utf8)]).0
    }

    private static let request =
        "GET /a%20b?x=1?2 HTTP/1.1\r\nHost: example.org\r\nUPGRADE: h2c, WebSocket\r\nx-empty:\r\n"
        + "X-List: a ,, b\r\nx-list:\tc \r\nX-Text: größer \t x\t\r\n\r\n"

    @Test func `a request is read`() throws {
        let head = try #require(try parse(Self.request).get())
        #expect(head.method == "GET")
        #expect(head.target == "/a%20b?x=1?2")
        #expect(head.path == "/a%20b")
        #expect(head.query == "x=1?2")
        #expect(head.isHTTP11)
        #expect(head.asksForWebSocket)
        #expect(head.fields.all.map(\.name) == ["Host", "UPGRADE", "x-empty", "X-List", "x-list", "X-Text"])
        #expect(head.fields["host"] == "example.org")
        #expect(head.fields["X-Empty"]?.isEmpty == true)
        #expect(head.fields["missing"] == nil)
        #expect(head.fields.values(of: "x-LIST") == ["a ,, b", "c"])
        #expect(head.fields.elements(of: "x-list") == ["a", "b", "c"])
        #expect(head.fields.onlyValue(of: "x-list") == nil)
        #expect(head.fields.onlyValue(of: "HOST") == "example.org")
        #expect(head.fields["x-text"] == "größer \t x")
    }

    @Test func `a request cut anywhere is read the same, and what follows is left`() {
        let bytes = Array(Self.request.utf8)
        let (expected, rest) = parse([bytes + [1, 2, 3]])
        #expect(rest == ByteBuffer(bytes: [1, 2, 3]))
        for cut in bytes.cuts { #expect(parse(cut).0 == expected) }
        // RFC 9112 §2.2: an empty line before a request is ignored.
        for cut in (Array("\r\n".utf8) + bytes).cuts { #expect(parse(cut).0 == expected) }
        let (single, nothing) = parse(bytes.singleBytes)
        #expect(single == expected)
        #expect(nothing.readableBytes == 0)
    }

    @Test(
        arguments: [
            ("/", "/", nil), ("/?", "/", ""), ("http://example.org/a?b", "/a", "b"), ("HTTPS://example.org", "", nil),
            ("*", "", nil), ("example.org:443", "", nil), ("//a/b", "//a/b", nil),
        ] as [(String, String, String?)])
    func `a target is taken apart`(_ target: String, _ path: String, _ query: String?) throws {
        let head = try #require(try parse("GET \(target) HTTP/1.1\r\n\r\n").get())
        #expect(head.path == path[...])
        #expect(head.query == query?[...])
    }

    @Test func `HTTP 1.0 and requests without fields are read`() throws {
        let head = try #require(try parse("GET / HTTP/1.0\r\n\r\n").get())
        #expect(!head.isHTTP11)
        #expect(!head.asksForWebSocket)
        #expect(head.fields.all.isEmpty)
    }

    @Test(
        arguments: [
            ("\r\n\r\nGET / HTTP/1.1\r\n\r\n", .malformedStartLine), ("GET /\r\n\r\n", .malformedStartLine),
            ("GET  / HTTP/1.1\r\n\r\n", .malformedStartLine), ("GET / HTTP/1.1 \r\n\r\n", .malformedStartLine),
            (" GET / HTTP/1.1\r\n\r\n", .malformedStartLine), ("G(T / HTTP/1.1\r\n\r\n", .malformedStartLine),
            ("GET /ü HTTP/1.1\r\n\r\n", .malformedStartLine), ("GET / a HTTP/1.1\r\n\r\n", .malformedStartLine),
            ("GET\t/\tHTTP/1.1\r\n\r\n", .malformedStartLine), ("GET / http/1.1\r\n\r\n", .malformedStartLine),
            ("GET / HTTP/1.1.1\r\n\r\n", .malformedStartLine), ("GET / HTTP/11\r\n\r\n", .malformedStartLine),
            ("GET / HTTP/2.0\r\n\r\n", .unsupportedHTTPVersion), ("GET / HTTP/1.2\r\n\r\n", .unsupportedHTTPVersion),
            ("GET / HTTP/1.1\r\nHost\r\n\r\n", .malformedField), ("GET / HTTP/1.1\r\n: x\r\n\r\n", .malformedField),
            ("GET / HTTP/1.1\r\nHost : x\r\n\r\n", .malformedField),
            ("GET / HTTP/1.1\r\nHöst: x\r\n\r\n", .malformedField),
            ("GET / HTTP/1.1\r\nHost: x\r\n y\r\n\r\n", .malformedField),
            ("GET / HTTP/1.1\r\nHost: x\r\n\ty: z\r\n\r\n", .malformedField),
            ("GET / HTTP/1.1\r\n Host: x\r\n\r\n", .malformedField),
            ("GET / HTTP/1.1\nHost: x\r\n\r\n", .forbiddenByte(10)),
            ("GET / HTTP/1.1\r\nHost: x\n", .forbiddenByte(10)),
            ("GET / HTTP/1.1\r\n\n", .forbiddenByte(10)), ("GET / HTTP/1.1\r\nHost: x\ry", .forbiddenByte(13)),
            ("GET / HTTP/1.1\r\r\n", .forbiddenByte(13)), ("GET / HTTP/1.1\r\nHost: x\r\n\ra", .forbiddenByte(13)),
            ("GET / HTTP/1.1\r\nHost: x\0y", .forbiddenByte(0)),
            ("GET / HTTP/1.1\r\nHost: x\u{7F}", .forbiddenByte(127)),
            ("\u{16}\u{3}\u{1}", .forbiddenByte(0x16)),
        ] as [(String, HandshakeViolation)])
    func `a malformed head is refused however it is cut`(_ text: String, _ violation: HandshakeViolation) {
        let bytes = Array(text.utf8)
        #expect(parse([bytes]).0 == .failure(violation))
        #expect(parse(bytes.singleBytes).0 == .failure(violation))
        for cut in bytes.cuts { #expect(parse(cut).0 == .failure(violation)) }
    }

    @Test func `a head up to the limits is read, one above is refused`() {
        let text = "GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\n\r\n"
        let bytes = Array(text.utf8)
        #expect(throws: Never.self) {
            try #require(try parse([bytes], maximumHeadLength: bytes.count, maximumFieldCount: 2).0.get())
        }
        for pieces in [[bytes], bytes.singleBytes] {
            #expect(
                parse(pieces, maximumHeadLength: bytes.count - 1).0
                    == .failure(.headTooLarge(limit: bytes.count - 1)))
            #expect(parse(pieces, maximumFieldCount: 1).0 == .failure(.tooManyFields(limit: 1)))
        }
    }

    @Test func `an endless head is refused at the default limits`() {
        let line = [UInt8](repeating: UInt8(ascii: "a"), count: 20_000)
        #expect(parse([line]).0 == .failure(.headTooLarge(limit: 16_384)))
        #expect(parse(line.singleBytes).0 == .failure(.headTooLarge(limit: 16_384)))
        let fields = String(repeating: "a:\r\n", count: 101)
        #expect(parse("GET / HTTP/1.1\r\n" + fields) == .failure(.tooManyFields(limit: 100)))
        let most = String(repeating: "a:\r\n", count: 100)
        #expect(throws: Never.self) { try #require(try parse("GET / HTTP/1.1\r\n" + most + "\r\n").get()) }
    }

    @Test func `a copy is parsed without touching the original`() throws {
        let original = ByteBuffer(string: Self.request)
        var bytes = original
        var parser = HeadParser()
        let head = try parser.parseRequest(&bytes)
        #expect(head != nil)
        #expect(bytes.readableBytes == 0)
        #expect(original == ByteBuffer(string: Self.request))
    }

    @Test(arguments: TestSeed.several())
    func `damaged requests are read or refused, the same way however they are cut`(_ seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var refused = 0
        for _ in 0..<500 {
            var bytes = Array(Self.request.utf8)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                if let place = bytes.indices.randomElement(using: &generator) {
                    bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
                }
            }
            let (whole, _) = parse([bytes])
            if case .failure = whole { refused += 1 }
            let (cut, _) = parse(generator.pieces(of: bytes, longest: 30))
            #expect(cut == whole, "seed \(seed): \(bytes)")
        }
        #expect(refused > 50)
    }

    @Test(arguments: [
        "HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP/1.1 101 \r\n\r\n", "HTTP/1.1 101\r\n\r\n",
    ])
    func `a response is read with or without its reason`(_ text: String) throws {
        var parser = HeadParser()
        var bytes = ByteBuffer(string: text)
        #expect(try parser.parseResponse(&bytes) == ResponseHead(status: 101))
    }

    @Test(
        arguments: [
            ("HTTP/1.1 99 a\r\n\r\n", .malformedStartLine), ("HTTP/1.1 1O1 a\r\n\r\n", .malformedStartLine),
            ("HTTP/1.1 1010 a\r\n\r\n", .malformedStartLine), ("HTTP/1.1  101 a\r\n\r\n", .malformedStartLine),
            ("HTTP/1.1 +10 a\r\n\r\n", .malformedStartLine), ("HTTP/1.1 099 a\r\n\r\n", .malformedStartLine),
            ("HTTP/1.1\r\n\r\n", .malformedStartLine), ("ICY 200 OK\r\n\r\n", .malformedStartLine),
            ("HTTP/1.0 101 a\r\n\r\n", .notHTTP11), ("HTTP/2.0 101 a\r\n\r\n", .unsupportedHTTPVersion),
            ("SSH-2.0-OpenSSH\r\n\r\n", .malformedStartLine),
        ] as [(String, HandshakeViolation)])
    func `a malformed response is refused`(_ text: String, _ violation: HandshakeViolation) {
        #expect(throws: violation) {
            var parser = HeadParser()
            var bytes = ByteBuffer(string: text)
            _ = try parser.parseResponse(&bytes)
        }
    }
}
