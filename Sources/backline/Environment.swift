import ArgumentParser
import FoundationEssentials

/// Settings from environment variables; a flag overrides its variable.
enum Environment {
    /// All variables.
    static let all = ProcessInfo.processInfo.environment

    /// A variable's text; nil if it is not set, is empty, or is the platform's own.
    static subscript(_ name: String) -> String? {
        guard let text = all[name], !text.isEmpty, !isServiceAddress(name, text) else { return nil }
        return text
    }

    /// Whether the platform has set the variable of the port to the address of a service.
    ///
    /// Kubernetes and Docker set `NAME_PORT=tcp://ADDRESS:PORT` for each service beside a container, and the name may be
    /// `backline`.
    static var portIsAService: Bool { isServiceAddress(port, all[port] ?? "") }

    private static let port = variable("port")

    private static func isServiceAddress(_ name: String, _ text: String) -> Bool {
        name == port && ["tcp://", "udp://", "sctp://"].contains { text.hasPrefix($0) }
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
