import RoomClient
import RoomTestSupport
import Testing

@testable import TerminalClient

@Suite struct RoomNewsTests {
    private let signs = Signs(isASCII: false)

    private var room: RoomFacts {
        var room = RoomFacts()
        (room.name, room.code, room.online) = ("Kitchen", "7KQ2ZM", 5)
        room.songs = [
            1: .init(title: "Blue Monday", artist: "New Order", length: .seconds(449), votes: 2),
            2: .init(title: "Song 2"),
        ]
        room.people[1] = .init(name: "Ana", role: .owner)
        room.people[2] = .init(name: "Ben", role: .guest)
        room.queue = [.init(number: 1, track: 2, addedBy: 1)]
        room.onAir = .init(entry: 7, track: 1, isPaused: false, position: .zero, at: 1_000, skipVotes: 0)
        room.requests = [1]
        return room
    }

    private func told(_ changes: RoomChange...) -> [String] {
        var room = room
        return room.take(changes).compactMap { $0.sentence(room, signs) }
    }

    @Test func `votes are told as counts, and one's own as one's own`() {
        #expect(told(.votes(TrackID(rawValue: 1), 3, isMine: false)) == ["“Blue Monday” by New Order now has 3 votes."])
        #expect(told(.votes(TrackID(rawValue: 2), 1, isMine: true)) == ["You voted for “Song 2”: 1 vote."])
        #expect(told(.votes(TrackID(rawValue: 1), 2, isMine: false)) == [])
    }

    @Test func `who leaves is named, and what is on air ends`() {
        #expect(told(.memberLeft(MemberID(rawValue: 2))) == ["Ben left."])
        #expect(told(.memberLeft(MemberID(rawValue: 9))) == [])
        #expect(told(.playback(nil)) == ["Nothing on air."])
        #expect(told(.tracksRemoved([TrackID(rawValue: 2)])) == ["Removed: “Song 2”."])
        #expect(told(.online(6)) == [])
    }

    @Test func `a vote to skip that goes with its voter is not told as taken back`() {
        var before = room
        before.onAir?.skipVoters = [1, 2]
        var after = before
        after.onAir?.skipVoters = [1]
        let news = RoomNews.skipVote(isCast: false)
        #expect(after.isNews(news, since: before))
        after.people[2] = nil
        #expect(!after.isNews(news, since: before))
        after.onAir?.skipVoters = []
        #expect(after.isNews(news, since: before))
        // A server that names no voters.
        #expect(room.isNews(news, since: room))
    }

    @Test(arguments: try NamesCase.all())
    func `names that look equal have the numbers of their members`(names: NamesCase) throws {
        var room = RoomFacts()
        for (number, name) in names.names { room.people[try #require(Int(number))] = .init(name: name, role: .guest) }
        for (number, shown) in names.shown { #expect(room.person(Int(number)) == shown) }
    }

    @Test func `who comes, leaves or takes another name is told apart from others`() {
        var room = room
        func told(_ news: RoomNews) -> String? { news.sentence(room, signs) }
        room.people[14] = .init(name: "ana", role: .guest)
        #expect(told(.joined(14, "ana", .guest)) == "ana (14) joined.")
        #expect(room.person(1) == "Ana (1)")
        room.people[14] = nil
        #expect(told(.left(14, "ana")) == "ana (14) left.")
        #expect(room.person(1) == "Ana")
        room.people[14] = .init(name: "Ann", role: .guest)
        #expect(told(.renamed(14, from: "ana", to: "Ann")) == "ana (14) is now called Ann.")
    }

    @Test func `a room is summed up`() {
        #expect(
            room.summary(signs, at: 61_000) == [
                "Kitchen (7KQ2ZM): 5 here, 2 tracks.", "On air: “Blue Monday” by New Order (1:00 of 7:29).",
                "Queue: 1. “Song 2”.", "Requests, with votes: “Blue Monday” by New Order (2).",
            ])
        #expect(
            RoomNews.queued(.init(number: 3, track: 2, addedBy: 2), place: 2).sentence(room, signs)
                == "Queued: “Song 2”, number 2, by Ben.")
    }

    @Test func `lines for programs have a type and a position`() {
        var room = room
        room.sequence = 9
        let news = room.take([.votes(TrackID(rawValue: 2), 1, isMine: true)])
        #expect(
            news.map { $0.json(room).line } == [
                #"{"type":"votes","seq":9,"track":{"number":2,"title":"Song 2"},"votes":1,"isMine":true}"#
            ])
        #expect(RoomNews.stopped.json(RoomFacts()).line == #"{"type":"playback","seq":0,"onAir":null}"#)
    }
}
