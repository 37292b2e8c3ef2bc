/// How many columns of a terminal a text takes.
///
/// Terminals disagree about emoji that consist of several scalars, and about characters that are newer than they are.
/// The width is therefore never taken for certain where such a character stands (``isCertain(_:)``): what follows is
/// placed by its column, not by counting.
package enum TextWidth {
    /// The columns of a text.
    package static func of(_ text: String) -> Int {
        if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// The columns of one character: 0, 1 or 2.
    package static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if first.value < 0x7F { return first.value < 0x20 ? 0 : widened(scalars) ? 2 : 1 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .control, .format, .lineSeparator, .paragraphSeparator: return 0
        default: break
        }
        return isWide(first) || widened(scalars) ? 2 : 1
    }

    /// Whether every terminal gives the character the same width.
    static func isCertain(_ character: Character) -> Bool {
        let scalars = character.unicodeScalars
        guard let first = scalars.first, scalars.count == 1 else { return false }
        if first.value < 0x2000 { return of(character) == 1 }
        switch first.value {
        // Punctuation, arrows, lines, blocks and shapes that this program writes itself; kana, ideographs, hangul.
        case 0x2010...0x2027, 0x2190...0x2193, 0x2500...0x259F, 0x25A0...0x25FC, 0x2713, 0x3041...0x3096,
            0x30A1...0x30FA, 0x4E00...0x9FFF, 0xAC00...0xD7A3:
            return true
        default: return false
        }
    }

    /// The beginning of a text that fits into a width, and the columns that it takes.
    package static func prefix(of text: String, within width: Int) -> (text: String, width: Int) {
        var (kept, used) = ("", 0)
        for character in text {
            let next = of(character)
            guard used + next <= width else { break }
            kept.append(character)
            used += next
        }
        return (kept, used)
    }

    /// The text, or as much of it as fits with an ellipsis behind it.
    package static func fitted(
        _ text: String, to width: Int, ellipsis: String = "…"
    ) -> (text: String, width: Int) {
        let whole = of(text)
        guard whole > width else { return (text, whole) }
        let mark = of(ellipsis)
        guard width > mark else { return prefix(of: text, within: max(0, width)) }
        var (kept, used) = prefix(of: text, within: width - mark)
        while kept.last == " " {
            kept.removeLast()
            used -= 1
        }
        return (kept + ellipsis, used + mark)
    }

    /// The emoji selector makes some narrow signs wide, and a keycap of a digit.
    private static func widened(_ scalars: Character.UnicodeScalarView) -> Bool {
        scalars.count > 1 && scalars.contains { $0.value == 0xFE0F || $0.value == 0x20E3 }
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.isEmojiPresentation { return true }
        let value = scalar.value
        guard value >= 0x1100 else { return false }
        return wide.contains { $0.contains(value) }
    }

    /// East Asian Width W and F (UAX 11), without emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x4E00...0xA4CF, 0xAC00...0xD7A3, 0x3041...0x33FF, 0x3400...0x4DBF, 0xFF01...0xFF60, 0x1100...0x115F,
        0x2329...0x232A, 0x2E80...0x303E, 0xA960...0xA97F, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
        0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1D300...0x1D376, 0x1F200...0x1F202,
        0x1F210...0x1F23B, 0x1F240...0x1F248, 0x1F250...0x1F251, 0x20000...0x3FFFD,
    ]
}
