/// The rule for every text that people see: titles, reasons, and names, for which ``NameRule`` requires more.
package enum TextRule {
    /// The text without white space at its ends, or nil if it breaks the rule.
    ///
    /// Trimmed, it must have `length` Unicode scalars, none of them a control character (general category Cc) or a
    /// line or paragraph separator (U+2028, U+2029): each would let one name look like several lines.
    package static func accepted(_ text: String, length: ClosedRange<Int>) -> String? {
        let scalars = trimmed(text.unicodeScalars[...])
        var count = 0
        for scalar in scalars {
            guard !isControl(scalar) else { return nil }
            count += 1
        }
        return length.contains(count) ? String(scalars) : nil
    }

    /// The text without white space at its ends.
    static func trimmed(_ text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
        var scalars = text
        while scalars.first?.properties.isWhitespace == true { scalars.removeFirst() }
        while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
        return scalars
    }

    /// Whether it is a character that no text may have.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    /// Returns the accepted text; refuses with the field's name and its range.
    static func require(_ text: String, _ field: String, _ length: ClosedRange<Int>) throws(RoomRefusal) -> String {
        guard let accepted = accepted(text, length: length) else {
            throw .badRequest(
                "\(field) must have \(length.lowerBound) to \(length.upperBound) characters and no control characters")
        }
        return accepted
    }
}
