import NIOCore
import RoomDomain
import RoomTestSupport
import RoomWire
import Synchronization
import Testing

@testable import RoomService

/// `RoomAnswers` by the numbers of its invariants.
@Suite struct RoomAnswersTests {
    private static let start = RoomParts.start

    private let feed = NewsFeed()
    private let renamed = RoomEvent.memberRenamed(member: 1, name: "Anna")

    private func answers(of parts: RoomParts, _ more: [RoomEvent] = []) -> RoomAnswers {
        RoomAnswers(recent: RecentEvents(parts.events(and: more)), parts.dependencies)
    }

    /// What a connection is told by these steps; nil if it is told nothing.
    private func told(_ steps: [RoomAnswers.Step]?) -> RoomNews? {
        let news = (steps ?? []).compactMap { step -> RoomNews? in
            if case .tell(let news, _) = step { news } else { nil }
        }
        #expect(news.count <= 1)
        return news.first
    }

    private func encoding(_ steps: [RoomAnswers.Step]?) -> EncodingJob? {
        for case .encode(let job) in steps ?? [] { return job }
        return nil
    }

    private func seq(_ news: RoomNews?) -> Int? {
        if case .subscribed(let subscription)? = news { subscription.seq } else { nil }
    }

    @Test func `2: a connection follows before its answer is made`() {
        let parts = RoomParts()
        let room = parts.room()
        var answers = answers(of: parts)
        var following = parts.following()
        let steps = answers.answer(parts.request(1, .bob, feed: feed), in: room, &following, at: Self.start)
        guard case .follow(let joined)? = steps.first, case .subscribed(let subscription)? = told(steps) else {
            Issue.record("\(steps)")
            return
        }
        let follows = following.follows(ConnectionID(rawValue: 1))
        #expect(joined.count == 1 && follows)
        #expect(subscription.isSnapshot && subscription.seq == 4)
        #expect(String(decoding: subscription.messages[0].bytes, as: UTF8.self).contains(#""presence":{"online":1"#))
    }

    @Test func `a refused request does not follow`() {
        let parts = RoomParts()
        let room = parts.room(RoomParts.bobIsBanned)
        var answers = answers(of: parts)
        var following = parts.following()
        let request = parts.request(1, .bob, feed: feed)
        let steps = answers.answer(request, in: room, &following, at: Self.start)
        #expect(steps.count == 1 && told(steps) == .refused(RefusedSubscription(request, .refused(.banned))))
        let follows = following.follows(request.connection)
        #expect(!follows)
    }

    @Test func `1: all who wait for a state are answered once, one after the other`() throws {
        let parts = RoomParts { $0.answers.longStateBytes = 0 }
        let room = parts.room()
        var answers = answers(of: parts)
        var following = parts.following()
        let views = Mutex<[RoomView]>([])
        let first = answers.answer(parts.request(1, .bob, feed: feed), in: room, &following, at: Self.start)
        let job = try #require(encoding(first))
        let second = answers.answer(parts.request(2, .cyd, feed: feed), in: room, &following, at: Self.start)
        #expect(told(first) == nil && told(second) == nil && encoding(second) == nil)
        let look = answers.look(for: Person.bob.session, in: room, &following) { view in
            if case .success(let view) = view { views.withLock { $0.append(view) } }
        }
        #expect(look.isEmpty)
        #expect(answers.isIdle == false)
        answers.encoded(job.run(countingIn: parts.dependencies.metrics), by: job, in: room)
        #expect(seq(told(answers.next(in: room, &following))) == 4)
        #expect(seq(told(answers.next(in: room, &following))) == 4)
        guard case .show(let view, to: let viewer)? = answers.next(in: room, &following)?.first else {
            Issue.record("no view")
            return
        }
        viewer(view)
        #expect(views.withLock { $0.map(\.seq) } == [4])
        #expect(answers.isIdle == true)
        #expect(answers.next(in: room, &following) == nil)
    }

