import ArgumentParser
import Foundation
import RoomSimulation
import RoomTestSupport

/// Runs simulated worlds and reports the ones that went wrong.
@main struct SimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate", abstract: "Runs the rooms of several servers in simulated worlds, one a seed.")

    @Option(help: "How many worlds.") var seeds = 1_000
    @Option(help: "The first seed.") var first: UInt64 = 0
    @Option(help: "Replays the world of one seed, and prints what happens.") var seed: UInt64?
    @Option(help: "No worlds: so many events in rooms by themselves, and all that must hold looked at after each.")
    var events: Int?
    @Flag(help: "Ends with the first world that goes wrong.") var stopAtFirst = false

    func run() throws {
        Self.fixHashing()
        if let events { return try playRooms(events) }
        if let seed { return try replay(seed) }
        let start = ContinuousClock.now
        var (failed, events, steps) = (0, 0, 0)
        for number in 0..<UInt64(seeds) {
            let verdict = Simulation.run(seed: first + number)
            events += verdict.events
            steps += verdict.steps
            if !verdict.complaints.isEmpty {
                failed += 1
                if failed <= 20 { print("seed \(verdict.seed) after \(number + 1) worlds: \(verdict.complaints[0])") }
                if stopAtFirst { break }
            }
            if (number + 1) % 1_000 == 0, number + 1 < seeds {
                print("\(number + 1) worlds, \(failed) failed, \(Self.speed(number + 1, since: start))")
            }
        }
        let speed = Self.speed(UInt64(seeds), since: start)
        print("\(seeds) worlds, \(failed) failed, \(events) events, \(steps) jobs, \(speed)")
        if failed > 0 { throw ExitCode.failure }
    }

    private func playRooms(_ events: Int) throws {
        let start = ContinuousClock.now
        do {
            let tally = try RandomRoom.play(events: events, seed: seed ?? first)
            let kinds = tally.kinds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            print(kinds.joined(separator: ", "))
            print("\(tally.events) events in \(tally.rooms) rooms, \(tally.refusals) refusals, all whole")
            print("\(ContinuousClock.now - start)")
        } catch {
            print(error)
            throw ExitCode.failure
        }
    }

    private func replay(_ seed: UInt64) throws {
        let verdict = Simulation.run(seed: seed) { print($0) }
        print("seed \(seed), \(verdict.steps) jobs, digest \(String(verdict.digest, radix: 16))")
        for complaint in verdict.complaints { print(complaint) }
        if !verdict.complaints.isEmpty { throw ExitCode.failure }
    }

    private static func speed(_ worlds: UInt64, since start: ContinuousClock.Instant) -> String {
        let elapsed = (ContinuousClock.now - start).components
        let seconds = Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18
        return String(format: "%.0f worlds/s", Double(worlds) / max(seconds, 0.001))
    }

    /// Restarts this program with hashing that is the same in every process: the order of sets and dictionaries is a
    /// part of a replay.
    private static func fixHashing() {
        let name = "SWIFT_DETERMINISTIC_HASHING"
        guard ProcessInfo.processInfo.environment[name] == nil else { return }
        // No other thread reads the environment or the arguments.
        unsafe setenv(name, "1", 1)
        _ = unsafe execv("/proc/self/exe", CommandLine.unsafeArgv)
        fatalError("the program cannot be started anew")
    }
}
