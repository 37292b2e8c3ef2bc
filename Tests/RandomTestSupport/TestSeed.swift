import FoundationEssentials
import Glibc

/// The seeds of tests whose input is random.
///
/// `ArchitectureTests` ensure that every such test takes its seed from here. An integer in the environment variable
/// `BACKLINE_SEED` therefore repeats a run, and `Scripts/seeds` runs all such tests with one seed after the other.
package enum TestSeed {
    /// The seed in `BACKLINE_SEED`; nil if it is not set.
    package static let given = number("BACKLINE_SEED")
    /// The seed in `BACKLINE_NEW_SEED`, which tests take as new, so that each run of the gate has the same; nil if it is
    /// not set.
    private static let drawn = number("BACKLINE_NEW_SEED")

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    /// A new seed for one run of a test, or the given one; it is printed with the test's name.
    package static func fresh(_ test: String = #function) -> UInt64 {
        let seed = given ?? drawn ?? .random(in: 0...999_999_999)
        print("\(test): BACKLINE_SEED=\(seed)")
        // It is told even if the test hangs, and the process is ended.
        fflush(nil)
        return seed
    }

    /// Seeds for a random test.
    ///
    /// Some are the same in every run, and one is new and is printed. If a seed is given, it is the only one.
    package static func several(_ count: Int = 4, _ test: String = #fileID) -> [UInt64] {
        (given == nil ? Array(1..<UInt64(count)) : []) + [fresh((test))]
    }

    /// The seed that a test names, which is the same in every run; each given seed changes it.
    package static func fixed(_ seed: UInt64) -> UInt64 {
        seed &+ (given ?? 0) &* 1_000_000
    }

    /// Seeds that a test names; a given seed replaces them by as many others, which are consecutive as these are.
    package static func fixed(_ seeds: some Sequence<UInt64>) -> [UInt64] {
        seeds.map { fixed($0) }
    }
}

extension SeededRandom {
    /// A generator with a fresh seed, which is printed with the test's name.
    package static func fresh(_ test: String = #function) -> SeededRandom { SeededRandom(seed: TestSeed.fresh(test)) }
}
