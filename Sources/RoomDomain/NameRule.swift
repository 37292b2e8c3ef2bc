/// The rule for names of people and rooms, in addition to ``TextRule``, which holds for every text.
///
/// A name stands among other people's text. A name that cannot be seen, that looks like a different name, or that
/// reverses the direction of the text after it would let its bearer pass for somebody else, or for nobody. A name
/// therefore has at least one visible character, and no character that only controls how others are displayed, except
/// where names need one:
/// - U+200C and U+200D between letters (Persian, Indic scripts) and after a virama; U+200D also between emoji;
/// - U+200E and U+200F (Hebrew, Arabic);
/// - variation selectors after a character that has variants: U+FE0E and U+FE0F after an emoji, the ideographic and the
///   Mongolian ones after ideographs and Mongolian letters.
///
/// Tag characters are refused everywhere, and with them the flags of subdivisions (England, Scotland, Wales). The fold
/// does not apply this rule: names that a log already holds stay as they are.
package enum NameRule {
    /// The name without white space at its ends, or nil if it breaks the rule.
    ///
    /// O(length of `text`).
    package static func accepted(_ text: String, length: ClosedRange<Int>) -> String? {
        guard let name = TextRule.accepted(text, length: length) else { return nil }
        let scalars = Array(name.unicodeScalars)
        guard scalars.contains(where: isVisible) else { return nil }
        for (index, scalar) in scalars.enumerated() where directs(scalar) {
            let before = index > 0 ? scalars[index - 1] : nil
            let after = index + 1 < scalars.count ? scalars[index + 1] : nil
            // An emoji shown in colour has a variation selector between itself and a joiner.
            let behind = index > 1 && before == Self.emojiStyle ? scalars[index - 2] : before
            guard isAllowed(scalar, before: before, behind: behind, after: after) else { return nil }
        }
        return name
    }

    /// Returns the accepted name; refuses with the field's name and the requirement.
    static func require(_ text: String, _ field: String, _ length: ClosedRange<Int>) throws(RoomRefusal) -> String {
        guard let accepted = accepted(text, length: length) else {
            throw .badRequest("\(field) must have \(requirement(length))")
        }
        return accepted
    }

    /// The requirement for a name, worded as the end of a sentence ("… must have …").
    package static func requirement(_ length: ClosedRange<Int>) -> String {
        "\(length.lowerBound) to \(length.upperBound) characters, one of them visible, "
            + "and no control, invisible or direction characters"
    }

    // MARK: Characters

    private static let joiner: Unicode.Scalar = "\u{200D}"
    private static let nonJoiner: Unicode.Scalar = "\u{200C}"
    private static let emojiStyle: Unicode.Scalar = "\u{FE0F}"
    private static let keycap: Unicode.Scalar = "\u{20E3}"

    /// Visible characters of category Cf: they stand around or before digits (Prepended_Concatenation_Mark).
    private static let seenSigns: [ClosedRange<UInt32>] = [
        0x0600...0x0605, 0x06DD...0x06DD, 0x070F...0x070F, 0x0890...0x0891, 0x08E2...0x08E2, 0x110BD...0x110BD,
        0x110CD...0x110CD,
    ]

    /// Characters of visible categories that show nothing: the blank braille pattern and the null note head.
    private static let blanks: Set<UInt32> = [0x2800, 0x1D159]

    /// Whether the character shows nothing by itself: it controls how others are displayed, or is not displayed at all.
    private static func directs(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isDefaultIgnorableCodePoint || properties.isBidiControl || properties.isVariationSelector {
            return true
        }
        return properties.generalCategory == .format && !seenSigns.contains { $0.contains(scalar.value) }
    }

    /// Whether a reader of the name sees the character: no white space, no mark that needs a base, nothing blank.
    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        guard !properties.isWhitespace, !isMark(scalar), !blanks.contains(scalar.value) else { return false }
        return !directs(scalar)
    }

    private static func isAllowed(
        _ scalar: Unicode.Scalar, before: Unicode.Scalar?, behind: Unicode.Scalar?, after: Unicode.Scalar?
    ) -> Bool {
        switch scalar.value {
        case 0x200E, 0x200F: return true
        case 0x200C, 0x200D:
            if let before, before.properties.canonicalCombiningClass == .virama { return true }
            if let before, let after, isOfWord(before), isOfWord(after) { return true }
            guard scalar == joiner, let behind, let after else { return false }
            return isPicture(behind) && isPicture(after)
        case 0xFE0E, 0xFE0F:
            guard let before, before.properties.isEmoji else { return false }
            // Digits are emoji only with a keycap.
            return !before.isASCII || after == keycap
        case 0xFE00...0xFE02, 0xE0100...0xE01EF: return before?.properties.isUnifiedIdeograph == true
        case 0x180B...0x180D, 0x180F: return before.map { (0x1820...0x18AA).contains($0.value) } == true
        default: return false
        }
    }

    private static func isPicture(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isEmoji && !scalar.isASCII
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Whether it is a letter, or a mark that belongs to one.
    private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: !directs(scalar)
        default: isMark(scalar) && !directs(scalar)
        }
    }
}
