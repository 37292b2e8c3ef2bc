import Foundation
import Testing

/// Worlds in a process of their own: there sets and dictionaries have the same order every time.
@Suite(.timeLimit(.minutes(10))) struct WorldTests {
    /// What `Simulate`, which is built beside these tests, prints, and whether it found nothing.
    private func simulate(_ arguments: String...) throws -> (output: String, isClean: Bool) {
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "Simulate")
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (String(decoding: output, as: UTF8.self), process.terminationStatus == 0)
    }

    @Test func `whatever fails in 200 worlds, everybody sees the fold of the log and nothing else`() throws {
        let (output, isClean) = try simulate("--seeds", "200")
        #expect(isClean, "Scripts/simulate --seed S replays what went wrong:\n\(output)")
    }

    @Test(arguments: [3, 11, 42])
    func `a world is replayed exactly`(seed: Int) throws {
        let first = try simulate("--seed", "\(seed)")
        let second = try simulate("--seed", "\(seed)")
        #expect(first.output.contains("digest"))
        #expect(first.output == second.output)
    }
}
