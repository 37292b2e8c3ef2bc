import Foundation

/// Runs `Simulate`, which is built beside these tests; returns its output, and whether it found nothing.
///
/// No thread blocks meanwhile: there are few, and other tests need them.
func simulate(_ arguments: String...) async throws -> (output: String, isClean: Bool) {
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
