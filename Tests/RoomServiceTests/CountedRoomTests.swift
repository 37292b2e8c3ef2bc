import RoomDomain
import RoomStatistics
import Testing

@testable import RoomService

/// Which events a room counts.
@Suite struct CountedRoomTests {
    private static let room = RoomID(.makeV7(at: Timestamp(milliseconds: 1_782_000_000_000), random: (1, 2)))

    private func event(_ seq: Int) -> RecordedEvent {
        RecordedEvent(
            seq: seq, at: Timestamp(milliseconds: 0), event: .tracksAdded(tracks: [], by: MemberID(rawValue: 1)))
    }

    private func folds(_ room: inout CountedRoom, _ events: [RecordedEvent], areOwn: Bool) -> Bool {
        room.fold(events, areOwn: areOwn)
    }

    private func tally(_ room: inout CountedRoom) -> [Int]? {
        guard case .tally(let tally)? = room.take() else { return nil }
        return [tally.since, tally.through]
    }

    @Test func `a room counts what this server appended, and not what others did before`() {
        var room = CountedRoom(RoomState(id: Self.room), in: "e", isCounting: true)
        #expect(!folds(&room, [event(1)], areOwn: false))
        #expect(tally(&room) == nil)
        #expect(folds(&room, [event(2)], areOwn: true))
        #expect(!folds(&room, [event(3)], areOwn: false))
        #expect(tally(&room) == [1, 3])
        #expect(!folds(&room, [event(4)], areOwn: false))
    }

    @Test func `what is read after an append without an answer is counted, once`() {
        var room = CountedRoom(RoomState(id: Self.room), in: "e", isCounting: true)
        room.expectOwn()
        #expect(!folds(&room, [], areOwn: false))
        #expect(folds(&room, [event(1), event(2)], areOwn: false))
        #expect(tally(&room) == [0, 2])
        #expect(!folds(&room, [event(3)], areOwn: false))
    }
}
