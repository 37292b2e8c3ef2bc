import ByteText

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// Appends JSON text to an array of bytes, without white space.
///
/// The writer places the commas. The caller ensures that names and values alternate and that every object and array is
/// closed. Members whose value is `nil` are left out: `null` is never written except by ``null()``.
package struct JSONWriter: Sendable {
    /// The text written so far.
    package private(set) var bytes: [UInt8] = []
    /// Whether a comma is due before the next value or name.
    private var needsComma = false

    /// Makes an empty writer with room for `capacity` bytes before it allocates again.
    package init(capacity: Int = 256) {
        self.bytes.reserveCapacity(capacity)
    }

    // MARK: Structure

    /// Opens an object.
    package mutating func beginObject() {
        self.separate()
        self.bytes.append(UInt8(ascii: "{"))
        self.needsComma = false
    }

    /// Closes the object opened last.
    package mutating func endObject() {
        self.bytes.append(UInt8(ascii: "}"))
        self.needsComma = true
    }

    /// Opens an array.
    package mutating func beginArray() {
        self.separate()
        self.bytes.append(UInt8(ascii: "["))
        self.needsComma = false
    }

    /// Closes the array opened last.
    package mutating func endArray() {
        self.bytes.append(UInt8(ascii: "]"))
        self.needsComma = true
    }

    /// Writes a member's name; its value comes next.
    ///
    /// - Parameter name: Written unchanged, so it must not contain anything that needs an escape.
    package mutating func name(_ name: StaticString) {
        self.separate()
        self.bytes.append(UInt8(ascii: "\""))
        // unsafe: the bytes of a literal live as long as the program
        name.withUTF8Buffer { utf8 in unsafe self.bytes.append(contentsOf: utf8) }
        self.bytes.append(UInt8(ascii: "\""))
        self.bytes.append(UInt8(ascii: ":"))
        self.needsComma = false
    }

    /// Writes a UUID in lower case as a member's name; its value comes next.
    package mutating func name(_ name: UUID) {
        self.uuid(name)
        self.bytes.append(UInt8(ascii: ":"))
        self.needsComma = false
    }

    /// Writes a member's name with the escapes it needs; its value comes next.
    package mutating func name(escaping name: String) {
        self.string(name)
        self.bytes.append(UInt8(ascii: ":"))
        self.needsComma = false
    }

    // MARK: Values

    /// Writes `null`.
    package mutating func null() {
        self.separate()
        self.bytes.append(contentsOf: "null".utf8)
        self.needsComma = true
    }

    /// Writes `true` or `false`.
    package mutating func bool(_ value: Bool) {
        self.separate()
        self.bytes.append(contentsOf: (value ? "true" : "false").utf8)
        self.needsComma = true
    }

    /// Writes an integer, exactly.
    package mutating func integer(_ value: Int64) {
        self.separate()
        if value < 0 { self.bytes.append(UInt8(ascii: "-")) }
        self.append(decimal: value.magnitude)
        self.needsComma = true
    }

    /// Writes an integer, exactly.
    package mutating func integer(_ value: Int) {
        self.integer(Int64(value))
    }

    /// Writes the shortest text that reads back as the same value; an integer is written without a point.
    ///
    /// - Precondition: `value` is finite; JSON has no other numbers.
    package mutating func number(_ value: Double) {
        precondition(value.isFinite, "JSON has no \(value)")
        // 2^53: larger integers are not all exact as Double, and the exponent form is shorter.
        if value.magnitude < 9_007_199_254_740_992, let integer = Int64(exactly: value),
            integer != 0 || value.sign == .plus
        {
            self.integer(integer)
        } else {
            self.separate()
            self.bytes.append(contentsOf: value.description.utf8)
            self.needsComma = true
        }
    }

    /// Writes a string; escapes only what RFC 8259 §7 requires.
    package mutating func string(_ value: String) {
        self.separate()
        self.bytes.append(UInt8(ascii: "\""))
        if Self.needsEscape(value.utf8.contiguous.span) {
            for byte in value.utf8 { self.append(escaping: byte) }
        } else {
            self.bytes.append(contentsOf: value.utf8)
        }
        self.bytes.append(UInt8(ascii: "\""))
        self.needsComma = true
    }

    /// Writes a UUID as a string, in lower case.
    package mutating func uuid(_ value: UUID) {
        self.separate()
        self.bytes.append(UInt8(ascii: "\""))
        let (high, low) = value.halves
        // RFC 9562 §4: 8-4-4-4-12
        self.append(hexadecimal: high >> 32, digits: 8)
        self.bytes.append(UInt8(ascii: "-"))
        self.append(hexadecimal: high >> 16, digits: 4)
        self.bytes.append(UInt8(ascii: "-"))
        self.append(hexadecimal: high, digits: 4)
        self.bytes.append(UInt8(ascii: "-"))
        self.append(hexadecimal: low >> 48, digits: 4)
        self.bytes.append(UInt8(ascii: "-"))
        self.append(hexadecimal: low, digits: 12)
        self.bytes.append(UInt8(ascii: "\""))
        self.needsComma = true
    }

    /// Writes a value that is already JSON text.
    package mutating func raw(_ json: [UInt8]) {
        self.separate()
        self.bytes.append(contentsOf: json)
        self.needsComma = true
    }

    // MARK: Members

    /// Writes a member, or nothing if the value is `nil`.
    package mutating func member(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        self.name(name)
        self.string(value)
    }

    /// Writes a member, or nothing if the value is `nil`.
    package mutating func member(_ name: StaticString, _ value: Int?) {
        guard let value else { return }
        self.name(name)
        self.integer(value)
    }

    /// Writes a member, or nothing if the value is `nil`.
    package mutating func member(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        self.name(name)
        self.integer(value)
    }

    /// Writes a member, or nothing if the value is `nil`.
    package mutating func member(_ name: StaticString, _ value: Double?) {
        guard let value else { return }
        self.name(name)
        self.number(value)
    }

    /// Writes a member, or nothing if the value is `nil`.
    package mutating func member(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        self.name(name)
        self.bool(value)
    }

    /// Writes a member, or nothing if the value is `nil`.
    package mutating func member(_ name: StaticString, _ value: UUID?) {
        guard let value else { return }
        self.name(name)
        self.uuid(value)
    }

    /// Writes a member whose value is already JSON text, or nothing if it is `nil`.
    package mutating func member(_ name: StaticString, raw json: [UInt8]?) {
        guard let json else { return }
        self.name(name)
        self.raw(json)
    }

    // MARK: Bytes

    @inline(__always)
    private mutating func separate() {
        if self.needsComma { self.bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func append(decimal value: UInt64) {
        // The digits, four bits each, the first of them lowest: up to 16 of the 20 that UInt64.max has.
        let limit: UInt64 = 10_000_000_000_000_000
        var (digits, count, rest) = (UInt64(0), 0, value < limit ? value : value % limit)
        if value >= limit { self.append(decimal: value / limit) }
        repeat {
            digits = digits << 4 | rest % 10
            count += 1
            rest /= 10
        } while rest > 0 || (value >= limit && count < 16)
        for _ in 0..<count {
            self.bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digits & 0x0F))
            digits >>= 4
        }
    }

    /// Writes the lowest digits of a number.
    private mutating func append(hexadecimal value: UInt64, digits: Int) {
        for shift in stride(from: 4 * digits - 4, through: 0, by: -4) {
            self.bytes.append(Self.hexadecimal(UInt8(truncatingIfNeeded: value >> shift) & 0x0F))
        }
    }

    private static func needsEscape(_ text: Span<UInt8>) -> Bool {
        for index in text.indices where Self.needsEscape(text[index]) { return true }
        return false
    }

    @inline(__always)
    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func append(escaping byte: UInt8) {
        guard Self.needsEscape(byte) else {
            self.bytes.append(byte)
            return
        }
        self.bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): self.bytes.append(byte)
        case 0x08: self.bytes.append(UInt8(ascii: "b"))
        case 0x09: self.bytes.append(UInt8(ascii: "t"))
        case 0x0A: self.bytes.append(UInt8(ascii: "n"))
        case 0x0C: self.bytes.append(UInt8(ascii: "f"))
        case 0x0D: self.bytes.append(UInt8(ascii: "r"))
        default:
            self.bytes.append(contentsOf: "u00".utf8)
            self.bytes.append(Self.hexadecimal(byte >> 4))
            self.bytes.append(Self.hexadecimal(byte & 0x0F))
        }
    }

    private static func hexadecimal(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
    }
}
