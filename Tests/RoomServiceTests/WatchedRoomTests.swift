import EventStorage
import FoundationEssentials
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
                id: WatchID(number: number, delivered: WatchClient.Delivery(to: WatchClient())),
                asker: Asker(Self.session, from: nil),
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

    /// Rooms by their last byte; `toldAt` in milliseconds, and the addresses of those who wait.
    private func order(_ due: [(room: UInt8, toldAt: Double, addresses: [UInt64])]) -> [UInt8] {
        DueRoom.inTurn(
            due.map { room, toldAt, addresses in
                DueRoom(
                    room: RoomID(Person.guest(room).session.uuid), origins: Set(addresses.map { .address($0) }),
                    toldAt: toldAt)
            }
        ).map(\.uuid.uuid.15)
    }

    @Test func `addresses are told in turn, first of the room that was told longest ago`() {
        let many: [(UInt8, Double, [UInt64])] = [(1, 30, [7]), (2, 10, [7]), (3, 20, [7])]
        #expect(order(many + [(4, 40, [8])]) == [2, 4, 3, 1])
        // A room that others watch too does not wait for the address with most rooms.
        #expect(order(many + [(5, 50, [7, 9])]) == [2, 5, 3, 1])
        #expect(order([]).isEmpty)
    }

    @Test func `a room is due at most once a second, for those who take a message`() {
        let now = Self.present
        var table = CountTable()
        let id = RoomID(Self.session.uuid)
        table.rooms[id] = room(counts(10, votes: [now: 1]), watchers: [1: (10, 0)])
        let old = Position(epoch: "e", seq: 10)
        let new = Position(epoch: "e", seq: 11)
        #expect(table.due(id, countedTo: old, at: now, now: 5_000) == nil)
        #expect(table.due(id, countedTo: new, at: now, now: 5_000)?.origins == [.session(Self.session)])
        table.rooms[id]?.toldAt = 4_500
        #expect(table.due(id, countedTo: new, at: now, now: 5_400) == nil)
        #expect(table.due(id, countedTo: new, at: now, now: 5_500) != nil)
        table.rooms[id]?.watches[1]?.id.delivered.sent(100)
        #expect(table.due(id, countedTo: new, at: now, now: 5_500) == nil)
    }
}
