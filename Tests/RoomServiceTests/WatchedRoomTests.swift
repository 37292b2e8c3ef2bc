import EventStorage
import RoomDomain
import RoomWire
import Testing

@testable import RoomService

/// Who is told of a room's new counts, and of which.
@Suite struct WatchedRoomTests {
    private static let session = SessionID(.makeV7(at: Timestamp(milliseconds: 1_782_000_000_000), random: (1, 2)))
    /// Ten minutes past midnight in UTC.
    private static let present = 1_440 * 20_000 + 10

    private func counts(_ seq: Int, votes: [Int: Int], at present: Int = present) -> RecentCounts {
        RecentCounts(
            position: Position(epoch: "e", seq: seq),
            minutes: votes.mapValues { number in
                var counts = EventCounts()
                counts.votes = number
                return counts
            }, present: present)
    }

    /// A room whose `watchers` were told these counts, and have taken that.
    private func room(_ counts: RecentCounts, watchers: [Int: (seq: Int, offset: Int)]) -> WatchedRoom {
        var room = WatchedRoom(position: counts.position, minutes: counts.minutes)
        for (number, (seq, offset)) in watchers {
            room.watches[number] = CountWatch(
                id: WatchID(number: number, delivered: WatchClient.Delivery(to: WatchClient())), session: Self.session,
                offset: offset, sub: 1, deliver: { _, _ in }, position: Position(epoch: "e", seq: seq),
                day: RecentCounts.day(of: counts.present, offset))
        }
        return room
    }

    private func told(_ room: inout WatchedRoom, _ counts: RecentCounts) -> [Int: Bool] {
        let turn = room.take(counts, at: 0)
        for (watch, _) in turn.watches { watch.id.taken() }
        return Dictionary(uniqueKeysWithValues: turn.watches.map { ($0.watch.id.number, $0.isWhole) })
    }

    @Test func `whoever was told other counts is told all, and nobody is told earlier ones`() {
        let now = Self.present
        var room = room(counts(10, votes: [now: 1]), watchers: [1: (10, 0), 2: (8, 0), 3: (14, 0)])
        let first = told(&room, counts(12, votes: [now: 2]))
        #expect(first == [1: false, 2: true])
        let second = told(&room, counts(14, votes: [now: 3]))
        #expect(second == [1: false, 2: false])
        let third = told(&room, counts(15, votes: [now: 4]))
        #expect(third == [1: false, 2: false, 3: false])
        // A room that is to be forgotten has no counts any more.
        let last = told(&room, counts(0, votes: [:]))
        #expect(last == [1: false, 2: false, 3: false])
    }

    @Test func `what has changed is told where it is of the last hour or of the day`() {
        let now = Self.present
        // For one of them it is ten past midnight, for the other ten past six in the evening.
        var room = room(counts(10, votes: [:]), watchers: [1: (10, 0), 2: (10, -360)])
        let early = told(&room, counts(11, votes: [now - 100: 1]))
        #expect(early == [2: false])
        let late = told(&room, counts(12, votes: [now - 100: 1, now - 59: 1]))
        #expect(late == [1: false, 2: false])
        let nothing = told(&room, counts(13, votes: [now - 100: 1, now - 59: 1]))
        #expect(nothing.isEmpty)
        // Another day has begun for the second.
        let next = told(&room, counts(14, votes: [:], at: now + 350))
        #expect(next == [2: false])
    }
}
