import NIOCore
import RoomService
import SimulatedTime
import Synchronization
import Testing

@testable import RoomService

/// `DirectoryReadings`: which reading answers a caller.
@Suite struct DirectoryReadingsTests {
    /// Callers, and the readings that a test makes by hand.
    private final class Bench: Sendable {
        let readings: DirectoryReadings
        private let answered = Mutex<[String]>([])
        private let time: VirtualTime

        init(on time: VirtualTime, isOver: Bool = false) {
            self.time = time
            let clock = ServerClock(milliseconds: { 0 }, wait: { await time.sleep(for: $0) })
            readings = DirectoryReadings(clock: clock, isOver: isOver)
        }

        var callers: [String] { answered.withLock { $0 } }

        func call(_ name: String, patience: TimeAmount = .seconds(10)) async {
            Task(executorPreference: time.executor) {
                await self.readings.next(within: patience)
                self.answered.withLock { $0.append(name) }
            }
            await time.settle()
        }
    }

    @Test func `a caller waits for a reading that began after its call`() async throws {
        try await onVirtualTime { time in
            let bench = Bench(on: time)
            await bench.call("early")
            let asked = bench.readings.begin()
            await bench.call("late")
            bench.readings.end(asked)
            await time.settle()
            #expect(bench.callers == ["early"])
            bench.readings.end(bench.readings.begin())
            await time.settle()
            #expect(bench.callers == ["early", "late"])
        }
    }

    @Test func `callers share one reading, and each reading that began is asked for again`() async throws {
        try await onVirtualTime { time in
            let bench = Bench(on: time)
            for name in ["a", "b"] { await bench.call(name) }
            _ = bench.readings.begin()
            await bench.call("c")
            bench.readings.intervalPassed()
            var causes: [DirectoryReadings.Cause] = []
            for await cause in bench.readings.causes {
                causes.append(cause)
                if cause == .interval { break }
            }
            #expect(causes == [.question, .question, .interval])
            bench.readings.close()
        }
    }

    @Test func `a caller goes on when its patience ends, or the readings do`() async throws {
        try await onVirtualTime { time in
            let bench = Bench(on: time)
            await bench.call("hasty", patience: .seconds(1))
            await bench.call("patient")
            await time.advance(by: .seconds(1))
            #expect(bench.callers == ["hasty"])
            bench.readings.close()
            await time.settle()
            #expect(bench.callers == ["hasty", "patient"])
            await bench.call("too late")
            #expect(bench.callers.count == 3)
        }
    }
}
