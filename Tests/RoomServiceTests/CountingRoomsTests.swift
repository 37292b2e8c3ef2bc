import RoomDomain
import RoomStatistics
import Testing

@testable import RoomService

/// Rooms that were made are counted from the start of their logs, without reading them.
@Suite struct CountingRoomsTests {
    @Test func `a room that was made is counted once, from its first event on`() async {
        let room = RoomID(.makeV7(at: Timestamp(milliseconds: 1_782_000_000_000), random: (1, 2)))
        let at = Timestamp(milliseconds: 1_782_000_000_000)
        let event = RecordedEvent(seq: 1, at: at, event: .tracksAdded(tracks: [], by: MemberID(rawValue: 1)))
        let rooms = CountingRooms()
        rooms.begin(RoomTally(of: room, in: "e", countingFirst: [event]))
        let first = await rooms.take()
        #expect(first.map(\.room) == [room])
        guard case .tally(let tally)? = first.first?.taken else { return }
        #expect((tally.since, tally.through) == (0, 1))
        let second = await rooms.take()
        #expect(second.isEmpty)
    }
}
