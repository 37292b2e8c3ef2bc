import HTTPTransport
import NIOCore
import NIOEmbedded
import Testing

/// Requests without TLS on a port for TLS.
struct PlainRequestTests {
    private func verdict(_ pieces: [some Collection<UInt8>]) -> PlainRequest.Verdict {
        var request = PlainRequest(maximumHeadLength: 500) { $0 == "/" || $0.hasPrefix("/r/") }
        var arrived = ByteBuffer()
        for piece in pieces {
            arrived.writeBytes(piece)
            let verdict = request.read(arrived)
            if verdict != .undecided { return verdict }
        }
        return .undecided
    }

    private func verdict(_ text: String) -> PlainRequest.Verdict { verdict([Array(text.utf8)]) }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: here\r\n\r\n", "https://here/"),
        (
            "GET /r/ABC?x=1&y HTTP/1.1\r\nhost: 192.168.1.5:8443\r\nCookie: a\r\n\r\n",
            "https://192.168.1.5:8443/r/ABC?x=1&y"
        ),
        ("GET / HTTP/1.0\r\nHost: [::1]:8443\r\n\r\n", "https://[::1]:8443/"),
    ])
    func `a page is at the same address over https`(request: String, address: String) {
        #expect(verdict(request) == .answered(.moved(to: address, isHead: false)))
        let head = "HEAD" + request.dropFirst(3)
        #expect(verdict(head) == .answered(.moved(to: address, isHead: true)))
    }

    @Test(arguments: [
        "GET /v1/rooms HTTP/1.1\r\nHost: here\r\n\r\n", "POST / HTTP/1.1\r\nHost: here\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", "GET http://here/ HTTP/1.1\r\nHost: here\r\n\r\n",
        "GET /# HTTP/1.1\r\nHost: here\r\n\r\n", "GET * HTTP/1.1\r\nHost: here\r\n\r\n",
        "CONNECT here:443 HTTP/1.1\r\nHost: here\r\n\r\n", "GET / HTTP/2.0\r\nHost: here\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "SSH-2.0-OpenSSH_9\r\n\r\n", "EHLO\n", "GET / HTTP/1.1\nHost: here\n\n",
        "GET / HTTP/1.1\r\nHost: here\r\nX: \u{1}\r\n\r\n", "GET /r/\u{7F} HTTP/1.1\r\nHost: here\r\n\r\n",
    ])
    func `everything else is told to use https`(request: String) {
        #expect(verdict(request) == .answered(.refused(isHead: false)))
    }

    @Test func `a head without an end is refused at the limit`() {
        #expect(verdict("GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 400)) == .undecided)
        #expect(verdict(String(repeating: "A", count: 500)) == .undecided)
        #expect(verdict(String(repeating: "A", count: 501)) == .answered(.refused(isHead: false)))
    }

    @Test func `bytes that begin no request are left to TLS, at once`() {
        for byte in UInt8.min ... .max where !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) {
            #expect(verdict([[byte]]) == .tls)
        }
        #expect(verdict([[UInt8]()]) == .undecided)
    }

    @Test func `a request is read the same way wherever it is cut`() {
        for text in [
            "GET /r/ABC HTTP/1.1\r\nHost: here\r\nX: y\r\n\r\n", "HEAD /x HTTP/1.1\r\nHost: here\r\n\r\n",
            "EHLO here\r\n\r\n",
        ] {
            let bytes = Array(text.utf8)
            let whole = verdict([bytes])
            #expect(whole != .undecided)
            for cut in 1..<bytes.count { #expect(verdict([bytes[..<cut], bytes[cut...]]) == whole, "cut at \(cut)") }
            #expect(verdict(bytes.map { [$0] }) == whole)
            for cut in 1..<bytes.count - 3 where whole == .answered(.moved(to: "https://here/r/ABC", isHead: false)) {
                #expect(verdict([bytes[..<cut]]) == .undecided, "cut at \(cut)")
            }
        }
    }

    @Test func `an answer says that the connection ends, and has a body unless it is one to HEAD`() {
        let moved = String(buffer: PlainRequest.Answer.moved(to: "https://a/", isHead: false).bytes(adding: []))
        #expect(moved.hasPrefix("HTTP/1.1 308 "))
        #expect(moved.contains("\r\nLocation: https://a/\r\n") && moved.contains("\r\nConnection: close\r\n"))
        #expect(moved.contains("\r\nContent-Type: text/plain; charset=utf-8\r\n") && moved.hasSuffix("https://a/\n"))
        let refused = String(buffer: PlainRequest.Answer.refused(isHead: false).bytes(adding: []))
        #expect(refused.hasPrefix("HTTP/1.1 400 ") && refused.contains("https://"))
        #expect(String(buffer: PlainRequest.Answer.refused(isHead: true).bytes(adding: [])).hasSuffix("\r\n\r\n"))
    }

    /// Gives the bytes of one connection to its handler, and returns what is sent and what is passed on.
    private func exchange(_ pieces: [[UInt8]], isAdmitted: Bool = true) throws -> (sent: String, passed: [UInt8]) {
        let request = PlainRequest(maximumHeadLength: 500) { $0 == "/" }
        let channel = EmbeddedChannel(handler: PlainRequestHandler(request, fields: [], isAdmitted: { isAdmitted }))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        for piece in pieces where channel.isActive { try channel.writeInbound(ByteBuffer(bytes: piece)) }
        var (sent, passed) = ("", [UInt8]())
        while let bytes = try channel.readOutbound(as: ByteBuffer.self) { sent += String(buffer: bytes) }
        while let bytes = try channel.readInbound(as: ByteBuffer.self) { passed += Array(buffer: bytes) }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        return (sent, passed)
    }

    @Test func `TLS passes unchanged, and no request does`() throws {
        let record: [UInt8] = [22, 3, 1, 0, 5, 71, 69, 84]
        #expect(try exchange([record, [71]]) == ("", record + [71]))
        #expect(try exchange(record.map { [$0] }) == ("", record))
        let (sent, passed) = try exchange([Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), [22, 3, 1]])
        #expect(sent.hasPrefix("HTTP/1.1 308 ") && sent.ranges(of: "HTTP/1.1").count == 1)
        #expect(passed.isEmpty)
    }

    @Test func `a request that is not admitted gets no answer`() throws {
        let (sent, passed) = try exchange([Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)], isAdmitted: false)
        #expect(sent.isEmpty && passed.isEmpty)
    }
}
