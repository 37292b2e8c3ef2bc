import Foundation
import Testing

/// Tests with random input take their seeds from one place, so that each can be run with a given seed.
@Suite struct SeedTests {
    /// Sources of unrepeatable numbers, and seeds that ignore a given seed.
    private static let unseeded = [
        #"\.random\(in: (?!.*using:)"#, #"\.(shuffled|shuffle|randomElement)\(\)"#, #"SystemRandomNumberGenerator\(\)"#,
        #"\b(SeededRandom|Dice|Scheduler|LogFiller)\((.*, )?(seed|state): \d"#,
    ].joined(separator: "|")

    /// Files whose random numbers are not a test's input: tokens, nonces, masks and epochs.
    private static let exempt: Set = [
        "RandomTestSupport/TestSeed.swift", "EchoClient/EchoClient.swift", "EchoSupport/EchoHandler.swift",
        "RoomServiceTests/FaultyEventStore.swift",
        "WebSocketCodecTests/MaskKeyTests.swift",
        "ArchitectureTests/SeedTests.swift",
    ]

    /// The texts of all files of the tests, by their paths.
    private func files() throws -> [(path: String, text: String)] {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let files = try #require(FileManager.default.enumerator(atPath: tests.path))
            .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
        #expect(files.count > 100)
        return try files.map { ($0, try String(contentsOf: tests.appending(path: $0), encoding: .utf8)) }
    }

    @Test func `there is one source of random numbers`() throws {
        let sources = try files().filter { $0.text.contains(": RandomNumberGenerator {") }.map(\.path)
        #expect(sources.filter { !Self.exempt.contains($0) } == ["RandomTestSupport/SeededRandom.swift"])
    }

    @Test func `tests with random input take their seeds from TestSeed`() throws {
        for (file, text) in try files() where !Self.exempt.contains(file) {
            let found = text.range(of: Self.unseeded, options: .regularExpression).map { text[text.lineRange(for: $0)] }
            #expect(found == nil, "in Tests/\(file)")
        }
    }
}
