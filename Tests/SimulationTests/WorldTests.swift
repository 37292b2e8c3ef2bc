import Foundation
import RandomTestSupport
import Testing

/// Worlds in a separate process, in which sets and dictionaries have the same order every time.
@Suite struct WorldTests {
    /// Runs `Simulate`, which is built beside these tests; returns its output, and whether it found nothing.
    ///
    /// No thread blocks meanwhile: there are few, and other tests need them.
    private func simulate(_ arguments: String...) async throws -> (output: String, isClean: Bool) {
        let file = FileManager.default.temporaryDirectory.appending(path: "simulate-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let process = Process()
        process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appending(path: "Simulate")
        process.arguments = arguments
        process.standardOutput = try FileHandle(forWritingTo: file)
        let status = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        return (try String(contentsOf: file, encoding: .utf8), status == 0)
    }

    @Test func `whatever fails in 200 worlds, everybody sees the fold of the log and nothing else`() async throws {
        let (output, isClean) = try await simulate("--seeds", "200", "--first", "\(TestSeed.fixed(0))")
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
