import GeoSearch
import RoomDomain
import RoomTestSupport
import RoomWire
import Testing

@testable import RoomService

/// `SubscriptionAnswers` by the numbers of its invariants.
@Suite struct SubscriptionAnswersTests {
    private static let time = Timestamp(milliseconds: 1_000)
    private static let told = RoomFollowing.Told(presence: Presence(online: 1, members: [2]), deck: nil)

    private static let place = Coordinate(latitude: 52.5, longitude: 13.4).map { RoundedLocation(stored: $0) }

    private let feed = NewsFeed()
    private let renames = (0..<6).map { RoomEvent.memberRenamed(member: 1, name: "Ana \($0)") }

    private func answers(of parts: RoomParts, _ more: [RoomEvent] = []) -> SubscriptionAnswers {
        SubscriptionAnswers(recent: RecentEvents(parts.events(and: more)), settings: parts.dependencies.settings)
    }

    private func begin(_ parts: RoomParts, at seq: Int, epoch: String = "first") -> SubscriptionRequest {
        parts.request(1, .bob, .begin(id: 7, from: Position(epoch: epoch, seq: seq)), feed: feed)
    }

    /// The messages of an answer as text.
    private func texts(_ subscription: Subscription) -> [String] {
        subscription.messages.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private func delta(_ parts: RoomParts, _ more: [RoomEvent], from: Int, to: Int) -> String {
        let events = parts.events(and: more).filter { (from...to).contains($0.seq) }
        return String(decoding: ServerMessage.delta(room: parts.id, events: events), as: UTF8.self)
    }

    // MARK: The log

    @Test func `a room alone with its log looks at it if it may be behind`() {
        let parts = RoomParts()
        let answers = answers(of: parts)
        var room = parts.room()
        let (known, ahead) = (begin(parts, at: 2), begin(parts, at: 5))
        #expect(answers.mustVerify(known, in: room, isFollowed: false) == false)
        #expect(answers.mustVerify(ahead, in: room, isFollowed: true) == true)
        #expect(answers.mustVerify(begin(parts, at: 5, epoch: "other"), in: room, isFollowed: true) == false)
        _ = room.hear(5)
        #expect(answers.mustVerify(known, in: room, isFollowed: false) == true)
        #expect(answers.mustVerify(parts.request(1, .bob, .anew, feed: feed), in: room, isFollowed: true) == false)
    }

    @Test func `a room that shares its log looks at it for every client that asks`() {
        let parts = RoomParts { $0.logIsShared = true }
        let answers = answers(of: parts)
        let room = parts.room()
        let (asks, catchesUp) = (begin(parts, at: 2), parts.request(1, .bob, .rest(from: 2), feed: feed))
        #expect(answers.mustVerify(asks, in: room, isFollowed: true) == true, "for the count of keyed commands")
        #expect(answers.mustVerify(catchesUp, in: room, isFollowed: true) == false)
        #expect(answers.mustVerify(catchesUp, in: room, isFollowed: false) == true)
        let placed = parts.room([.roomUpdated(.with { $0.location = Self.place })])
        #expect(answers.mustVerify(catchesUp, in: placed, isFollowed: true) == true, "the place may have been cleared")
    }

    // MARK: Ways

    @Test func `1: a client that has seen more is refused while the log is out of reach`() {
        let parts = RoomParts()
        let answers = answers(of: parts)
        var room = parts.room()
        let ahead = begin(parts, at: 5)
        #expect(answers.way(for: ahead, in: room, at: Self.time) == .encode(attempts: 3))
        _ = room.hear(5)
        #expect(answers.way(for: ahead, in: room, at: Self.time) == .refuse(.unavailable))
        #expect(answers.way(for: begin(parts, at: 4), in: room, at: Self.time) == .resume(after: 4, with: []))
    }

    @Test func `a banned session, and anybody in a room that is gone, are refused`() {
        let parts = RoomParts()
        let answers = answers(of: parts)
        var room = parts.room(RoomParts.bobIsBanned)
        #expect(answers.way(for: begin(parts, at: 2), in: room, at: Self.time) == .refuse(.refused(.banned)))
        _ = room.read(.gone)
        #expect(answers.way(for: begin(parts, at: 2), in: room, at: Self.time) == .refuse(.noSuchRoom))
    }

    @Test func `a position in memory is resumed, an older one read, and all others begin with a snapshot`() {
        let parts = RoomParts { $0.answers.resumableEvents = 8 }
        let room = parts.room(renames)
        let answers = SubscriptionAnswers(
            recent: RecentEvents(parts.events(and: renames).suffix(3)), settings: parts.dependencies.settings)
        func way(_ wish: SubscriptionWish) -> SubscriptionAnswers.Way {
            answers.way(for: parts.request(1, .bob, wish, feed: feed), in: room, at: Self.time)
        }
        func begin(_ seq: Int, _ epoch: String = "first") -> SubscriptionWish {
            .begin(id: nil, from: Position(epoch: epoch, seq: seq))
        }
        let events = parts.events(and: renames)
        #expect(way(begin(7)) == .resume(after: 7, with: events[7...]))
        #expect(way(.rest(from: 9)) == .resume(after: 8, with: events[8...]))
        let part = MissedEvents(
            room: parts.id, epoch: "first", after: 2, through: 10,
            bytes: parts.dependencies.settings.answers.resumableBytes,
            isWhole: true)
        #expect(way(begin(2)) == .read(part))
        guard case .read(let rest) = way(.rest(from: 3)) else {
            Issue.record("the rest is not read")
            return
        }
        #expect(!rest.isWhole && rest.bytes == parts.dependencies.settings.answers.answeredDeltaBytes)
        for wish in [begin(1), begin(8, "other"), begin(-1), .collapse(from: 9), .anew, .begin(id: nil, from: nil)] {
            #expect(way(wish) == .encode(attempts: 3), "\(wish)")
        }
    }

    @Test func `3: what was read of a log that was replaced leads to a snapshot`() {
        let parts = RoomParts()
        let events = parts.events(and: renames)
        let answers = SubscriptionAnswers(
            recent: RecentEvents(Array(events.suffix(2))), settings: parts.dependencies.settings)
        let part = MissedEvents(room: parts.id, epoch: "first", after: 2, through: 8, bytes: 1, isWhole: true)
        let request = begin(parts, at: 2)
        func way(_ read: [RecordedEvent]?, follows: Bool = true, epoch: String = "first")
            -> SubscriptionAnswers.Way
        {
            answers.way(
                for: request, after: part, read, follows: follows, in: parts.room(renames, epoch: epoch), at: Self.time)
        }
        let read = Array(events[2..<8])
        #expect(way(read) == .resume(after: 2, with: events[2...]), "with the events since")
        #expect(way(Array(read.prefix(2))) == .resume(after: 2, with: events[2..<4]), "a part, which has a rest")
        #expect(way(read, epoch: "second") == .encode(attempts: 3))
        #expect(way(nil) == .encode(attempts: 3))
        #expect(way(read, follows: false) == .refuse(.unavailable))
    }

    @Test func `4: what was read shows no place that was cleared since`() {
        let parts = RoomParts()
        let more: [RoomEvent] = [
            .roomUpdated(.with { $0.location = Self.place }), .roomUpdated(.with { $0.locationCleared = true }),
        ]
        let part = MissedEvents(room: parts.id, epoch: "first", after: 4, through: 5, bytes: 1, isWhole: true)
        let way = answers(of: parts, more).way(
            for: begin(parts, at: 4), after: part, Array(parts.events(and: more)[4..<5]), follows: true,
            in: parts.room(more), at: Self.time)
        guard case .resume(after: 4, with: let events) = way else {
            Issue.record("\(way)")
            return
        }
        #expect(events.count == 2 && !events.contains { "\($0.event)".contains("RoundedLocation(") })
    }

    @Test func `a state that is too old is encoded again, a few times`() throws {
        let parts = RoomParts()
        let answers = SubscriptionAnswers(
            recent: RecentEvents(parts.events(and: renames).suffix(2)), settings: parts.dependencies.settings)
        let room = parts.room(renames)
        let request = begin(parts, at: 1)
        func way(_ seq: Int?, attempts: Int = 3, follows: Bool = true) -> SubscriptionAnswers.Way {
            let state = seq.map { EncodedState(shared: SharedState(seq: $0, []), room: parts.loaded().state) }
            return answers.way(
                for: request, with: state, attempts: attempts, follows: follows, in: room, at: Self.time)
        }
        guard case .begin(let state) = way(8) else {
            Issue.record("the events since are in memory")
            return
        }
        #expect(state.shared.seq == 8)
        #expect(way(7) == .encode(attempts: 2))
        #expect(way(7, attempts: 1) == .refuse(.unavailable))
        #expect(way(nil) == .refuse(.unavailable))
        #expect(way(8, follows: false) == .refuse(.unavailable))
    }

    // MARK: Messages

    @Test func `2: an answer ends where it says, and tells whether that is all`() {
        let parts = RoomParts { $0.answers.answeredDeltaBytes = 1 }
        let room = parts.room(renames)
        let events = parts.events(and: renames)
        let whole = answers(of: RoomParts(), renames).resumed(
            begin(parts, at: 8), after: 8, with: events[8...], in: room, Self.told)
        #expect(whole.seq == 10 && whole.isWhole && !whole.isSnapshot && !whole.isCatchUp)
        #expect(texts(whole).count == 2 && texts(whole).last == delta(parts, renames, from: 9, to: 10))
        #expect(texts(whole)[0].contains(#""type":"resumed""#) && texts(whole)[0].contains(#""re":7"#))
        let part = answers(of: parts, renames).resumed(
            begin(parts, at: 8), after: 8, with: events[8...], in: room, Self.told)
        #expect(part.seq == 9 && !part.isWhole)
        #expect(texts(part).last == delta(parts, renames, from: 9, to: 9), "at least one event")
        let rest = answers(of: parts, renames).resumed(
            parts.request(1, .bob, .rest(from: 10), feed: feed), after: 9, with: events[9...], in: room, nil)
        #expect(rest.isWhole && rest.isCatchUp && rest.leftOutFrom == 10)
        #expect(texts(rest) == [delta(parts, renames, from: 10, to: 10)])
        let nothing = answers(of: parts, renames).resumed(
            begin(parts, at: 10), after: 10, with: [], in: room, Self.told)
        #expect(nothing.seq == 10 && nothing.isWhole && nothing.messages.count == 1)
    }

    @Test func `2: a snapshot is followed by the events since`() {
        let parts = RoomParts()
        let room = parts.room(renames)
        let former = parts.loaded(Array(renames.prefix(4))).state
        let state = EncodedState(shared: SharedState(seq: 8, StateJSON.encode(former)), room: former)
        let begun = answers(of: parts, renames).begun(
            parts.request(1, .bob, .collapse(from: 3), feed: feed), with: state, in: room, Self.told, at: Self.time)
        #expect(begun.seq == 10 && begun.isWhole && begun.isSnapshot && begun.leftOutFrom == 3)
        #expect(texts(begun).count == 2 && texts(begun).last == delta(parts, renames, from: 9, to: 10))
        let snapshot = ServerMessage.snapshot(
            re: nil, room: parts.id, epoch: "first", seq: 8, keyed: 0, time: Self.time, state: StateJSON.encode(former),
            you: YouJSON.encode(former, Person.bob.session), presence: Self.told.presence, collapsed: 3...8)
        #expect(texts(begun).first == String(decoding: snapshot, as: UTF8.self))
    }

    @Test func `the count of keyed commands is told where it is known`() {
        let parts = RoomParts()
        var request = begin(parts, at: 4)
        func first(_ request: SubscriptionRequest) -> String {
            texts(
                answers(of: parts).resumed(request, after: 4, with: [], in: parts.room(), Self.told))[0]
        }
        #expect(!first(request).contains(#""keyed""#))
        request.isVerified = true
        #expect(first(request).contains(#""keyed":0"#))
    }

    @Test func `a room that is forgotten keeps no events, and redacted ones stay redacted`() {
        let parts = RoomParts()
        var answers = answers(of: parts)
        let closed = parts.events(and: [.roomClosed(forget: true)])
        answers.add([closed[4]], Redaction(by: closed))
        let way = answers.way(
            for: begin(parts, at: 3),
            after: MissedEvents(
                room: parts.id, epoch: "first", after: 3, through: 4, bytes: 1, isWhole: true), nil, follows: true,
            in: parts.room(), at: Self.time)
        #expect(way == .encode(attempts: 3))
        guard case .read = answers.way(for: begin(parts, at: 3), in: parts.room(), at: Self.time) else {
            Issue.record("an event is kept")
            return
        }
    }
}
