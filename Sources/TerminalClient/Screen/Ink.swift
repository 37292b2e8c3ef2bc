/// What a part of a line means; the palette decides how it looks.
package enum Ink: Sendable, Equatable, CaseIterable {
    case plain
    /// Less important than what stands beside it.
    case faint
    /// A heading, or the song on air.
    case strong
    /// The list that has the keys, and the part of the song that was heard.
    case accent
    /// All is well.
    case good
    /// Somebody has to know.
    case warning
    /// A vote of one's own.
    case mine
    /// The row that has the keys.
    case chosen
}

/// How inks look: the sixteen colours that every terminal lets its user choose, or none.
///
/// No colour is ever the only sign of something. Black and white are never asked for, so the palette fits dark and light
/// backgrounds.
package struct Palette: Sendable, Equatable {
    /// Whether colours are used; bold, faint and reverse always are.
    package let hasColours: Bool

    package init(hasColours: Bool) { self.hasColours = hasColours }

    /// The attributes of an ink, as SGR has them (ECMA-48 §8.3.117), from the default on.
    func attributes(of ink: Ink) -> String {
        switch ink {
        case .plain: "0"
        case .faint: "0;2"
        case .strong: "0;1"
        case .accent: hasColours ? "0;1;36" : "0;1"
        case .good: hasColours ? "0;32" : "0"
        case .warning: hasColours ? "0;1;31" : "0;1;7"
        case .mine: hasColours ? "0;35" : "0;1"
        case .chosen: "0;7"
        }
    }
}

/// The signs that a screen is drawn with: a terminal whose locale is not UTF-8 gets ASCII.
package struct Signs: Sendable, Equatable {
    package let isASCII: Bool

    package init(isASCII: Bool) { self.isASCII = isASCII }

    var ellipsis: String { isASCII ? "..." : "…" }
    var rule: String { isASCII ? "-" : "─" }
    var heard: String { isASCII ? "=" : "━" }
    var knob: String { isASCII ? ">" : "●" }
    var playing: String { isASCII ? ">" : "▶" }
    var paused: String { isASCII ? "=" : "‖" }
    var stopped: String { isASCII ? "-" : "■" }
    var pointer: String { isASCII ? ">" : "›" }
    var mine: String { isASCII ? "*" : "✓" }
    var live: String { isASCII ? "*" : "●" }
    var lost: String { isASCII ? "!" : "○" }
    /// A member who is not here.
    var away: String { isASCII ? "o" : "○" }
    var dot: String { isASCII ? "|" : "·" }
    var dash: String { isASCII ? "-" : "–" }
    var waveform: [String] {
        isASCII ? [" ", "_", ".", "-", ":", "=", "+", "*", "#"] : [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    }

    /// A text in quotation marks.
    func quoted(_ text: String) -> String { isASCII ? "\"\(text)\"" : "“\(text)”" }
}
