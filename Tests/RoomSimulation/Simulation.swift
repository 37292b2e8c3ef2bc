import SimulatedTime

/// Runs one world after the other.
package enum Simulation {
    /// The result of one world.
    package struct Verdict: Sendable {
        /// Its seed.
        package var seed: UInt64
        /// The violations found; empty if there are none.
        package var complaints: [String]
        /// A number that a replay must reproduce.
        package var digest: UInt64
        /// The number of jobs that ran.
        package var steps: Int
        /// The number of events in its log.
        package var events: Int
    }

    /// The most jobs that a world may take: many times the largest number seen.
    private static let steps = 5_000_000

    /// Runs the world of a seed; `trace` receives a description of each step.
    package static func run(seed: UInt64, trace: (@Sendable (String) -> Void)? = nil) -> Verdict {
        let world = World(seed: seed, trace: trace)
        let (scheduler, truth) = (world.scheduler, world.truth)
        world.next { $0.begin() }
        switch scheduler.run(until: { world.isOver || truth.hasComplaints }, steps: steps) {
        case .reached: break
        case .idle: truth.complain("nothing is left to do, and not everybody is done")
        case .outOfSteps: truth.complain("it does not come to an end")
        }
        var verdict = Verdict(
            seed: seed, complaints: truth.close(), digest: scheduler.digest, steps: scheduler.steps,
            events: truth.rooms.reduce(0) { $0 + truth.head(of: $1) })
        if !world.end() { verdict.complaints.append("tasks are left over") }
        return verdict
    }
}
