import EventStorage
import FoundationEssentials
import Logging
import NIOCore
import RoomDomain
import RoomLog
import RoomStatistics
import RoomWire

/// Counts rooms from their logs, from where their counts end to their heads: one way for every reason, whether a room is
/// in memory or not.
struct LogCounter: Sendable {
    /// The rooms that are counted together.
    private static let roomsPerBatch = 250
    /// The events that are read at a time: of several rooms together, or of one that has more.
    private static let eventsPerPage = 2_000
    /// Rooms whose states are read at the same time.
    private static let statesSideBySide = 8

    private let statistics: any StatisticsStore
    private let log: any EventStore
    private let clock: ServerClock
    private let metrics: StatisticsMetrics
    private let logger: Logger

    init(
        statistics: any StatisticsStore, log: any EventStore, clock: ServerClock, metrics: StatisticsMetrics,
        logger: Logger
    ) {
        self.statistics = statistics
        self.log = log
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
    }

    /// Counts the rooms of `behind`, and takes out those that are counted, until `time` has passed or the store is out of
    /// reach.
    ///
    /// A room that is counted by somebody else at the same time stays, and is looked at again. Where there is a tally, the
    /// log is counted to where that begins; a tally of which something is counted already is dropped, and the log is
    /// counted to where it ends, which is where the next one begins. So what is counted from the log meets what is
    /// counted in memory, however fast a room grows.
    func catchUp(
        _ behind: inout Set<UUID>, before tallies: inout [UUID: RoomTally], for time: TimeAmount
    ) async {
        let end = clock.milliseconds + Double(time.nanoseconds) / 1e6
        while !behind.isEmpty, !Task.isCancelled {
            let rooms = Array(behind.sorted().prefix(Self.roomsPerBatch))
            do throws(StorageFault) {
                behind.subtract(try await count(rooms, before: &tallies))
            } catch {
                logger.debug("Rooms could not be counted", metadata: ["rooms": "\(rooms.count)", "fault": "\(error)"])
                return
            }
            if clock.milliseconds >= end { return }
        }
    }

    /// Counts a batch of rooms; returns those that are counted, or cannot be.
    private func count(
        _ rooms: [UUID], before tallies: inout [UUID: RoomTally]
    ) async throws(StorageFault) -> [UUID] {
        var found = try await statistics.countedStreams(rooms)
        let new = found.filter { $0.counted == nil }.map(\.stream)
        if !new.isEmpty {
            try await statistics.beginCounting(new, version: RoomTally.definitions)
            let begun = try await statistics.countedStreams(new)
            found = found.filter { $0.counted != nil } + begun
        }
        for place in found.indices {
            guard let tally = tallies[found[place].stream] else { continue }
            if !found[place].meet(tally) {
                metrics.dropped(1)
                tallies[found[place].stream] = nil
            }
        }
        var done = Set(rooms)
        var (few, many): ([[CountedStream]], [CountedStream]) = ([], [])
        var events = 0
        for room in found where room.isBehind {
            guard let counted = room.counted else { continue }
            let missing = room.head.version.seq - counted.seq
            guard counted.follows(room.head), missing <= Self.eventsPerPage else {
                many.append(room)
                continue
            }
            events += missing
            if few.isEmpty || events > Self.eventsPerPage {
                few.append([])
                events = missing
            }
            few[few.count - 1].append(room)
        }
        for rooms in few { for room in try await countTogether(rooms) { done.remove(room) } }
        for room in many where try await !countAlone(room) { done.remove(room.stream) }
        return Array(done)
    }

    // MARK: Many rooms with few events

    /// Counts rooms that have few events, in one transaction; returns those that somebody else has counted meanwhile.
    private func countTogether(_ rooms: [CountedStream]) async throws(StorageFault) -> [UUID] {
        guard !rooms.isEmpty else { return [] }
        var positions: [UUID: StreamVersion] = [:]
        for room in rooms {
            positions[room.stream] = StreamVersion(seq: room.counted?.seq ?? 0, keyed: room.head.version.keyed)
        }
        let loaded = try await log.catchUp(positions)
        var flushes: [StatisticsFlush] = []
        var withPlays: [(room: CountedStream, events: [RecordedEvent])] = []
        for room in rooms {
            guard let loaded = loaded[room.stream], let counted = room.counted, loaded.head.epoch == counted.epoch,
                let events = decoded(
                    loaded.events.filter { $0.seq <= room.head.version.seq }, after: counted.seq, of: room.stream)
            else { continue }
            // Only songs that ended are counted with what is known of them.
            if counted.seq > 0, events.contains(where: { $0.event.kind == .entryFinished }) {
                withPlays.append((room, events))
            } else {
                var state = RoomState(id: RoomID(room.stream))
                flushes.append(tally(events, on: &state, in: counted.epoch, after: counted.seq).flush(at: clock.now))
            }
        }
        flushes += try await countWithPlays(withPlays)
        let outcomes = try await statistics.count(flushes, at: clock.now.milliseconds)
        return zip(flushes, outcomes).filter { $0.1 == .conflict }.map(\.0.stream)
    }

