/// Runs one world after the other.
package enum Simulation {
    /// What became of one world.
    package struct Verdict: Sendable {
        /// What it was made from.
        package var seed: UInt64
        /// What must not have been; empty where all is well.
        package var complaints: [String]
        /// A number that a replay must give again.
        package var digest: UInt64
        /// How many jobs were run.
        package var steps: Int
        /// How many events its log holds.
        package var events: Int
    }

    /// The most jobs that a world may take: many times what any has been seen to take.
    private static let steps = 5_000_000

    /// Runs the world of a seed; `trace` is told what happens.
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
