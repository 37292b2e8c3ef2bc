import EventStorage
import FoundationEssentials
import Logging
import NIOCore
import RoomDomain
import RoomStatistics

/// Writes what this server counts of the rooms to which it appends, several times a second.
///
/// Nobody leads: every server counts what it has appended, and whatever is not counted is found by ``StatisticsSweep``
/// and read from the log. A tally is never needed: dropping it costs a read.
final class StatisticsWriter: Sendable {
    /// The rooms in one transaction.
    private static let roomsPerFlush = 250
    /// The rows beyond which a tally that waits is dropped.
    private static let mostRows = 256
    /// The rooms whose tallies wait while the store is out of reach.
    private static let mostWaiting = 20_000
    /// The events a second beyond which the server is busy.
    private static let busyRate = 1_000
    /// How many times as long as it takes to count rooms from the log none is, while the server is busy.
    private static let restWhileBusy = 12.0
    /// The longest time between two flushes.
    private static let longestInterval = TimeAmount.seconds(10)

    private let statistics: any StatisticsStore
    private let counter: LogCounter
    private let sweep: StatisticsSweep
    private let loop: any EventLoop
    private let clock: ServerClock
    private let interval: TimeAmount
    private let metrics: StatisticsMetrics
    private let logger: Logger
    /// The rooms that have counted something, and those that have listeners.
    let rooms = CountingRooms()
    let observed = ObservedRooms()
    /// This server's name among those on the log.
    private let node: String

    init(
        statistics: any StatisticsStore, store: any EventStore, loop: any EventLoop, clock: ServerClock,
        node: String, settings: RoomHostSettings, metrics: StatisticsMetrics, logger: Logger
    ) {
        self.statistics = statistics
        counter = LogCounter(statistics: statistics, log: store, clock: clock, metrics: metrics, logger: logger)
        sweep = StatisticsSweep(statistics: statistics, round: settings.counting.round)
        self.loop = loop
        self.clock = clock
        self.node = node
        interval = settings.counting.interval
        self.metrics = metrics
        self.logger = logger
    }

    /// What is being written, by one task.
    fileprivate struct Work {
        /// Tallies that are not written.
        var pending: [UUID: RoomTally] = [:]
        /// Rooms that are counted from the log.
        var behind: Set<UUID> = []
        var sweep = StatisticsSweep.Progress()
        /// The events that were written since rooms were last counted from the log.
        var events = 0
        /// When rooms are counted from the log again, in milliseconds of the server's clock.
        var restsUntil = 0.0
        /// The minute in which rooms were last asked what they see.
        var observedMinute = 0
        /// When days were looked at last, in milliseconds since the Unix epoch.
        var lookedAtDays: Int64 = 0
    }

    /// The time between two looks for days whose numbers across rooms are stale: rooms that are forgotten leave them
    /// within a minute.
    private static let betweenDays: Int64 = 15_000
    /// The days that are computed in one look.
    private static let daysPerLook = 8

    /// Writes until the task is cancelled, and then once more.
    func run() async {
        var work = Work()
        var interval = interval
        while !Task.isCancelled {
            await clock.sleep(for: interval)
            let started = loop.now
            await writeTallies(&work)
            await sweep.continue(&work.sweep, behind: &work.behind, every: interval, at: clock.now)
            await catchUp(&work, for: interval)
            // What had to wait for that.
            await flushPending(&work)
            metrics.behind(work.behind.count)
            await computeDays(&work)
            await observe(&work)
            // Where writing takes longer than the interval, tallies gather longer, which costs less.
            let took = loop.now - started
            interval = max(self.interval, min(took, Self.longestInterval))
        }
        await writeTallies(&work)
        work.observedMinute = 0
        await observe(&work)
    }

    /// Counts rooms from the log, for a part of the time that leaves room for appends.
    private func catchUp(_ work: inout Work, for elapsed: TimeAmount) async {
        let isBusy = work.events * 1_000_000_000 > Self.busyRate * Int(elapsed.nanoseconds)
        work.events = 0
        guard clock.milliseconds >= work.restsUntil else { return }
        let started = clock.milliseconds
        await counter.catchUp(&work.behind, before: &work.pending, for: self.interval)
        let ended = clock.milliseconds
        // What took all its time goes on later.
        if isBusy, !work.behind.isEmpty { work.restsUntil = ended + (ended - started) * Self.restWhileBusy }
    }

