import ByteText

/// The fields of an HTTP head in their order; names are compared without regard to ASCII case.
package struct HeaderFields: Equatable, Sendable {
    /// Every field, including repeated ones.
    package private(set) var all: [HeaderField]

    /// Makes the fields of a head, kept in this order.
    package init(_ all: [HeaderField] = []) {
        self.all = all
    }

    /// Adds a field after the others.
    package mutating func append(_ field: HeaderField) {
        self.all.append(field)
    }

    /// The value of the first field called `name`.
    package subscript(_ name: String) -> String? {
        self.all.first { asciiCaseInsensitiveEqual($0.name, name) }?.value
    }

    /// The values of all fields called `name`, in order.
    package func values(of name: String) -> [String] {
        self.all.filter { asciiCaseInsensitiveEqual($0.name, name) }.map(\.value)
    }

    /// The value of the field called `name`, or `nil` if it is missing or repeated.
    package func onlyValue(of name: String) -> String? {
        let values = self.values(of: name)
        return values.count == 1 ? values[0] : nil
    }

    /// The comma-separated elements of all fields called `name` (RFC 9110 §5.6.1).
    ///
    /// White space around elements and empty elements are left out. It is meant for lists of tokens: commas inside
    /// quoted strings separate elements too.
    package func elements(of name: String) -> [String] {
        self.values(of: name).flatMap { value in
            value.utf8.split(separator: UInt8(ascii: ",")).compactMap { element in
                let text = trimmingWhitespace(Substring(element))
                return text.isEmpty ? nil : String(text)
            }
        }
    }

    /// Whether `token` is one of the elements of `name`, without regard to ASCII case.
    package func contains(_ token: String, in name: String) -> Bool {
        self.elements(of: name).contains { asciiCaseInsensitiveEqual($0, token) }
    }
}

/// Whether two texts are equal except for the case of ASCII letters (RFC 9110 §5.1, §7.6.1, §7.8).
func asciiCaseInsensitiveEqual(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count
        && zip(left.utf8, right.utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
}

/// The text without spaces and tabs at its ends (RFC 9110 §5.6.3: OWS).
func trimmingWhitespace(_ text: Substring) -> Substring {
    let isWhitespace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    guard let first = text.utf8.firstIndex(where: { !isWhitespace($0) }),
        let last = text.utf8.lastIndex(where: { !isWhitespace($0) })
    else { return "" }
    return Substring(text.utf8[first...last])
}
