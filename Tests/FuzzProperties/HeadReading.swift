import NIOCore
import WebSocketCodec

/// A parser's result for a buffer that grows by pieces and is passed whole each time.
struct HeadReading: Equatable {
    /// The kind of message, and the parser's limits.
    struct Setup {
        let isResponse: Bool
        let maximumHeadLength: Int
        let maximumFieldCount: Int

        /// Reads from bit 0 whether it is a response, from bit 1 whether the limits are easily reached.
        init(_ byte: UInt8) {
            self.isResponse = byte & 1 == 1
            self.maximumHeadLength = byte & 2 == 0 ? HeadParser.defaultMaximumHeadLength : 300
            self.maximumFieldCount = byte & 2 == 0 ? HeadParser.defaultMaximumFieldCount : 8
        }
    }

    enum Outcome: Equatable {
        case request(RequestHead)
        case response(ResponseHead)
        case refused(HandshakeViolation)
        case unfinished
    }

    private(set) var outcome: Outcome = .unfinished
    /// The number of bytes that were consumed.
    private(set) var length = 0

    init(_ pieces: [ArraySlice<UInt8>], _ setup: Setup) throws(BrokenProperty) {
        var parser = HeadParser(
            maximumHeadLength: setup.maximumHeadLength, maximumFieldCount: setup.maximumFieldCount)
        var bytes = ByteBuffer()
        for piece in pieces {
            bytes.writeBytes(piece)
            do throws(HandshakeViolation) {
                if setup.isResponse {
                    if let head = try parser.parseResponse(&bytes) { self.outcome = .response(head) }
                } else {
                    if let head = try parser.parseRequest(&bytes) { self.outcome = .request(head) }
                }
            } catch {
                self.outcome = .refused(error)
            }
            self.length = bytes.readerIndex
            guard self.outcome == .unfinished else { break }
            try require(self.length == 0, "\(self.length) bytes taken of an unfinished head")
            try require(
                bytes.readableBytes <= setup.maximumHeadLength,
                "\(bytes.readableBytes) bytes wait, limit \(setup.maximumHeadLength)")
        }
        try require(self.length <= setup.maximumHeadLength, "\(self.length) bytes, limit \(setup.maximumHeadLength)")
        let count = self.fields.count
        try require(count <= setup.maximumFieldCount, "\(count) fields, limit \(setup.maximumFieldCount)")
    }

    /// The fields of a head that was read.
    var fields: [HeaderField] {
        switch self.outcome {
        case .request(let head): head.fields.all
        case .response(let head): head.fields.all
        case .refused, .unfinished: []
        }
    }
}
