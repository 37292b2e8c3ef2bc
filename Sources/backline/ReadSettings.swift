import ArgumentParser
import NIOCore
import PushServer
import RoomService

/// The limits on concurrent work outside the event loops.
struct ReadSettings: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Reads of logs that run at a time, and as many reads of pools, on threads of their own. More wait for their turn. [BACKLINE_MAX_HEAVY_READS; default: half the number of processors, at least 1]",
            valueName: "n"))
    var maxHeavyReads: String?

    /// Applies the settings that are given.
    func apply(to settings: inout RoomHostSettings) throws {
        // One of two processors is left to the event loops: the system takes some milliseconds to preempt a thread.
        let count = try Setting.count(maxHeavyReads, "max-heavy-reads", in: 1...64) ?? max(1, System.coreCount / 2)
        settings.heavyWork.sideBySide[.log] = count
        settings.heavyWork.sideBySide[.pool] = count
        settings.heavyWork.sideBySide[.statistics] = max(1, min(2, System.coreCount / 2))
    }
}

/// The threads for work that grows with a room or a log: one for each task that may run concurrently.
struct HeavyWorkThreads {
    private let threads: [HeavyWorkKind: WorkerThreads]

    /// Starts the threads.
    init(for limits: HeavyWork.Limits) {
        threads = Dictionary(
            uniqueKeysWithValues: HeavyWorkKind.allCases.map { kind in
                (kind, WorkerThreads(count: limits.sideBySide[kind] ?? 1, niceness: Self.niceness(of: kind)))
            })
    }

    /// Event loops come first, then work for all followers of a room, then work for one session.
    private static func niceness(of kind: HeavyWorkKind) -> Int32 {
        switch kind {
        case .encoding: 2
        case .pool: 5
        case .log, .statistics, .watched: 10
        }
    }

    /// Returns the executor for a kind of work.
    func executor(of kind: HeavyWorkKind) -> (any TaskExecutor)? { threads[kind] }

    /// Stops the threads once the waiting work has run.
    func stop() async {
        for pool in threads.values { await pool.stop() }
    }
}
