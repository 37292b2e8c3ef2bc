import FoundationEssentials

/// The seeds of tests whose input is random.
///
/// Every such test takes its seed from here, which `ArchitectureTests` hold: so `BACKLINE_SEED` in the environment, a
/// whole number, repeats a run, and `Scripts/seeds` runs all of them with one seed after the other.
package enum TestSeed {
    /// What `BACKLINE_SEED` names; nil where it is not set.
    package static let given: UInt64? = ProcessInfo.processInfo.environment["BACKLINE_SEED"].flatMap { UInt64($0) }

    /// A new seed for one run of a test, or the given one; it is printed with the test's name.
    package static func fresh(_ test: String = #function) -> UInt64 {
        let seed = given ?? .random(in: 0...999_999_999)
        print("\(test): BACKLINE_SEED=\(seed)")
        return seed
    }

    /// Seeds for a random test: some that are the same in every run, and a new one, which is printed; the given one alone
    /// where there is one.
    package static func several(_ count: Int = 4, _ test: String = #fileID) -> [UInt64] {
        (given == nil ? Array(1..<UInt64(count)) : []) + [fresh((test))]
    }

    /// The seed that a test names, which is the same in every run; with each given one it is another.
    package static func fixed(_ seed: UInt64) -> UInt64 {
        seed &+ (given ?? 0) &* 1_000_000
    }

    /// Seeds that a test names; with a given one as many others, which follow on each other as these do.
    package static func fixed(_ seeds: some Sequence<UInt64>) -> [UInt64] {
        seeds.map { fixed($0) }
    }
}

extension SeededRandom {
    /// Randomness from a fresh seed, which is printed with the test's name.
    package static func fresh(_ test: String = #function) -> SeededRandom { SeededRandom(seed: TestSeed.fresh(test)) }
}
