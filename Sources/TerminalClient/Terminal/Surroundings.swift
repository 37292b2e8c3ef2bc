import FoundationEssentials
import Glibc

/// What the program was started in: its environment, and what its outputs are.
struct Surroundings: Sendable {
    let environment: [String: String]
    let isInputTerminal: Bool
    let isOutputTerminal: Bool

    init(environment: [String: String], isInputTerminal: Bool, isOutputTerminal: Bool) {
        self.environment = environment
        self.isInputTerminal = isInputTerminal
        self.isOutputTerminal = isOutputTerminal
    }

    static let current = Surroundings(
        environment: ProcessInfo.processInfo.environment, isInputTerminal: isatty(STDIN_FILENO) == 1,
        isOutputTerminal: isatty(STDOUT_FILENO) == 1)

    /// A variable's text; nil if it is not set or is empty.
    subscript(_ name: String) -> String? {
        guard let text = environment[name], !text.isEmpty else { return nil }
        return text
    }

    /// Whether the terminal shows other characters than ASCII (POSIX: LC_ALL, else LC_CTYPE, else LANG).
    var isUTF8: Bool {
        let locale = (self["LC_ALL"] ?? self["LC_CTYPE"] ?? self["LANG"] ?? "").lowercased()
        return locale.contains("utf-8") || locale.contains("utf8")
    }

    /// Whether lines can be drawn where they are to be.
    var hasScreen: Bool {
        isInputTerminal && isOutputTerminal && self["TERM"] != nil && self["TERM"] != "dumb"
    }

    /// Whether colours are used: NO_COLOR and TERM are looked at unless somebody has decided.
    func hasColours(_ choice: ColourChoice) -> Bool {
        switch choice {
        case .always: true
        case .never: false
        case .auto:
            self["NO_COLOR"] == nil && self["TERM"] != nil && self["TERM"] != "dumb"
                && !(self["TERM"] ?? "").hasSuffix("-mono")
        }
    }

    /// The name of a guest who has not given one: the user's.
    var userName: String {
        let name = SafeText.line(self["USER"] ?? self["LOGNAME"] ?? "")
        return name.isEmpty ? "Guest" : String(name.prefix(40))
    }
}

/// When colours are used.
package enum ColourChoice: String, Sendable, CaseIterable {
    case auto, always, never
}
