import EventStorage
import LogMaintenance
import SimulatedTime
import Synchronization

/// The log that all servers of a world share: the reference store, watched by the oracle.
///
/// It survives all crashes. Each call takes effect within one job.
final class SimulatedLog: Sendable {
    static let unreachable = StorageFault.unreachable(.init(message: "nobody there"))
    static let deadlock = StorageFault.transient(.init(message: "a deadlock"))
    static let answerLost = StorageFault.outcomeUnknown(.init(message: "the answer was lost"))

    let scheduler: Scheduler
    let dice: Dice
    let truth: Truth
    /// The lane in which calls take effect.
    let lane: Scheduler.Lane
    /// The number of unfinished tasks of servers.
    let tasks = Atomic(0)
    private let memory = MemoryEventStore()
    private let executor = ImmediateExecutor()
    private let weatherNow = Mutex(Weather.calm)
    private let over = Mutex(false)

    init(_ scheduler: Scheduler, _ dice: Dice, _ truth: Truth) {
        self.scheduler = scheduler
        self.dice = dice
        self.truth = truth
        lane = scheduler.makeLane(isOrdered: false)
    }

    var weather: Weather {
        get { weatherNow.withLock { $0 } }
        set { weatherNow.withLock { $0 = newValue } }
    }

    /// Whether the world has ended: every call then fails, so that remaining tasks end.
    var isOver: Bool {
        get { over.withLock { $0 } }
        set { over.withLock { $0 = newValue } }
    }

    /// The findings of a verification of the whole log, one line each.
    func verify() -> [String] {
        let memory = memory
        return executor.run { () async -> [String] in
            let findings = Mutex<[String]>([])
            let verifier = LogVerifier(memory) { finding in findings.withLock { $0.append("\(finding)") } }
            do throws(StorageFault) {
                _ = try await verifier.verify()
            } catch {
                return ["it cannot be read: \(error)"]
            }
            return findings.withLock { $0 }
        }
    }

    /// Runs a call on the log at once.
    func carryOut<Answer: Sendable>(
        _ body: @escaping @Sendable (MemoryEventStore) async throws(StorageFault) -> Answer
    ) -> Result<Answer, StorageFault> {
        let memory = memory
        return executor.run { () async -> Result<Answer, StorageFault> in
            do throws(StorageFault) {
                return .success(try await body(memory))
            } catch {
                return .failure(error)
            }
        }
    }
}
