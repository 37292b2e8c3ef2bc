/// A 64-bit hash of the meaning of a JSON text, independent of how it is written.
///
/// White space, the order of members, escapes and the notation of numbers do not matter, because databases change them.
/// Any other change of one byte gives a different hash. The hash detects damage; it does not protect against somebody
/// who constructs two texts with the same hash. It is stored, so the hash of a text must never change.
package struct JSONDigest {
    private var index = 0
    private var depth = 0

    /// Returns the hash of a text; nil if it is not JSON, or is nested deeper than ``JSONValue/usualMaximumDepth``.
    ///
    /// Takes linear time; strings without escapes and integers of at most 18 digits allocate no memory.
    package static func of(_ text: Span<UInt8>) -> UInt64? {
        var digest = JSONDigest()
        digest.skipWhiteSpace(text)
        guard let value = digest.value(text) else { return nil }
        digest.skipWhiteSpace(text)
        return digest.index == text.count ? value : nil
    }

    private mutating func value(_ text: Span<UInt8>) -> UInt64? {
        guard index < text.count else { return nil }
        switch text[index] {
        case UInt8(ascii: "{"): return nested(text) { (digest, text) in digest.object(text) }
        case UInt8(ascii: "["): return nested(text) { (digest, text) in digest.array(text) }
        case UInt8(ascii: "\""): return string(text)
        case UInt8(ascii: "t"): return word("true", text)
        case UInt8(ascii: "f"): return word("false", text)
        case UInt8(ascii: "n"): return word("null", text)
        default: return number(text)
        }
    }

    private mutating func nested(
        _ text: Span<UInt8>, _ body: (inout JSONDigest, Span<UInt8>) -> UInt64?
    ) -> UInt64? {
        guard depth < JSONValue.usualMaximumDepth else { return nil }
        depth += 1
        index += 1
        skipWhiteSpace(text)
        defer { depth -= 1 }
        return body(&self, text)
    }

    // MARK: Structure

    /// The members' hashes are added, so that their order does not matter.
    private mutating func object(_ text: Span<UInt8>) -> UInt64? {
        var sum: UInt64 = 0
        var count: UInt64 = 0
        if !take(UInt8(ascii: "}"), text) {
            repeat {
                skipWhiteSpace(text)
                guard index < text.count, text[index] == UInt8(ascii: "\""), let name = string(text) else { return nil }
                skipWhiteSpace(text)
                guard take(UInt8(ascii: ":"), text) else { return nil }
                skipWhiteSpace(text)
                guard let value = value(text) else { return nil }
                skipWhiteSpace(text)
                sum &+= Self.mixed(Self.mixed(name) &+ value)
                count += 1
            } while take(UInt8(ascii: ","), text)
            guard take(UInt8(ascii: "}"), text) else { return nil }
        }
        return Self.tagged(UInt8(ascii: "{"), sum &+ Self.mixed(count))
    }

    private mutating func array(_ text: Span<UInt8>) -> UInt64? {
        var elements: UInt64 = 0
        if !take(UInt8(ascii: "]"), text) {
            repeat {
                skipWhiteSpace(text)
                guard let value = value(text) else { return nil }
                skipWhiteSpace(text)
                elements = Self.mixed(elements &+ value)
            } while take(UInt8(ascii: ","), text)
            guard take(UInt8(ascii: "]"), text) else { return nil }
        }
        return Self.tagged(UInt8(ascii: "["), elements)
    }

    // MARK: Scalars

    private mutating func string(_ text: Span<UInt8>) -> UInt64? {
        let start = index
        var hash = Fingerprint()
        index += 1
        while index < text.count {
            let byte = text[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return Self.tagged(byte, hash.value)
            case UInt8(ascii: "\\"): return escapedString(text, from: start)
            default: hash.combine(byte)
            }
        }
        return nil
    }

    /// Hashes a string with escapes, which begins at `start`.
    private mutating func escapedString(_ text: Span<UInt8>, from start: Int) -> UInt64? {
        // The character after the backslash.
        index += 1
        while index < text.count, text[index] != UInt8(ascii: "\"") {
            index += text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard index < text.count else { return nil }
        index += 1
        guard let value = try? JSONValue(parsing: text.extracting(start..<index)).string else { return nil }
        var hash = Fingerprint()
        for byte in value.utf8 { hash.combine(byte) }
        return Self.tagged(UInt8(ascii: "\""), hash.value)
    }

    private mutating func number(_ text: Span<UInt8>) -> UInt64? {
        let start = index
        var isPlain = true
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): break
            case UInt8(ascii: "-"): isPlain = isPlain && index == start
            case UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): isPlain = false
            default:
                return Self.number(text.extracting(start..<index), isPlain: isPlain)
            }
            index += 1
        }
        return Self.number(text.extracting(start..<index), isPlain: isPlain)
    }

    /// Hashes a number; `isPlain` means that it has only digits, perhaps after a sign.
    private static func number(_ token: Span<UInt8>, isPlain: Bool) -> UInt64? {
        let digits = token.count > 0 && token[0] == UInt8(ascii: "-") ? 1 : 0
        // Any 18 digits fit into an Int64; the parser handles −0 and leading zeros.
        if isPlain, token.count > digits, token.count <= 18, token[digits] != UInt8(ascii: "0") {
            var magnitude: Int64 = 0
            for place in digits..<token.count { magnitude = magnitude * 10 + Int64(token[place] - UInt8(ascii: "0")) }
            return integer(digits == 1 ? -magnitude : magnitude)
        }
        switch try? JSONValue(parsing: token) {
        case .integer(let value): return integer(value)
        // Some databases turn 0 into −0.
        case .number(let value): return value == 0 ? integer(0) : tagged(UInt8(ascii: "."), value.bitPattern)
        case .null, .bool, .string, .array, .object, nil: return nil
        }
    }

    private static func integer(_ value: Int64) -> UInt64 {
        tagged(UInt8(ascii: "1"), UInt64(bitPattern: value))
    }

    private mutating func word(_ word: StaticString, _ text: Span<UInt8>) -> UInt64? {
        guard text.count - index >= word.utf8CodeUnitCount else { return nil }
        // unsafe: the bytes of a literal live as long as the program
        let matches = word.withUTF8Buffer { utf8 in
            utf8.indices.allSatisfy { unsafe text[index + $0] == utf8[$0] }
        }
        guard matches else { return nil }
        let first = text[index]
        index += word.utf8CodeUnitCount
        return Self.tagged(first, 0)
    }

    // MARK: Parts

    private mutating func skipWhiteSpace(_ text: Span<UInt8>) {
        // RFC 8259 §2: space, tab, line feed, carriage return
        while index < text.count {
            switch text[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            default: return
            }
        }
    }

    private mutating func take(_ byte: UInt8, _ text: Span<UInt8>) -> Bool {
        guard index < text.count, text[index] == byte else { return false }
        index += 1
        return true
    }

    /// Returns the hash of a value of a kind; different values of one kind have different hashes.
    private static func tagged(_ kind: UInt8, _ value: UInt64) -> UInt64 {
        // 2^64 over the golden ratio: an odd number, so that kinds are far apart.
        mixed(value &+ UInt64(kind) &* 0x9E37_79B9_7F4A_7C15)
    }

    /// Mixes a number's bits, one to one, so that sums of hashes are as good as the hashes (MurmurHash3's finalizer).
    private static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ (value >> 33)) &* 0xFF51_AFD7_ED55_8CCD
        value = (value ^ (value >> 33)) &* 0xC4CE_B9FE_1A85_EC53
        return value ^ (value >> 33)
    }
}
