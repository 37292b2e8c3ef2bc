import NIOCore
import WebSocketCodec

/// Bytes of a peer are read as a head or refused, the same way however they are split, within the limits.
///
/// No field of a head can contain a line break. A head that is read, written and read again is the same. If a server
/// accepts a client's handshake, the client accepts its answer.
///
/// An input begins with three bytes of setup; the head and the bytes after it follow.
enum HeadProperty {
    static func check(_ input: [UInt8]) throws(BrokenProperty) -> Fuzzer.Verdict {
        guard input.count >= 3 else { return .unfinished }
        let setup = HeadReading.Setup(input[0])
        let seed = UInt64(input[1]) << 8 | UInt64(input[2])
        let bytes = input[3...]

        try PlainRequestProperty.check(bytes, seed: seed)
        let whole = try HeadReading(Pieces.whole(bytes), setup)
        let cut = try HeadReading(Pieces.cut(bytes, seed: seed), setup)
        try require(cut == whole, "cut with seed \(seed): \(cut), whole: \(whole)")
        let single = try HeadReading(Pieces.single(bytes), setup)
        try require(single == whole, "byte by byte: \(single), whole: \(whole)")

        switch whole.outcome {
        case .request(let head):
            try self.checkText(head.method, "method")
            try self.checkText(head.target, "target")
            try self.checkFields(head.fields)
            return try HandshakeProperty.check(head, Self.policy(seed))
        case .response(let head):
            try self.checkFields(head.fields)
            return try HandshakeProperty.check(head, Self.policy(seed))
        case .refused(let violation):
            try HandshakeProperty.check(violation)
            return .refused
        case .unfinished:
            return .unfinished
        }
    }

    private static func policy(_ seed: UInt64) -> DeflatePolicy {
        DeflatePolicy(
            serverNoContextTakeover: seed & 1 == 0, clientNoContextTakeover: seed & 2 == 0,
            serverMaxWindowBits: 15 - Int(seed >> 2 & 7), clientMaxWindowBits: 15 - Int(seed >> 5 & 7))
    }

    private static func checkFields(_ fields: HeaderFields) throws(BrokenProperty) {
        for field in fields.all {
            try self.checkText(field.name, "name")
            try self.checkText(field.value, "value")
            try require(HeaderField(field.name, field.value) == field, "a field that cannot be made: \(field)")
        }
        var buffer = ByteBuffer()
        ResponseHead(status: 200, fields: fields).write(into: &buffer)
        let again = HandshakeProperty.response(&buffer)
        try require(again?.fields == fields && buffer.readableBytes == 0, "\(fields) written and read: \(again as Any)")
    }

    private static func checkText(_ text: String, _ what: String) throws(BrokenProperty) {
        let isControl = { (byte: UInt8) in (byte < 0x20 && byte != 0x09) || byte == 0x7F }
        try require(!text.utf8.contains(where: isControl), "a control character in a \(what): \(text.debugDescription)")
    }
}
