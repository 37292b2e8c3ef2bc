import EventStorage
import RoomDomain
import RoomStatistics
import Testing

@testable import RoomService

/// Where counting from the log ends if a tally waits: it meets what is counted in memory, whatever else was counted.
@Suite struct CountingMeetTests {
    private static let room = RoomID(.makeV7(at: Timestamp(milliseconds: 1_782_000_000_000), random: (1, 2)))

    /// A room with `head` events of which `counted` are counted.
    private func room(_ head: Int, counted: Int?, epoch: String = "e", version: Int = RoomTally.definitions)
        -> CountedStream
    {
        CountedStream(
            stream: Self.room.uuid, head: StreamHead(epoch: "e", version: StreamVersion(seq: head, keyed: 0)),
            counted: counted.map { CountedPosition(epoch: epoch, seq: $0, version: version) })
    }

    private func tally(_ since: Int, _ through: Int, epoch: String = "e") -> RoomTally {
        var tally = RoomTally(of: Self.room, in: epoch, after: since)
        let state = RoomState(id: Self.room)
        for seq in since..<through {
            tally.add(
                RecordedEvent(
                    seq: seq + 1, at: Timestamp(milliseconds: 0),
                    event: .tracksAdded(tracks: [], by: MemberID(rawValue: 1))), in: state)
        }
        return tally
    }

    @Test func `the log is counted to where a tally begins`() {
        for (counted, head, expected) in [(0, 9, 5), (3, 9, 5), (5, 9, 5), (5, 7, 5)] {
            var room = room(head, counted: counted)
            let isKept = room.meet(tally(5, 7))
            #expect(isKept && room.head.version.seq == expected, "counted \(counted) of \(head)")
        }
    }

    @Test func `a tally of which something is counted is dropped, and the next one is met where it begins`() {
        for (counted, head, expected) in [(6, 9, 7), (7, 9, 7), (8, 9, 8), (9, 9, 9)] {
            var room = room(head, counted: counted)
            let isKept = room.meet(tally(5, 7))
            #expect(!isKept && room.head.version.seq == expected, "counted \(counted) of \(head)")
            #expect(room.isBehind == (counted < expected))
        }
    }

    @Test func `a tally of another log or of a room that is counted anew is dropped, and the whole log is counted`() {
        var cases = [
            (room(9, counted: 3), tally(5, 7, epoch: "old")), (room(9, counted: nil), tally(5, 7)),
            (room(9, counted: 3, epoch: "old"), tally(5, 7)), (room(9, counted: 3, version: 99), tally(5, 7)),
        ]
        for place in cases.indices {
            let isKept = cases[place].0.meet(cases[place].1)
            #expect(!isKept && cases[place].0.head.version.seq == 9)
        }
    }
}
