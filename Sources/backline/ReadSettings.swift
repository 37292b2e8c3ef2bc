import ArgumentParser
import NIOCore
import PushServer
import RoomService

/// How much work beside the event loops runs side by side.
struct ReadSettings: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Reads of logs that run side by side, and as many of pools, on threads of their own; more wait for their turn. [BACKLINE_MAX_HEAVY_READS; default: half the number of processors, at least 1]",
            valueName: "n"))
    var maxHeavyReads: String?

    /// Sets what is given.
    func apply(to settings: inout RoomHostSettings) throws {
        // One processor of two is left to the event loops: who steps back does so after some milliseconds only.
        let count = try Setting.count(maxHeavyReads, "max-heavy-reads", in: 1...64) ?? max(1, System.coreCount / 2)
        settings.heavyWork.sideBySide[.log] = count
        settings.heavyWork.sideBySide[.pool] = count
    }
}

/// The threads of work that grows with a room or a log: as many as run side by side.
struct HeavyWorkThreads {
    private let threads: [HeavyWorkKind: WorkerThreads]

    /// Starts them.
    init(for limits: HeavyWork.Limits) {
        threads = Dictionary(
            uniqueKeysWithValues: HeavyWorkKind.allCases.map { kind in
                (kind, WorkerThreads(count: limits.sideBySide[kind] ?? 1, niceness: Self.niceness(of: kind)))
            })
    }

    /// Event loops come first, then what a room needs for all who follow it, then what one session asks for.
    private static func niceness(of kind: HeavyWorkKind) -> Int32 {
        switch kind {
        case .encoding: 2
        case .pool: 5
        case .log: 10
        }
    }

    /// Where a kind of work runs.
    func executor(of kind: HeavyWorkKind) -> (any TaskExecutor)? { threads[kind] }

    /// Ends them once what waits for them has run.
    func stop() async {
        for pool in threads.values { await pool.stop() }
    }
}