    /// Writes what rooms have seen of their listeners, once a minute.
    private func observe(_ work: inout Work) async {
        let minute = RoomTally.minute(of: clock.now)
        guard minute != work.observedMinute else { return }
        work.observedMinute = minute
        let minutes = await observed.take().flatMap { room, minutes in
            minutes.map { minute, seen in
                ObservedMinute(stream: room.uuid, minute: minute, peak: seen.peak, listenedMs: seen.listenedMs)
            }
        }
        for start in stride(from: 0, to: minutes.count, by: Self.roomsPerFlush) {
            do throws(StorageFault) {
                try await statistics.observe(
                    Array(minutes[start..<min(minutes.count, start + Self.roomsPerFlush)]), by: node)
            } catch {
                // A minute that cannot be written is lost.
                logger.debug("What rooms have seen could not be written", metadata: ["fault": "\(error)"])
            }
        }
    }

    private func computeDays(_ work: inout Work) async {
        let now = clock.now.milliseconds
        guard now - work.lookedAtDays >= Self.betweenDays else { return }
        work.lookedAtDays = now
        // Servers' clocks may differ, and what was counted in a day may be written a little later.
        let today = Int((now - 300_000) / 86_400_000)
        do throws(StorageFault) {
            for day in try await statistics.staleDays(before: today, limit: Self.daysPerLook) {
                _ = try await statistics.computeDay(day, at: now)
            }
        } catch {
            logger.debug("Numbers across rooms could not be computed", metadata: ["fault": "\(error)"])
        }
    }

    private func writeTallies(_ work: inout Work) async {
        await collect(&work)
        await flushPending(&work)
        if work.pending.count > Self.mostWaiting {
            metrics.dropped(work.pending.count)
            work.behind.formUnion(work.pending.keys)
            work.pending = [:]
        }
    }

    /// Writes the tallies of rooms that need not be counted from the log first.
    private func flushPending(_ work: inout Work) async {
        let rooms = work.pending.keys.filter { !work.behind.contains($0) }.sorted()
        for start in stride(from: 0, to: rooms.count, by: Self.roomsPerFlush) {
            let part = rooms[start..<min(rooms.count, start + Self.roomsPerFlush)].compactMap { work.pending[$0] }
            guard await flush(part, &work) else { break }
        }
    }

    /// Asks the enlisted rooms for their tallies.
    private func collect(_ work: inout Work) async {
        for (room, taken) in await rooms.take() {
            let room = room.uuid
            switch taken {
            case .tally(let tally):
                guard var earlier = work.pending[room] else {
                    work.pending[room] = tally
                    continue
                }
                if earlier.add(tally), earlier.rows <= Self.mostRows {
                    work.pending[room] = earlier
                } else {
                    work.fallBehind(room, metrics)
                }
            case .behind: work.fallBehind(room, metrics)
            }
        }
    }

    /// Writes tallies; false if the store is out of reach.
    private func flush(_ tallies: [RoomTally], _ work: inout Work) async -> Bool {
        let now = clock.now
        let started = loop.now
        do throws(StorageFault) {
            // Counting begins with the first events of rooms that were made here.
            let new = tallies.filter { $0.since == 0 }.map(\.room.uuid)
            if !new.isEmpty { try await statistics.beginCounting(new, version: RoomTally.definitions) }
            let outcomes = try await statistics.count(tallies.map { $0.flush(at: now) }, at: now.milliseconds)
            metrics.flushed(in: loop.now - started)
            let end = clock.now
            for (tally, outcome) in zip(tallies, outcomes) {
                let room = tally.room.uuid
                switch outcome {
                case .counted:
                    work.pending[room] = nil
                    work.events += tally.through - tally.since
                    if let began = tally.beganAt { metrics.counted(after: end.milliseconds - began.milliseconds) }
                case .conflict:
                    metrics.conflicted()
                    work.behind.insert(room)
                }
            }
            return true
        } catch .rejected(let cause) {
            // One part may keep all others from being written.
            guard let only = tallies.first, tallies.count == 1 else {
                for tally in tallies where await !flush([tally], &work) { return false }
                return true
            }
            metrics.failed()
            work.pending[only.room.uuid] = nil
            logger.error(
                "A room's statistics could not be written",
                metadata: ["room": "\(only.room)", "fault": "\(cause)"])
            return true
        } catch {
            // What may have been written is sent again: then it is a conflict, and nothing is missing.
            logger.debug("Statistics could not be written", metadata: ["fault": "\(error)"])
            return false
        }
    }
}

extension StatisticsWriter.Work {
    /// Drops what is counted of a room, which the log has.
    fileprivate mutating func fallBehind(_ room: UUID, _ metrics: StatisticsMetrics) {
        metrics.dropped(1)
        pending[room] = nil
        behind.insert(room)
    }
}