    /// Counts events of rooms whose states before them are needed.
    private func countWithPlays(
        _ rooms: [(room: CountedStream, events: [RecordedEvent])]
    ) async throws(StorageFault) -> [StatisticsFlush] {
        var flushes: [StatisticsFlush] = []
        for start in stride(from: 0, to: rooms.count, by: Self.statesSideBySide) {
            let part = rooms[start..<min(rooms.count, start + Self.statesSideBySide)]
            let results = await withTaskGroup { group in
                for (room, events) in part {
                    guard let counted = room.counted else { continue }
                    group.addTask { () -> Result<StatisticsFlush?, StorageFault> in
                        do throws(StorageFault) {
                            guard var state = try await state(of: room.stream, at: counted.seq) else {
                                return .success(nil)
                            }
                            let tally = tally(events, on: &state, in: counted.epoch, after: counted.seq)
                            return .success(tally.flush(at: clock.now))
                        } catch {
                            return .failure(error)
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            for result in results { if let flush = try result.get() { flushes.append(flush) } }
        }
        return flushes
    }

    /// Folds and counts events that follow `seq`; `state` need be the room there only if a song has ended.
    private func tally(
        _ events: [RecordedEvent], on state: inout RoomState, in epoch: String, after seq: Int
    ) -> RoomTally {
        var tally = RoomTally(of: state.id, in: epoch, after: seq)
        for event in events {
            state.evolve(event)
            tally.add(event, in: state)
        }
        return tally
    }

    // MARK: One room with many events

    /// Counts one room in pages; false if somebody else has counted it meanwhile.
    private func countAlone(_ room: CountedStream) async throws(StorageFault) -> Bool {
        guard let counted = room.counted else { return true }
        guard counted.follows(room.head) else { return try await recount(room) }
        guard var state = try await state(of: room.stream, at: counted.seq) else { return true }
        while state.seq < room.head.version.seq {
            guard !Task.isCancelled else { return false }
            let before = state.seq
            guard let tally = try await nextPage(of: &state, through: room.head) else { return true }
            guard state.seq > before else { return true }
            let outcome = try await statistics.count([tally.flush(at: clock.now)], at: clock.now.milliseconds)
            guard outcome == [.counted] else { return false }
        }
        return true
    }

    /// Counts a room anew, whose log was replaced, or that was counted by earlier definitions; false if somebody else
    /// has counted it meanwhile.
    private func recount(_ room: CountedStream) async throws(StorageFault) -> Bool {
        guard let counted = room.counted else { return true }
        var state = RoomState(id: RoomID(room.stream))
        var whole = RoomTally(of: state.id, in: room.head.epoch, after: 0)
        while state.seq < room.head.version.seq {
            guard !Task.isCancelled else { return false }
            guard let tally = try await nextPage(of: &state, through: room.head), !tally.isEmpty else { return true }
            guard whole.add(tally) else { return false }
        }
        let flush = whole.flush(at: clock.now)
        return try await statistics.replace(flush, ifCounted: counted, at: clock.now.milliseconds) == .counted
    }

    /// Reads and counts the next events; nil if they cannot be read.
    private func nextPage(
        of state: inout RoomState, through head: StreamHead
    ) async throws(StorageFault) -> RoomTally? {
        let page = try await log.read(
            state.id.uuid, after: state.seq, limit: min(Self.eventsPerPage, head.version.seq - state.seq),
            bytes: RoomHistory.bytesOfEvents)
        guard let events = decoded(page, after: state.seq, of: state.id.uuid) else { return nil }
        return tally(events, on: &state, in: head.epoch, after: state.seq)
    }

    // MARK: Reading

    /// Returns a room at its event `seq`; nil, with an error in the log, if it cannot be read.
    private func state(of room: UUID, at seq: Int) async throws(StorageFault) -> RoomState? {
        do {
            return try await log.state(of: RoomID(room), at: seq, logger: logger)
        } catch let fault as StorageFault {
            throw fault
        } catch {
            note(error, in: room)
            return nil
        }
    }

    /// The events of rows that follow `seq`; nil, with an error in the log, if they cannot be read.
    private func decoded(_ rows: [StoredEvent], after seq: Int, of room: UUID) -> [RecordedEvent]? {
        do throws(LogFault) {
            return try rows.recorded(after: seq, through: rows.last?.seq ?? seq)
        } catch {
            note(error, in: room)
            return nil
        }
    }

    private func note(_ fault: any Error, in room: UUID) {
        metrics.failed()
        logger.error(
            "A room cannot be counted: its log cannot be read",
            metadata: ["room": "\(RoomID(room))", "fault": "\(fault)"])
    }
}

extension CountedPosition {
    /// Whether counting goes on from here to this head, by the definitions of this program.
    fileprivate func follows(_ head: StreamHead) -> Bool {
        epoch == head.epoch && version == RoomTally.definitions && seq <= head.version.seq
    }
}

extension CountedStream {
    /// Leaves out the events at the end of the log that a tally has counted; false if the tally is of no use.
    ///
    /// That is so if something of it is counted already: then only the events after it are left out, which the next tally
    /// has counted. If the room has to be counted anew, nothing is left out.
    mutating func meet(_ tally: RoomTally) -> Bool {
        guard let counted, counted.follows(head), tally.epoch == head.epoch else { return false }
        let isKept = counted.seq <= tally.since
        head.version.seq = min(head.version.seq, isKept ? tally.since : max(counted.seq, tally.through))
        return isKept
    }

    /// Whether something is to be counted by this program.
    var isBehind: Bool {
        guard let counted else { return true }
        guard counted.version != CountedPosition.excluded, counted.version <= RoomTally.definitions else {
            return false
        }
        return !counted.follows(head) || counted.seq < head.version.seq
    }
}
