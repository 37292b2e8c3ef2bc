import FoundationEssentials
import Glibc
import InMemoryLogging
import Logging
import NIOCore
import PushServer
import RandomTestSupport
import RoomService
import SimulatedTime
import Synchronization
import TLSTransport
import Testing

@Suite struct CertificateWatchTests {
    /// A certificate in a folder of its own, and a wall clock of the test's.
    private final class Stage: Sendable {
        private let log = InMemoryLogHandler()
        private let directory: String
        private let certificate: ServerCertificate
        /// Seconds since the Unix epoch.
        private let wall = Mutex(1_700_000_000)

        init() throws {
            directory = FileManager.default.temporaryDirectory.appending(path: "watch-\(UUID().uuidString)").path
            let made = try DevelopmentCertificate.load(orMakeIn: directory, now: 1_700_000_000)
            certificate = try ServerCertificate(chain: made.certificatePath, key: made.keyPath)
        }

        deinit { try? FileManager.default.removeItem(atPath: directory) }

        var now: Int { wall.withLock { $0 } }

        /// The level of each line so far, and the seconds that it tells.
        var lines: [String] {
            log.entries.map { line in
                let told = ["validSeconds", "cause"].compactMap { key in
                    line.metadata[key].map { "\(key) \($0)" }
                }
                return "\(line.level): \(told.joined(separator: ", "))"
            }
        }

        /// A server's watch from this many seconds before the certificate's end.
        func watch(from left: Int, on time: VirtualTime) -> CertificateWatch {
            wall.withLock { $0 = certificate.validity.upperBound - left }
            return CertificateWatch(
                certificate,
                clock: ServerClock(
                    milliseconds: { 0 }, wall: { Double(self.now) * 1_000 }, wait: { await time.sleep(for: $0) }),
                logger: Logger(label: "test") { _ in self.log })
        }

        func pass(hours: Int, on time: VirtualTime) async {
            await pass(seconds: hours * 3_600, on: time)
        }

        func pass(seconds: Int, on time: VirtualTime) async {
            wall.withLock { $0 += seconds }
            await time.advance(by: .seconds(Int64(seconds)))
        }

        /// The path of one of the files.
        func path(_ name: String) -> String { directory + "/" + name }

        /// What is served to the next connection: nothing is read here.
        var end: Int { certificate.validity.upperBound }

        /// Replaces the files by those of a certificate that is good from now on, or from some seconds later.
        func replace(beginning later: Int = 0) throws {
            _ = try DevelopmentCertificate.load(orMakeIn: directory, now: now + later)
        }
    }

    @Test(
        arguments: [
            (604_800, []), (604_799, ["warning: validSeconds 604799"]), (1, ["warning: validSeconds 1"]),
            (0, ["error: validSeconds 0"]), (-86_400, ["error: validSeconds -86400"]),
        ] as [(Int, [String])])
    func `a server that starts says that its certificate has expired, or will within a week`(
        left: Int, expected: [String]
    ) async throws {
        let stage = try Stage()
        try await VirtualTime.run(seed: TestSeed.fixed(1)) { time in
            let watch = stage.watch(from: left, on: time)
            await withDiscardingTaskGroup { group in
                group.addTask { await watch.run() }
                await time.settle()
                #expect(stage.lines == expected)
                group.cancelAll()
            }
        }
    }

    @Test func `an expired certificate is told once a day, until its files are replaced and read again`() async throws {
        let stage = try Stage()
        try await VirtualTime.run(seed: TestSeed.fixed(1)) { time in
            let watch = stage.watch(from: 129_600, on: time)
            try await withThrowingDiscardingTaskGroup { group in
                defer { group.cancelAll() }
                group.addTask { await watch.run() }
                await time.settle()
                var expected = ["warning: validSeconds 129600"]
                for line in [
                    "warning: validSeconds 43200", "error: validSeconds -43200", "error: validSeconds -129600",
                ] {
                    await stage.pass(hours: 23, on: time)
                    #expect(stage.lines == expected)
                    await stage.pass(hours: 1, on: time)
                    expected.append(line)
                    #expect(stage.lines == expected)
                }
                watch.reload()
                expected += ["notice: validSeconds -129600", "error: validSeconds -129600"]
                #expect(stage.lines == expected, "the files are the same")
                try stage.replace()
                watch.reload()
                expected.append("notice: validSeconds \(DevelopmentCertificate.lifetime)")
                await stage.pass(hours: 48, on: time)
                #expect(stage.lines == expected)
            }
        }
    }

    @Test func `files that have changed are taken once two looks find them the same`() async throws {
        let stage = try Stage()
        try await VirtualTime.run(seed: TestSeed.fixed(1)) { time in
            let watch = stage.watch(from: 0, on: time)
            try await withThrowingDiscardingTaskGroup { group in
                defer { group.cancelAll() }
                group.addTask { await watch.run() }
                await time.settle()
                var expected = ["error: validSeconds 0"]
                await stage.pass(seconds: 100, on: time)
                #expect(stage.lines == expected, "nothing has changed")
                try stage.replace()
                await stage.pass(seconds: 10, on: time)
                let good = try Data(contentsOf: URL(filePath: stage.path("certificate.pem")))
                for size in [1, 2] {
                    // It is written bit by bit.
                    try good.prefix(size).write(to: URL(filePath: stage.path("certificate.pem")))
                    await stage.pass(seconds: 10, on: time)
                }
                try good.write(to: URL(filePath: stage.path("certificate.pem")))
                await stage.pass(seconds: 10, on: time)
                #expect(stage.lines == expected, "it was never the same in two looks")
                await stage.pass(seconds: 10, on: time)
                expected.append("notice: validSeconds \(DevelopmentCertificate.lifetime - 50)")
                #expect(stage.lines == expected)
                await stage.pass(hours: 1, on: time)
                #expect(stage.lines == expected, "it is read once")
            }
        }
    }

