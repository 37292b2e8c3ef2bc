import InMemoryLogging
import Logging

extension InMemoryLogHandler {
    /// A logger that writes here, whatever the level.
    var logger: Logger {
        var handler = self
        handler.logLevel = .trace
        return Logger(label: "test") { [handler] _ in handler }
    }

    /// The messages at this level or above, in order.
    func messages(from level: Logger.Level) -> [String] {
        entries.filter { $0.level >= level }.map(\.message.description)
    }
}
