import Logging
import Synchronization

/// Keeps the log messages of a process.
final class RecordingLog: Sendable {
    private let kept = Mutex<[(level: Logger.Level, message: String)]>([])

    /// The messages at this level or above, in order.
    func messages(from level: Logger.Level) -> [String] {
        kept.withLock { $0.filter { $0.level >= level }.map(\.message) }
    }

    fileprivate func keep(_ event: LogEvent) {
        kept.withLock { $0.append((event.level, event.message.description)) }
    }

    /// A logger that writes here.
    var logger: Logger {
        Logger(label: "test") { _ in Handler(log: self) }
    }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        init(log: RecordingLog) {
            self.log = log
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.keep(event)
        }
    }
}
