import FuzzProperties
import RandomTestSupport
import Testing

/// Random heads, as one reader and as the other reads them.
struct HeadAgreementTests {
    @Test(arguments: TestSeed.several(2))
    func `both readers of heads agree`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var seen: Set<HeadAgreementProperty.Verdict> = []
        for _ in 0..<2_000 {
            let bytes = Self.request(&random)
            do throws(BrokenProperty) {
                seen.insert(try HeadAgreementProperty.check(bytes))
            } catch {
                Issue.record("\(error): \(String(decoding: bytes, as: UTF8.self).debugDescription)")
                return
            }
        }
        #expect(seen == Set(HeadAgreementProperty.Verdict.allCases))
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: here \r\n\r\n", HeadAgreementProperty.Verdict.head),
        ("GET / HTTP/1.1\nHost: here\n\n", .refused),
        ("GET / HTTP/1.1\r\nHost: here\r\n folded\r\n\r\n", .refused),
        ("\r\nGET / HTTP/1.1\r\nHost: here\r\n\r\n", .head),
        ("\r\n\r\nGET / HTTP/1.1\r\nHost: here\r\n\r\n", .refusedAsFirst),
        ("FETCH / HTTP/1.1\r\nHost: here\r\n\r\n", .refusedAsLater),
        ("GET / HTTP/1.1\r\nHost: here\r\nContent-Length: 1, 1\r\n\r\n", .refusedAsLater),
        ("GET / HTTP/1.1\r\nHost : here\r\n\r\n", .refused),
    ])
    func `the readers refuse different heads`(text: String, verdict: HeadAgreementProperty.Verdict) throws {
        #expect(try HeadAgreementProperty.check(Array(text.utf8)) == verdict)
    }

    /// Makes a request, most often an opening handshake, with some mistakes or none.
    private static func request(_ random: inout SeededRandom) -> [UInt8] {
        let isStrict = random.once(in: 3)
        func pick(_ usual: String, _ others: [String], once times: Int = 4) -> String {
            isStrict || !random.once(in: times) ? usual : random.pick(others, or: usual)
        }
        let end = pick("\r\n", ["\n", "\r", "\r\r\n", "\r\n ", "\r\n\t", " \r\n", "\0\r\n"], once: 20)
        let space = pick(" ", ["  ", "\t", "", "\u{B}"], once: 20)
        var lines = [
            pick("GET", methods) + space + pick("/v1/socket", targets) + space + pick("HTTP/1.1", versions, once: 10)
        ]
        for (name, value) in [
            ("Host", "here"), ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ] where isStrict || !random.once(in: 12) {
            lines.append(
                field(pick(name, [name.lowercased(), name.uppercased()]), pick(value, values, once: 12), pick))
        }
        for _ in 0..<Int.random(in: 0...(isStrict ? 0 : 4), using: &random) {
            lines.append(field(pick("X-Other", names, once: 2), pick("7", values, once: 2), pick))
        }
        if random.once(in: 400) { lines += (0..<120).map { "X-\($0): 1" } }
        if random.once(in: 400) { lines.append("X-Long: " + String(repeating: "x", count: 17_000)) }
        if !isStrict { lines[1...].shuffle(using: &random) }
        var bytes = Array((lines.joined(separator: end) + end + end).utf8)
        // An empty line before a request: one reader takes it, the other does not.
        if !isStrict, random.once(in: 20) { bytes = Array("\r\n".utf8) + bytes }
        // Bytes behind the head belong to nobody here.
        bytes += random.once(in: 3) ? Array("GET / HTTP/1.1\r\n\r\n".utf8) : []
        while !isStrict, random.once(in: 3), !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes.remove(at: place)
            case 1: bytes.insert(.random(in: 0 ... .max, using: &random), at: place)
            case 2: bytes[place] = random.pick(Array("\r\n\t :,;/\"\0".utf8), or: 0)
            default: bytes.removeSubrange(place...)
            }
        }
        return bytes
    }

    private static func field(
        _ name: String, _ value: String, _ pick: (String, [String], Int) -> String
    ) -> String {
        name + pick("", [" ", "\t"], 30) + ":" + pick(" ", ["", "\t", "   "], 6) + value + pick("", [" ", "\t "], 6)
    }

    private static let methods = [
        "HEAD", "POST", "OPTIONS", "CONNECT", "PUT", "PATCH", "get", "G\u{C9}T", "FETCH", "M-SEARCH", "PRI", "",
        "SOURCE",
    ]
    private static let targets = [
        "/", "*", "/v1/rooms/x/socket?epoch=a&seq=1", "http://here/v1/socket", "HTTPS://here:1", "here:443", "/a b",
        "/é",
        "/#x", "//", "/%zz", "/\u{1}", "socket", "/\"<>\\^`{|}",
    ]
    private static let versions = [
        "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "http/1.1", "HTTP/1.1 ", "HTTP/11", "",
    ]
    private static let names = [
        "Content-Length", "Transfer-Encoding", "Upgrade", "Connection", "Host", "Cookie", "X\u{E9}", "X Y", "",
        "Expect",
        "Proxy-Connection", "Keep-Alive", "Sec-WebSocket-Protocol", "Sec-WebSocket-Extensions",
    ]
    private static let values = [
        "", "0", "1", "00", "+1", "-1", "0, 0", "9223372036854775808", "chunked", "gzip, chunked", "identity", "close",
        "keep-alive, Upgrade", "upgrade", "h2c", "h2c, WebSocket", "websocket ", "é", "\u{7F}", "a\u{1}b", "a\tb",
        "backline.v1.json", "permessage-deflate; client_max_window_bits", "\"", ",", ":", "here", "100-continue",
    ]
}
