import NIOCore
import Testing
import WebSocketCodec

@testable import RoomClientNIO

@Suite struct RefusalBodyTests {
    private func body(_ field: String, _ value: String) throws -> RefusalBody {
        RefusalBody(HeaderFields([try #require(HeaderField(field, value))]))
    }

    @Test func `chunks are joined wherever they are cut`() throws {
        let body = try body("Transfer-Encoding", "gzip, Chunked")
        let text = "3\r\nabc\r\n00a;name=value\r\n0123\r\n6789\r\n0\r\n"
        for count in 0..<text.utf8.count {
            #expect(body.read(ByteBuffer(bytes: text.utf8.prefix(count)), isEnd: false) == nil)
        }
        #expect(body.read(ByteBuffer(string: text + "\r\n"), isEnd: false) == Array("abc0123\r\n6789".utf8))
        #expect(body.read(ByteBuffer(string: "5\r\nab"), isEnd: true) == Array("ab".utf8))
    }

    @Test(arguments: ["x\r\n", "-5\r\nab", "\r\n", "ffffffffffffffffffff\r\nab", "7fffffffffffffff\r\n"])
    func `chunks that make no sense end the body`(text: String) throws {
        let body = try body("transfer-encoding", "chunked")
        #expect(body.read(ByteBuffer(string: text), isEnd: true)?.count ?? 0 <= 2)
    }

    @Test func `many small chunks do not wait without end`() throws {
        let body = try body("transfer-encoding", "chunked")
        let bytes = ByteBuffer(
            string: String(repeating: "1;\(String(repeating: "x", count: 60))\r\na\r\n", count: 9_000))
        #expect(body.read(bytes, isEnd: false)?.count == 9_000)
    }

    @Test func `a length is trusted as far as a body is kept`() throws {
        #expect(try body("content-length", "3").read(ByteBuffer(string: "ab"), isEnd: false) == nil)
        #expect(try body("content-length", "3").read(ByteBuffer(string: "abcd"), isEnd: false) == Array("abc".utf8))
        #expect(try body("content-length", "0").read(ByteBuffer(), isEnd: false) == [])
        let long = ByteBuffer(repeating: 0x20, count: 65_536)
        #expect(try body("content-length", "\(Int.max)").read(long, isEnd: false)?.count == 65_536)
        #expect(try body("content-length", "-1").read(ByteBuffer(string: "ab"), isEnd: false) == nil)
        #expect(try body("content-length", "-1").read(ByteBuffer(string: "ab"), isEnd: true) == Array("ab".utf8))
    }
}
