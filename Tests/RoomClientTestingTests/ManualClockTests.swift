import RoomClient
import RoomClientTesting
import Testing

@MainActor @Suite struct ManualClockTests {
    let clock = ManualClock(date: 1_000)

    @Test func `sleepers wake in the order of their times, then of their coming`() async throws {
        let woken = Log()
        var tasks: [Task<Void, any Error>] = []
        for (index, seconds) in [3, 1, 2, 1, 9].enumerated() {
            tasks.append(
                Task { @MainActor in
                    try await clock.sleep(until: .seconds(seconds))
                    woken.lines.append("\(seconds)#\(index)")
                })
            try await clock.waitForSleepers(index + 1, within: patience)
        }
        clock.advance(by: .seconds(2.5))
        for index in [1, 2, 3] { try await tasks[index].value }
        #expect(woken.lines == ["1#1", "1#3", "2#2"])
        #expect(clock.sleepers == 2)
        #expect(clock.untilNextWaking == .seconds(0.5))
        #expect(clock.advanceToNextWaking() == .seconds(0.5))
        try await tasks[0].value
        #expect(clock.uptime == .seconds(3))
        #expect(clock.advanceToNextWaking() == .seconds(6))
        try await tasks[4].value
        #expect(clock.untilNextWaking == nil)
        #expect(clock.advanceToNextWaking() == nil)
    }

    @Test func `a time that has come is not waited for`() async throws {
        clock.advance(by: .seconds(5))
        try await clock.sleep(until: .seconds(5))
        try await clock.sleep(until: .seconds(-1))
    }

    @Test func `a sleeper that is cancelled wakes with an error, before and while it sleeps`() async throws {
        let sleeping = Task { try await clock.sleep(until: .seconds(1)) }
        try await clock.waitForSleepers(within: patience)
        sleeping.cancel()
        await #expect(throws: CancellationError.self) { try await sleeping.value }
        #expect(clock.sleepers == 0)
        let cancelled = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await clock.sleep(until: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test func `the date goes with the uptime, and may be set`() {
        #expect(clock.date == 1_000)
        clock.advance(by: .milliseconds(1_500))
        #expect(clock.date == 2_500)
        clock.setDate(100)
        #expect(clock.date == 100)
        clock.advance(by: .milliseconds(1))
        #expect(clock.date == 101)
        #expect(clock.uptime == .milliseconds(1_501))
    }

    @Test func `a wait for sleepers ends with a word about those who sleep`() async throws {
        let sleeping = Task { try await clock.sleep(until: .seconds(7)) }
        try await clock.waitForSleepers(within: patience)
        let failure = await #expect(throws: WaitFailure.self) {
            try await clock.waitForSleepers(2, within: .milliseconds(20))
        }
        let text = try #require(failure?.description)
        #expect(text.contains("fewer than 2 tasks sleep"))
        #expect(text.hasSuffix("they sleep until: 7.0 seconds"))
        #expect(text.hasPrefix("RoomClientTestingTests/ManualClockTests.swift:"))
        sleeping.cancel()
    }
}

/// What happened, in order, on the main actor.
@MainActor final class Log {
    var lines: [String] = []
}