    @Test(arguments: ["certificate.pem", "key.pem"])
    func `files that cannot be used are told once, and the certificate before stays until they can`(
        name: String
    ) async throws {
        let stage = try Stage()
        try await VirtualTime.run(seed: TestSeed.fixed(1)) { time in
            let watch = stage.watch(from: DevelopmentCertificate.lifetime, on: time)
            let end = stage.end
            let file = URL(filePath: stage.path(name))
            try await withThrowingDiscardingTaskGroup { group in
                defer { group.cancelAll() }
                group.addTask { await watch.run() }
                await time.settle()
                let good = try Data(contentsOf: file)
                for (count, isRemoved) in [false, true].enumerated() {
                    if isRemoved {
                        try FileManager.default.removeItem(at: file)
                    } else {
                        try Data("nothing".utf8).write(to: file)
                    }
                    await stage.pass(hours: 1, on: time)
                    #expect(stage.lines.count == 2 * count + 1)
                    #expect(stage.lines.last?.hasPrefix("error: cause ") == true)
                    #expect(stage.lines.last?.contains(file.path) == true)
                    #expect(stage.end == end)
                    try good.write(to: file)
                    await stage.pass(hours: 1, on: time)
                    #expect(stage.lines.count == 2 * count + 2)
                    #expect(stage.lines.last?.hasPrefix("notice: validSeconds ") == true)
                }
            }
        }
    }

    @Test func `what is read by a signal is not read again`() async throws {
        let stage = try Stage()
        try await VirtualTime.run(seed: TestSeed.fixed(1)) { time in
            let watch = stage.watch(from: 0, on: time)
            try await withThrowingDiscardingTaskGroup { group in
                defer { group.cancelAll() }
                group.addTask { await watch.run() }
                await time.settle()
                try stage.replace()
                await stage.pass(seconds: 10, on: time)
                watch.reload()
                #expect(stage.lines.count == 2)
                await stage.pass(seconds: 100, on: time)
                #expect(stage.lines.count == 2)
            }
        }
    }

    @Test func `files that change all the time are read after a minute`() async throws {
        let stage = try Stage()
        try await VirtualTime.run(seed: TestSeed.fixed(1)) { time in
            let watch = stage.watch(from: 0, on: time)
            try await withThrowingDiscardingTaskGroup { group in
                defer { group.cancelAll() }
                group.addTask { await watch.run() }
                await time.settle()
                try stage.replace()
                let file = URL(filePath: stage.path("certificate.pem"))
                let good = try Data(contentsOf: file)
                for count in 1...6 {
                    #expect(stage.lines.count == 1)
                    try (good + Data(repeating: 10, count: count)).write(to: file)
                    await stage.pass(seconds: 10, on: time)
                }
                #expect(stage.lines.count == 2)
            }
        }
    }

    @Test func `a certificate that is not valid now is taken once it is, and one that was is not`() async throws {
        let stage = try Stage()
        try await VirtualTime.run(seed: TestSeed.fixed(1)) { time in
            let watch = stage.watch(from: DevelopmentCertificate.lifetime, on: time)
            let end = stage.end
            try await withThrowingDiscardingTaskGroup { group in
                defer { group.cancelAll() }
                group.addTask { await watch.run() }
                await time.settle()
                try stage.replace(beginning: -2 * DevelopmentCertificate.lifetime)
                await stage.pass(hours: 1, on: time)
                #expect(stage.end == end)
                try stage.replace(beginning: 7 * 3_600)
                // It is valid an hour before, because clocks differ.
                await stage.pass(hours: 5, on: time)
                #expect(stage.end == end)
                #expect(stage.lines.count == 2)
                #expect(stage.lines.allSatisfy { $0.hasPrefix("error: cause the certificate in ") })
                await stage.pass(hours: 2, on: time)
                #expect(stage.end > end)
                #expect(stage.lines.count == 3)
            }
        }
    }

    @Test func `a refusal is told once a day`() async throws {
        let stage = try Stage()
        try await VirtualTime.run(seed: TestSeed.fixed(1)) { time in
            let watch = stage.watch(from: DevelopmentCertificate.lifetime, on: time)
            try await withThrowingDiscardingTaskGroup { group in
                defer { group.cancelAll() }
                group.addTask { await watch.run() }
                await time.settle()
                try Data("nothing".utf8).write(to: URL(filePath: stage.path("key.pem")))
                await stage.pass(hours: 23, on: time)
                #expect(stage.lines.count == 1)
                await stage.pass(hours: 1, on: time)
                #expect(stage.lines.count == 2)
                #expect(stage.lines.last?.hasPrefix("error: validSeconds ") == true)
                #expect(stage.lines.last?.contains("key.pem") == true)
            }
        }
    }

    @Test func `a pipe in place of a file is refused and not waited for`() async throws {
        let stage = try Stage()
        try await VirtualTime.run(seed: TestSeed.fixed(1)) { time in
            let watch = stage.watch(from: DevelopmentCertificate.lifetime, on: time)
            for name in ["certificate.pem", "key.pem"] {
                try FileManager.default.removeItem(atPath: stage.path(name))
                // The path is a C string for the length of the call.
                let made = unsafe mkfifo(stage.path(name), 0o600)
                #expect(made == 0)
                watch.reload()
                #expect(stage.lines.last == "error: cause \(stage.path("certificate.pem")) is not a regular file")
            }
        }
    }
}