    @Test func `2: a connection that leaves while its answer is made is refused`() throws {
        let parts = RoomParts { $0.answers.longStateBytes = 0 }
        let room = parts.room()
        var answers = answers(of: parts)
        var following = parts.following()
        let request = parts.request(1, .bob, feed: feed)
        let job = try #require(
            encoding(answers.answer(request, in: room, &following, at: Self.start)))
        _ = following.leave(request.connection, because: .lost, in: room, at: Self.start)
        answers.encoded(job.run(countingIn: parts.dependencies.metrics), by: job, in: room)
        guard case .refused(let refused)? = told(answers.next(in: room, &following)) else {
            Issue.record("it is not refused")
            return
        }
        #expect(refused.failure == .unavailable)
        #expect(answers.next(in: room, &following) == nil)
    }

    @Test func `3: a state that was encoded is followed by the events since`() throws {
        let parts = RoomParts { $0.answers.longStateBytes = 0 }
        let room = parts.room()
        let later = parts.room([renamed])
        var answers = answers(of: parts)
        var following = parts.following()
        let first = answers.answer(parts.request(1, .bob, feed: feed), in: room, &following, at: Self.start)
        let job = try #require(encoding(first))
        answers.add([parts.events(and: [renamed])[4]], Redaction())
        // A question at the later position waits for the next encoding.
        _ = answers.answer(parts.request(2, .cyd, feed: feed), in: later, &following, at: Self.start)
        answers.encoded(job.run(countingIn: parts.dependencies.metrics), by: job, in: later)
        guard case .subscribed(let subscription)? = told(answers.next(in: later, &following)) else {
            Issue.record("no answer")
            return
        }
        #expect(subscription.messages.count == 2 && subscription.seq == 5 && subscription.isWhole)
        let next = try #require(encoding(answers.next(in: later, &following)))
        #expect(answers.next(in: later, &following) == nil, "one is under way")
        answers.encoded(next.run(countingIn: parts.dependencies.metrics), by: next, in: later)
        #expect(seq(told(answers.next(in: later, &following))) == 5)
    }

    @Test func `a room that is gone, and work that is refused, give everybody up`() throws {
        let parts = RoomParts { $0.answers.longStateBytes = 0 }
        var room = parts.room()
        var answers = answers(of: parts)
        var following = parts.following()
        let request = parts.request(1, .bob, feed: feed)
        let job = try #require(encoding(answers.answer(request, in: room, &following, at: Self.start)))
        answers.encoded(nil, by: job, in: room)
        guard case .refused(let refused)? = told(answers.next(in: room, &following)) else {
            Issue.record("no answer")
            return
        }
        #expect(refused.failure == .unavailable)
        let again = try #require(encoding(answers.answer(request, in: room, &following, at: Self.start)))
        _ = room.read(.gone)
        answers.encoded(again.run(countingIn: parts.dependencies.metrics), by: again, in: room)
        guard case .refused(let gone)? = told(answers.next(in: room, &following)) else {
            Issue.record("no answer")
            return
        }
        #expect(gone.failure == .noSuchRoom)
        #expect(answers.next(in: room, &following) == nil)
        #expect(answers.isIdle == true)
    }

    @Test func `a position that is not in memory is read from the log`() {
        let parts = RoomParts()
        let room = parts.room([renamed])
        var following = parts.following()
        var answers = RoomAnswers(recent: RecentEvents([]), parts.dependencies)
        let request = parts.request(1, .bob, .begin(id: 1, from: Position(epoch: "first", seq: 4)), feed: feed)
        let steps = answers.answer(request, in: room, &following, at: Self.start)
        guard case .read(let part, for: let asked)? = steps.last else {
            Issue.record("\(steps)")
            return
        }
        #expect(part.after == 4 && part.through == 5 && told(steps) == nil)
        let events = [parts.events(and: [renamed])[4]]
        #expect(seq(told(answers.read(part, events, for: asked, in: room, &following))) == 5)
        let snapshot = told(answers.read(part, nil, for: asked, in: room, &following))
        guard case .subscribed(let subscription)? = snapshot else {
            Issue.record("no snapshot")
            return
        }
        #expect(subscription.isSnapshot)
    }

    @Test func `a look shows the room to whom it may be shown`() {
        let parts = RoomParts()
        let room = parts.room(RoomParts.bobIsBanned)
        var answers = answers(of: parts)
        var following = parts.following()
        func look(_ person: Person) -> Result<RoomView, RoomFailure>? {
            for case .show(let view, _) in answers.look(for: person.session, in: room, &following, { _ in }) {
                return view
            }
            return nil
        }
        guard case .success(let view)? = look(RoomParts.ana), case .failure(let failure)? = look(.bob) else {
            Issue.record("no views")
            return
        }
        #expect(view.seq == 6 && view.keyed == 0 && view.epoch == "first" && view.you != nil)
        #expect(failure == .refused(.banned))
    }
}
