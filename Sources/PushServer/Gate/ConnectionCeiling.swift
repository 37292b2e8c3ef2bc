import Logging
import NIOCore
import PrometheusMetrics
import Synchronization

/// Counts the connections that the process has accepted, so that it never runs out of file descriptors.
///
/// Connections are not the only ones that need descriptors: the system's thread library opens files of `/proc`, and ends
/// the process where it cannot. So a part of them is never given to connections.
final class ConnectionCeiling: Sendable {
    /// The descriptors that are left for everything else: 64, and as many for connections that were accepted together
    /// with the one that reached the ceiling.
    static let reserve = 64 + Int(acceptedTogether)
    /// The most connections that a listener accepts together.
    static let acceptedTogether: UInt = 64
    private static let timeBetweenLines = TimeAmount.minutes(1)

    private let maximum: Int
    private let count = Atomic(0)
    private let logger: Logger
    private let toldAt = Mutex<NIODeadline?>(nil)

    /// Makes a ceiling of so many connections.
    init(_ maximum: Int, logger: Logger) {
        self.maximum = maximum
        self.logger = logger
    }

    /// Makes the ceiling of a process in its present state: what it may have open, without what is open, the reserve and
    /// `others`, the most connections that do not count.
    convenience init(of process: ProcessReading?, besides others: Int = 0, logger: Logger) {
        // No system has a higher limit that is one.
        let limit = process.map { Int(min($0.fileLimit, Double(Int32.max))) } ?? .max
        self.init(max(1, limit - (process?.openFiles ?? 0) - Self.reserve - others), logger: logger)
    }

    /// Whether no further connection may be accepted.
    var isReached: Bool { count.load(ordering: .relaxed) >= maximum }

    /// Counts an accepted connection until it is closed.
    func add(_ connection: any Channel) {
        count.wrappingAdd(1, ordering: .relaxed)
        connection.closeFuture.whenComplete { _ in self.count.wrappingSubtract(1, ordering: .relaxed) }
    }

    /// Tells the operator, once a minute, that connections wait.
    func tell(at now: NIODeadline) {
        let isTold = toldAt.withLock { toldAt in
            if let last = toldAt, now - last < Self.timeBetweenLines { return true }
            toldAt = now
            return false
        }
        guard !isTold else { return }
        logger.warning(
            """
            No further connections are accepted until some are closed: nearly all files are open that the process may \
            have open; raise the limit (ulimit -n, LimitNOFILE)
            """,
            metadata: ["connections": "\(count.load(ordering: .relaxed))"])
    }
}
