/// The preference for compressed answers in a request's `Accept-Encoding` (RFC 9110 §12.5.3).
enum ContentCoding {
    /// Whether gzip is acceptable, and preferred or equal to no coding.
    ///
    /// A coding that cannot be read is not acceptable. Where nothing is acceptable, there is no coding.
    static func prefersGzip(_ fields: [String]) -> Bool {
        var gzip: Int?
        var identity: Int?
        var others: Int?
        for element in fields.flatMap({ $0.split(separator: ",") }) {
            let parts = element.split(separator: ";", omittingEmptySubsequences: false).map { trimmed($0).lowercased() }
            guard let coding = parts.first, let weight = weight(parts.dropFirst()) else { continue }
            switch coding {
            // RFC 9110 §8.4.1.3: the two are equivalent.
            case "gzip", "x-gzip": gzip = max(gzip ?? 0, weight)
            case "identity": identity = max(identity ?? 0, weight)
            case "*": others = max(others ?? 0, weight)
            default: break
            }
        }
        let wanted = gzip ?? others ?? 0
        return wanted > 0 && wanted >= identity ?? 0
    }

    /// The weight in thousandths (RFC 9110 §12.4.2): 1,000 where there is none; nil if it cannot be read.
    private static func weight(_ parameters: ArraySlice<String>) -> Int? {
        guard let parameter = parameters.first else { return 1_000 }
        guard parameters.count == 1, parameter.hasPrefix("q=") else { return nil }
        let digits = Array(parameter.utf8.dropFirst(2))
        guard let whole = digits.first, whole == UInt8(ascii: "0") || whole == UInt8(ascii: "1") else { return nil }
        let fraction = digits.dropFirst(2)
        guard digits.count < 2 || digits[1] == UInt8(ascii: "."), fraction.count <= 3,
            fraction.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        let zeros = repeatElement(UInt8(ascii: "0"), count: 3 - fraction.count)
        let weight = ([whole] + fraction + zeros).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return weight <= 1_000 ? weight : nil
    }

    private static func trimmed(_ text: Substring) -> Substring {
        func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
        let start = text.drop(while: isBlank)
        return start.prefix(start.count - start.reversed().prefix(while: isBlank).count)
    }
}
