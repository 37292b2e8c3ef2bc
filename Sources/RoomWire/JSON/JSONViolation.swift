/// The reason why bytes are not the expected JSON (RFC 8259); offsets count bytes from 0.
package enum JSONViolation: Error, Sendable, Equatable {
    /// The text ends before the value does.
    case unexpectedEnd
    /// A byte that no rule of the grammar allows here.
    case unexpectedByte(offset: Int)
    /// Something other than white space follows the value.
    case trailingBytes(offset: Int)
    /// A string that starts at `offset` and contains bytes that are not UTF-8.
    case invalidUTF8(offset: Int)
    /// An unescaped control character in a string.
    case controlCharacter(offset: Int)
    /// A backslash that does not begin an escape.
    case invalidEscape(offset: Int)
    /// An escaped surrogate without its other half.
    case loneSurrogate(offset: Int)
    /// A number in a form that JSON does not have: a leading zero, a bare sign, no digit after the point.
    case invalidNumber(offset: Int)
    /// A number whose magnitude no `Double` can hold.
    case numberOutOfRange(offset: Int)
    /// Arrays and objects nested deeper than `limit`.
    case tooDeep(limit: Int)
}

extension JSONViolation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unexpectedEnd: "the text ends too early"
        case .unexpectedByte(let offset): "unexpected byte at offset \(offset)"
        case .trailingBytes(let offset): "something follows the value at offset \(offset)"
        case .invalidUTF8(let offset): "the string at offset \(offset) is not UTF-8"
        case .controlCharacter(let offset): "unescaped control character at offset \(offset)"
        case .invalidEscape(let offset): "invalid escape at offset \(offset)"
        case .loneSurrogate(let offset): "surrogate without its other half at offset \(offset)"
        case .invalidNumber(let offset): "malformed number at offset \(offset)"
        case .numberOutOfRange(let offset): "number out of range at offset \(offset)"
        case .tooDeep(let limit): "nested deeper than \(limit) levels"
        }
    }
}
