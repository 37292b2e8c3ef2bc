import ArgumentParser
import FoundationEssentials

/// Settings from environment variables; a flag overrides its variable.
enum Environment {
    /// All variables.
    static let all = ProcessInfo.processInfo.environment

    /// A variable's text; nil if it is not set or is empty.
    static subscript(_ name: String) -> String? {
        guard let text = all[name], !text.isEmpty else { return nil }
        return text
    }

    /// The variable for a flag.
    static func variable(_ flag: String) -> String {
        "BACKLINE_" + flag.uppercased().replacing("-", with: "_")
    }

    /// A variable's value, parsed as the value of its flag.
    static func value<Value: ExpressibleByArgument>(_ name: String) throws -> Value? {
        guard let text = self[name] else { return nil }
        guard let value = Value(argument: text) else {
            let choices = Value.allValueStrings
            let expected = choices.isEmpty ? "" : "; expected one of \(choices.joined(separator: ", "))"
            throw Failure.usage("\(name): '\(text)' is not valid\(expected)")
        }
        return value
    }

    /// Whether a variable is set to 1, true or yes.
    static func isSet(_ name: String) throws -> Bool {
        guard let text = self[name]?.lowercased() else { return false }
        if ["1", "true", "yes"].contains(text) { return true }
        if ["0", "false", "no"].contains(text) { return false }
        throw Failure.usage("\(name): '\(text)' is not valid; expected true or false")
    }
}
