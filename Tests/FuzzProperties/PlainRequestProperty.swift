import HTTPTransport
import NIOCore
import WebSocketCodec

/// Bytes on a port for TLS are TLS, or a request with one answer, the same way however they are split.
///
/// An answer is one head and one short text, and leads to https only.
enum PlainRequestProperty {
    static func check(_ bytes: ArraySlice<UInt8>, seed: UInt64) throws(BrokenProperty) {
        let whole = Self.verdict(Pieces.whole(bytes))
        let cut = Self.verdict(Pieces.cut(bytes, seed: seed))
        try require(cut == whole, "cut with seed \(seed): \(cut), whole: \(whole)")
        let single = Self.verdict(Pieces.single(bytes))
        try require(single == whole, "byte by byte: \(single), whole: \(whole)")
        guard case .answered(let answer) = whole else { return }
        if case .moved(let address, _) = answer {
            try require(address.hasPrefix("https://") && address.utf8.count <= Self.limit + 8, "moved to \(address)")
        }
        var buffer = answer.bytes(adding: [])
        var parser = HeadParser(maximumHeadLength: 2 * Self.limit)
        let head = try? parser.parseResponse(&buffer)
        try require(head.map { [308, 400].contains($0.status) } == true, "\(answer) as \(String(describing: head))")
        try require(head?.fields.onlyValue(of: "Connection") == "close", "\(answer) keeps its connection")
    }

    private static let limit = 1_024

    private static func verdict(_ pieces: [ArraySlice<UInt8>]) -> PlainRequest.Verdict {
        var request = PlainRequest(maximumHeadLength: limit) { $0 == "/" || $0.hasPrefix("/r/") }
        var arrived = ByteBuffer()
        for piece in pieces {
            arrived.writeBytes(piece)
            let verdict = request.read(arrived)
            if verdict != .undecided { return verdict }
        }
        return .undecided
    }
}
