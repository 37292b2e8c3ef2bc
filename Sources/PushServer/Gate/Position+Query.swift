import RoomWire

/// The position with which a room's socket resumes, in the query of its path: `epoch=…&seq=…`.
extension Position {
    /// Integers in messages are at most 2^53 − 1.
    private static let largestSeq = (1 << 53) - 1

    /// Reads a query; nil if it has neither parameter.
    ///
    /// Parameters of other names are ignored.
    ///
    /// - Throws: ``ErrorCode/badRequest`` if one parameter stands without the other, stands twice or is empty, if `seq`
    ///   is no integer of at least 0, or if the query's percent-encoding is broken.
    init?(query: Substring?) throws(CommandFailure) {
        var values: [String: String] = [:]
        for part in (query ?? "").split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(pair[0]), let value = Self.decoded(pair.count > 1 ? pair[1] : "") else {
                throw CommandFailure(.badRequest, "the query is not percent-encoded UTF-8")
            }
            guard name == "epoch" || name == "seq" else { continue }
            guard values.updateValue(value, forKey: name) == nil else {
                throw CommandFailure(.badRequest, "\(name): expected once")
            }
        }
        guard !values.isEmpty else { return nil }
        guard let epoch = values["epoch"], !epoch.isEmpty else {
            throw CommandFailure(.badRequest, "epoch: expected beside seq, and not empty")
        }
        guard let seq = values["seq"].flatMap({ PlainInteger.value($0) }), (0...Self.largestSeq).contains(seq) else {
            throw CommandFailure(.badRequest, "seq: expected beside epoch, an integer of at least 0")
        }
        self.init(epoch: epoch, seq: seq)
    }

    /// The text that a percent-encoded one stands for (RFC 3986 §2.1); nil if it stands for none.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(Self.nibble), let low = rest.popFirst().flatMap(Self.nibble) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
