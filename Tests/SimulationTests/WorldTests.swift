import RandomTestSupport
import Testing

/// Worlds in a separate process, in which sets and dictionaries have the same order every time.
@Suite struct WorldTests {
    @Test func `whatever fails in sixty worlds, everybody sees the fold of the log and nothing else`() async throws {
        let (output, isClean) = try await simulate("--seeds", "60", "--first", "\(TestSeed.fixed(0))")
        #expect(isClean, "Scripts/simulate --seed S replays what went wrong:\n\(output)")
    }

    @Test(arguments: TestSeed.fixed([3, 11, 42]))
    func `a world is replayed exactly`(seed: UInt64) async throws {
        let first = try await simulate("--seed", "\(seed)")
        let second = try await simulate("--seed", "\(seed)")
        #expect(first.output.contains("digest"))
        #expect(first.output == second.output)
    }
}
