import NIOCore
import Testing
import WebSocketCodec

extension RequestHead {
    /// The head of an opening handshake.
    static func handshake(
        _ target: String, method: String = "GET", adding fields: [(String, String)] = []
    ) throws -> RequestHead {
        try parsed(text(handshake: target, method: method, adding: fields))
    }

    /// The text of the head of an opening handshake.
    static func text(handshake target: String, method: String = "GET", adding fields: [(String, String)] = []) -> String
    {
        """
        \(method) \(target) HTTP/1.1\r
        Host: here\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        Authorization: Bearer x\r
        Cookie: a=b\r
        Cookie: c=d\r
        \(fields.map { "\($0): \($1)\r\n" }.joined())\r\n
        """
    }

    /// The head in a text.
    static func parsed(_ text: String) throws -> RequestHead {
        var parser = HeadParser()
        var bytes = ByteBuffer(string: text)
        return try #require(try parser.parseRequest(&bytes))
    }
}
