/// A 64-bit hash of the meaning of a JSON text, independent of how it is written.
///
/// White space, the order of members, escapes and the notation of numbers do not matter, because databases change them.
/// Any other change of one byte gives a different hash. The hash detects damage; it does not protect against somebody
/// who constructs two texts with the same hash. It is stored, so the hash of a text must never change.
package enum JSONDigest {
    /// Returns the hash of a text; nil if it is not JSON, or is nested deeper than ``JSONValue/usualMaximumDepth``.
    ///
    /// Takes linear time; strings without escapes and integers of at most 18 digits allocate no memory.
    package static func of(_ text: Span<UInt8>) -> UInt64? {
        var parser = JSONParser(maximumDepth: JSONValue.usualMaximumDepth)
        parser.skipWhiteSpace(text)
        guard let hash = try? parser.hash(text) else { return nil }
        parser.skipWhiteSpace(text)
        return parser.index == text.count ? hash : nil
    }

    fileprivate static func integer(_ value: Int64) -> UInt64 {
        tagged(UInt8(ascii: "1"), UInt64(bitPattern: value))
    }

    /// Returns the hash of a value of a kind; different values of one kind have different hashes.
    fileprivate static func tagged(_ kind: UInt8, _ value: UInt64) -> UInt64 {
        // 2^64 over the golden ratio: an odd number, so that kinds are far apart.
        mixed(value &+ UInt64(kind) &* 0x9E37_79B9_7F4A_7C15)
    }

    /// Mixes a number's bits, one to one, so that sums of hashes are as good as the hashes (MurmurHash3's finalizer).
    fileprivate static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ (value >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        value = (value ^ (value >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        return value ^ (value >> 33)
    }
}

/// Hashes a value in place, without building a tree.
extension JSONParser {
    fileprivate mutating func hash(_ text: Span<UInt8>) throws(JSONViolation) -> UInt64 {
        guard index < text.count else { throw .unexpectedEnd }
        let first = text[index]
        switch first {
        case UInt8(ascii: "{"):
            // The members' hashes are added, so that their order does not matter.
            var sum: UInt64 = 0
            var count: UInt64 = 0
            try members(text) { (parser, text) throws(JSONViolation) in
                let name = try parser.stringHash(text)
                try parser.colon(text)
                sum &+= JSONDigest.mixed(JSONDigest.mixed(name) &+ (try parser.hash(text)))
                count += 1
            }
            return JSONDigest.tagged(first, sum &+ JSONDigest.mixed(count))
        case UInt8(ascii: "["):
            var hash: UInt64 = 0
            try elements(text) { (parser, text) throws(JSONViolation) in
                hash = JSONDigest.mixed(hash &+ (try parser.hash(text)))
            }
            return JSONDigest.tagged(first, hash)
        case UInt8(ascii: "\""): return try stringHash(text)
        case UInt8(ascii: "t"): try word("true", text)
        case UInt8(ascii: "f"): try word("false", text)
        case UInt8(ascii: "n"): try word("null", text)
        default: return try numberHash(text)
        }
        return JSONDigest.tagged(first, 0)
    }

    /// The hash of a string, whose quotation mark is the next byte.
    private mutating func stringHash(_ text: Span<UInt8>) throws(JSONViolation) -> UInt64 {
        let start = index
        var hash = Fingerprint()
        index += 1
        while index < text.count {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return JSONDigest.tagged(byte, hash.value)
            case UInt8(ascii: "\\"):
                index = start
                var unescaped = Fingerprint()
                for byte in try string(text).utf8 { unescaped.combine(byte) }
                return JSONDigest.tagged(UInt8(ascii: "\""), unescaped.value)
            default:
                hash.combine(byte)
                index += 1
            }
        }
        throw .unexpectedEnd
    }

    private mutating func numberHash(_ text: Span<UInt8>) throws(JSONViolation) -> UInt64 {
        let start = index
        switch try number(text) {
        case .integer(let value): return JSONDigest.integer(value)
        // −0 is what some databases make 0 of.
        case .number(let value):
            return value == 0
                ? JSONDigest.integer(0) : JSONDigest.tagged(UInt8(ascii: "."), value.bitPattern)
        case .null, .bool, .string, .array, .object: throw .unexpectedByte(offset: start)
        }
    }
}
