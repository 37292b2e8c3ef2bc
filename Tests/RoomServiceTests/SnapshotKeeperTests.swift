import EventStorage
import RoomDomain
import RoomLog
import RoomTestSupport
import Testing

@testable import RoomService

/// When a snapshot is saved, and of what.
@Suite struct SnapshotKeeperTests {
    private let renames = (0..<10).map { RoomEvent.memberRenamed(member: 1, name: "Ana \($0)") }

    private func keeper(of parts: RoomParts) -> SnapshotKeeper {
        SnapshotKeeper(at: 0, settings: parts.dependencies.settings)
    }

    @Test func `a snapshot is due after so many events, and one is saved at a time`() {
        let parts = RoomParts { $0.eventsPerSnapshot = 5 }
        var keeper = keeper(of: parts)
        let early = parts.room()
        let due = parts.room([renames[0]])
        let later = parts.room(renames)
        #expect(keeper.beginIfDue(early) == nil)
        let job = keeper.beginIfDue(due)
        #expect(job?.state == due.confirmed)
        #expect(job?.epoch == "first" && job?.span == 5 && job?.isLong == false)
        #expect(keeper.beginIfDue(later) == nil, "the first is being saved")
        keeper.ended()
        #expect(keeper.beginIfDue(due) == nil)
        #expect(keeper.beginIfDue(later)?.state.seq == 14)
    }

    @Test func `a room that leaves memory is saved if it has moved`() {
        let parts = RoomParts()
        var keeper = keeper(of: parts)
        let room = parts.room()
        #expect(keeper.begin(room)?.state.seq == 4)
        keeper.ended()
        #expect(keeper.begin(room) == nil)
        let forgotten = parts.room([.roomClosed(forget: true)])
        #expect(keeper.begin(forgotten) == nil, "names of a forgotten room are not stored")
    }

    @Test func `it has what is durable, and nothing that is only decided`() {
        let parts = RoomParts()
        var keeper = keeper(of: parts)
        var room = parts.room()
        let events = room.projected.recorded([renames[0]], at: Timestamp(milliseconds: 2))
        _ = room.decided(
            1, .changed(Projection.Change(events: events, result: nil, waveform: nil, key: nil)))
        #expect(room.projected.seq == 5)
        #expect(keeper.begin(room)?.state.seq == 4)
    }

    @Test func `a log that replaces another begins with its own snapshot`() {
        let parts = RoomParts { $0.eventsPerSnapshot = 5 }
        var keeper = keeper(of: parts)
        keeper.replaced(at: 10)
        #expect(keeper.beginIfDue(parts.room(renames)) == nil)
        keeper.replaced(at: 9)
        #expect(keeper.beginIfDue(parts.room(renames))?.state.seq == 14)
    }

    @Test func `a large room is long, and has fewer snapshots`() {
        let parts = RoomParts {
            $0.eventsPerSnapshot = 1
            $0.answers.longStateBytes = 0
        }
        var keeper = keeper(of: parts)
        let job = keeper.begin(parts.room())
        #expect(job?.isLong == true)
        #expect(job?.span == max(1, parts.room().confirmed.estimatedStateBytes / 1_024))
    }
}
