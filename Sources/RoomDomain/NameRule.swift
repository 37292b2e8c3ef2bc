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
/// Such characters come along where a name is pasted, and nobody sees them: out of these places they are removed. Tag
/// characters are refused, since without them a flag (England, Scotland, Wales) would be another picture. The fold does
/// not apply this rule: names that a log already holds stay as they are.
package enum NameRule {
    /// What keeps a text from being a name.
    package enum Fault: Error, Hashable {
        /// A character that is refused.
        case character(Unicode.Scalar)
        /// Too many characters, or nothing that is seen.
        case length(ClosedRange<Int>)

        /// The fault as the end of a sentence ("name must …").
        package var requirement: String {
            switch self {
            case .character(let scalar):
                let digits = String(scalar.value, radix: 16, uppercase: true)
                let name = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
                let kind = NameRule.isTag(scalar) ? "an invisible tag character" : "a control character"
                return "not have \(name), which is \(kind)"
            case .length(let length):
                return "have \(length.lowerBound) to \(length.upperBound) characters, one of them visible"
            }
        }
    }

    /// The name without white space at its ends and without invisible characters that it does not need.
    ///
    /// O(length of `text`).
    package static func accepted(_ text: String, length: ClosedRange<Int>) throws(Fault) -> String {
        let name = TextRule.trimmed(cleaned(text)[...])
        if let refused = name.first(where: { TextRule.isControl($0) || isTag($0) }) { throw .character(refused) }
        guard length.contains(name.count), name.contains(where: isVisible) else { throw .length(length) }
        return String(name)
    }

    /// Returns the accepted name; refuses with the field's name and the requirement.
    static func require(_ text: String, _ field: String, _ length: ClosedRange<Int>) throws(RoomRefusal) -> String {
        do {
            return try accepted(text, length: length)
        } catch {
            throw .badRequest("\(field) must \(error.requirement)")
        }
    }

    /// The text without characters that direct others where no name needs them.
    ///
    /// A cleaned text stays as it is when it is cleaned again: what is kept depends only on what is kept.
    private static func cleaned(_ text: String) -> String.UnicodeScalarView {
        var name = String.UnicodeScalarView()
        let scalars = Array(text.unicodeScalars.lazy.filter { !directs($0) || mayStay($0) || isTag($0) })
        var (before, beforeThat): (Unicode.Scalar?, Unicode.Scalar?)
        for (index, scalar) in scalars.enumerated() {
            let after = index + 1 < scalars.count ? scalars[index + 1] : nil
            // An emoji shown in colour has a variation selector between itself and a joiner.
            let behind = before == emojiStyle ? beforeThat : before
            guard !directs(scalar) || isTag(scalar) || isAllowed(scalar, before: before, behind: behind, after: after)
            else { continue }
            name.append(scalar)
            (before, beforeThat) = (scalar, before)
        }
        return name
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

    fileprivate static func isTag(_ scalar: Unicode.Scalar) -> Bool { (0xE0000...0xE007F).contains(scalar.value) }

    /// Whether there is a place where the character may stand, though it shows nothing by itself.
    private static func mayStay(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x200C...0x200F, 0xFE00...0xFE02, 0xFE0E, 0xFE0F, 0xE0100...0xE01EF, 0x180B...0x180D, 0x180F: true
        default: false
        }
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
