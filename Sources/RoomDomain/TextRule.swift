/// The rule for every text that people see: titles, reasons, and names, for which ``NameRule`` requires more.
package enum TextRule {
    /// The text without white space at its ends, or nil if it breaks the rule.
    ///
    /// Trimmed, it must have `length` Unicode scalars, none of them a control character (general category Cc) or a
    /// line or paragraph separator (U+2028, U+2029): each would let one name look like several lines.
    package static func accepted(_ text: String, length: ClosedRange<Int>) -> String? {
        var scalars = text.unicodeScalars[...]
        while scalars.first?.properties.isWhitespace == true { scalars.removeFirst() }
        while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
        var count = 0
        for scalar in scalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: return nil
            default: count += 1
            }
        }
        return length.contains(count) ? String(scalars) : nil
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
