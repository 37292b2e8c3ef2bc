import FoundationEssentials
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
                let told = ["validSeconds", "expiredSecondsAgo", "cause"].compactMap { key in
                    line.metadata[key].map { "\(key) \($0)" }
                }
                return "\(line.level): \(told.joined(separator: ", "))"
            }
        }

        /// A server's watch from this many seconds before the certificate's end.
        func watch(from left: Int, on time: VirtualTime) -> CertificateWatch {
            wall.withLock { $0 = certificate.end - left }
            return CertificateWatch(
                certificate,
                clock: ServerClock(
                    milliseconds: { 0 }, wall: { Double(self.now) * 1_000 }, wait: { await time.sleep(for: $0) }),
                logger: Logger(label: "test") { _ in self.log })
        }

        func pass(hours: Int, on time: VirtualTime) async {
            wall.withLock { $0 += hours * 3_600 }
            await time.advance(by: .hours(Int64(hours)))
        }

        /// Replaces the files by those of a certificate that is good from now on.
        func replace() throws {
            _ = try DevelopmentCertificate.load(orMakeIn: directory, now: now)
        }
    }

    @Test(
        arguments: [
            (604_800, []), (604_799, ["warning: validSeconds 604799"]), (1, ["warning: validSeconds 1"]),
            (0, ["error: expiredSecondsAgo 0"]), (-86_400, ["error: expiredSecondsAgo 86400"]),
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
                    "warning: validSeconds 43200", "error: expiredSecondsAgo 43200", "error: expiredSecondsAgo 129600",
                ] {
                    await stage.pass(hours: 23, on: time)
                    #expect(stage.lines == expected)
                    await stage.pass(hours: 1, on: time)
                    expected.append(line)
                    #expect(stage.lines == expected)
                }
                watch.reload()
                expected += ["notice: validSeconds -129600", "error: expiredSecondsAgo 129600"]
                #expect(stage.lines == expected, "the files are the same")
                try stage.replace()
                watch.reload()
                expected.append("notice: validSeconds \(DevelopmentCertificate.lifetime)")
                await stage.pass(hours: 48, on: time)
                #expect(stage.lines == expected)
            }
        }
    }
}
