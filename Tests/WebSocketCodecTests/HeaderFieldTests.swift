import NIOCore
import Testing
import WebSocketCodec

struct HeaderFieldTests {
    @Test func `a field is made of a token and a value`() throws {
        let field = try #require(HeaderField("Set-Cookie", "a=b; Path=/\t"))
        #expect(field.name == "Set-Cookie")
        #expect(field.value == "a=b; Path=/\t")
    }

    @Test(arguments: [
        ("", "x"), ("a b", "x"), ("a:", "x"), ("a\r\nb", "x"), ("ä", "x"), ("a", "x\r\nSet-Cookie: y"), ("a", "x\ny"),
        ("a", "x\ry"), ("a", "\0"), ("a", "\u{7F}"),
    ])
    func `a field that would break out of its line cannot be made`(_ name: String, _ value: String) {
        #expect(HeaderField(name, value) == nil)
    }

    @Test func `a response is written`() throws {
        var buffer = ByteBuffer()
        let fields = HeaderFields([try #require(HeaderField("Allow", "GET")), try #require(HeaderField("A", ""))])
        ResponseHead(status: 405, fields: fields).write(into: &buffer)
        #expect(String(buffer: buffer) == "HTTP/1.1 405 \r\nAllow: GET\r\nA: \r\n\r\n")
    }
}
