/// Text from a network, made harmless for a terminal.
///
/// Titles and names may hold anything: an escape sequence in a title would move the cursor, change colours, or worse.
/// Everything that a terminal carries out, and everything that changes the order of what stands beside it, is left out:
/// control characters of both ranges, line breaks, directional marks, overrides and isolates, tags. Every text that
/// goes to a terminal goes through here, in ``Line/put(_:at:within:ink:)`` or in ``PlainOutput``.
package enum SafeText {
    /// The most marks on one character that are shown: scripts use up to four, towers of them cover other lines.
    static let mostMarks = 6

    /// The text on one line, without anything but visible characters and spaces.
    package static func line(_ text: String) -> String {
        guard !isHarmless(text) else { return text }
        var safe = String.UnicodeScalarView()
        var marks = 0
        for scalar in text.unicodeScalars {
            let category = scalar.properties.generalCategory
            switch category {
            case .nonspacingMark, .enclosingMark: marks += 1
            default: marks = 0
            }
            switch category {
            case .lineSeparator, .paragraphSeparator, .spaceSeparator: safe.append(" ")
            case .control: if "\t\n\r\u{B}\u{C}\u{85}".unicodeScalars.contains(scalar) { safe.append(" ") }
            // Joiners belong to emoji and to several scripts; they take no place and change no order.
            case .format: if scalar.value == 0x200C || scalar.value == 0x200D { safe.append(scalar) }
            case .nonspacingMark, .enclosingMark: if marks <= mostMarks { safe.append(scalar) }
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .spacingMark,
                .decimalNumber, .letterNumber, .otherNumber, .connectorPunctuation, .dashPunctuation, .openPunctuation,
                .closePunctuation, .initialPunctuation, .finalPunctuation, .otherPunctuation, .mathSymbol,
                .currencySymbol, .modifierSymbol, .otherSymbol, .surrogate, .privateUse, .unassigned:
                if !isFiller(scalar) { safe.append(scalar) }
            @unknown default: break
            }
        }
        return String(safe)
    }

    /// The text in ASCII, for terminals that show nothing else: letters without their accents, `?` for other signs.
    package static func ascii(_ text: String) -> String {
        guard !isHarmless(text) else { return text }
        var plain = ""
        for character in line(text) {
            if let ascii = character.asciiValue {
                plain.append(Character(UnicodeScalar(ascii)))
            } else {
                plain += PlainLetters.of(character)
            }
        }
        return plain
    }

    /// Whether every byte is a visible ASCII character or a space.
    private static func isHarmless(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } }

    /// Letters without a shape, which take a place in one terminal and none in another.
    private static func isFiller(_ scalar: Unicode.Scalar) -> Bool {
        [0x115F, 0x1160, 0x3164, 0xFFA0].contains(scalar.value)
    }
}
