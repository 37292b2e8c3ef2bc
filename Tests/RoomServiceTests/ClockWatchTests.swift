import EventStorage
import InMemoryLogging
import Logging
import NIOCore
import SimulatedTime
import Testing

@testable import RoomService

/// The machine's time is set while a server runs.
@Suite struct ClockWatchTests {
    private let events = ManualClock()
    private let wall = ManualClock()
    private let log = InMemoryLogHandler()

    private var warnings: Int {
        log.messages(from: .warning).count { $0.hasPrefix("The machine's time was set back") }
    }

    @Test func `a time more than ten seconds behind that of events is told once, and again after it was not`() {
        let (events, wall) = (events, wall)
        var watch = ClockWatch(
            ServerClock(milliseconds: { Double(events.now) }, wall: { Double(wall.now) }), logger: log.logger)
        let steps: [(behind: Int64, warnings: Int)] = [
            (0, 0), (-86_400_000, 0), (10_000, 0), (10_001, 1), (60_000, 1), (10_000, 1), (86_400_000, 2),
        ]
        for step in steps {
            wall.advance(milliseconds: events.now - step.behind - wall.now)
            watch.look()
            #expect(warnings == step.warnings, "\(step.behind) ms behind")
        }
    }

    @Test func `a server looks at its clocks in every round of its housekeeping`() async throws {
        let (events, wall, log) = (events, wall, log)
        try await onVirtualTime { time in
            var settings = RoomHostSettings()
            settings.comparisonInterval = .minutes(1)
            settings.nearby.isKept = false
            let host = RoomHost(
                store: MemoryEventStore(), settings: settings, loops: [time.makeLoop()],
                clock: ServerClock(
                    milliseconds: { Double(events.now) }, wall: { Double(wall.now) },
                    wait: { await time.sleep(for: $0) }),
                randomness: ServerRandomness { time.dice.bits() }, logger: log.logger)
            await withDiscardingTaskGroup { group in
                group.addTask { await host.run() }
                defer { host.shutDown() }
                await time.advance(by: .seconds(61))
                #expect(warnings == 0)
                wall.advance(milliseconds: -3_600_000)
                await time.advance(by: .seconds(60))
                #expect(warnings == 1)
                wall.advance(milliseconds: 3_600_000)
                await time.advance(by: .seconds(60))
                wall.advance(milliseconds: -3_600_000)
                await time.advance(by: .seconds(60))
                #expect(warnings == 2)
            }
        }
    }
}
