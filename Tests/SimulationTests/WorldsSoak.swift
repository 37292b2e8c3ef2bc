import RandomTestSupport
import Testing

/// More worlds than in the gate, and others each time.
@Suite struct WorldsSoak {
    @Test func `whatever fails in 400 other worlds, everybody sees the fold of the log and nothing else`() async throws
    {
        let (output, isClean) = try await simulate("--seeds", "400", "--first", "\(TestSeed.fresh())")
        #expect(isClean, "Scripts/simulate --seed S replays what went wrong:\n\(output)")
    }
}
