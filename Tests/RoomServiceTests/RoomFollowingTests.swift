import NIOCore
import RoomDomain
import RoomTestSupport
import RoomWire
import Testing

@testable import RoomService

/// `RoomFollowing` by the numbers of its invariants.
@Suite struct RoomFollowingTests {
    private static let start = RoomParts.start

    private let parts = RoomParts()
    private let one = NewsFeed()
    private let other = NewsFeed()

    private func published(_ more: [RoomEvent], from: Int, to: Int) -> RoomNews {
        let events = parts.events(and: more).filter { (from...to).contains($0.seq) }
        return .events(
            PublishedEvents(
                room: parts.id, from: from, seq: to, message: ServerMessage.delta(room: parts.id, events: events)))
    }

    private func message(_ message: [UInt8], _ kind: EphemeralMessage.Kind) -> RoomNews {
        .message(EphemeralMessage(room: parts.id, kind: kind, message: message))
    }

    private func connection(_ number: Int) -> ConnectionID { ConnectionID(rawValue: number) }

    // MARK: Durable events

    @Test func `1: a ban reaches the feed after its event, also where it ends the last subscription`() {
        let more = RoomParts.bobIsBanned
        let room = parts.room()
        let banned = parts.room(more)
        var following = parts.following()
        _ = following.join(parts.request(1, RoomParts.ana, feed: one), in: room, at: Self.start)
        _ = following.join(parts.request(2, .bob, feed: other), in: room, at: Self.start)
        _ = following.join(parts.request(3, .bob, feed: other), in: room, at: Self.start)
        let events = Array(parts.events(and: more)[4...])
        #expect(following.members(concernedBy: events, in: banned) == [2])
        #expect(
            following.publish(events) == [
                .tell(published(more, from: 5, to: 6), FeedList([one, other])),
                .tell(.banned(Person.bob.session, from: parts.id), FeedList([other])),
            ])
        let follow = [1, 2].map { following.follows(connection($0)) }
        #expect(follow == [true, false])
        #expect(following.publish(events) == [.tell(published(more, from: 5, to: 6), FeedList([one]))])
    }

    @Test func `events are told in parts that a delta may have`() {
        let more = (0..<450).map { RoomEvent.memberRenamed(member: 1, name: "Ana \($0)") }
        var following = parts.following()
        _ = following.join(parts.request(1, .bob, feed: one), in: parts.room(), at: Self.start)
        let feeds = FeedList([one])
        #expect(
            following.publish(Array(parts.events(and: more)[4...])) == [
                .tell(published(more, from: 5, to: 204), feeds), .tell(published(more, from: 205, to: 404), feeds),
                .tell(published(more, from: 405, to: 454), feeds),
            ])
    }

    @Test func `2: presence names who joined after the event`() {
        let newcomer = Person.guest(9)
        let more: [RoomEvent] = [.memberJoined(member: 4, name: "Dan", role: .guest, session: newcomer.session)]
        var following = parts.following()
        #expect(following.join(parts.request(1, newcomer, feed: one), in: parts.room(), at: Self.start) == [])
        let joined = parts.room(more)
        let events = Array(parts.events(and: more)[4...])
        #expect(following.members(concernedBy: events, in: joined) == [4])
        #expect(following.publish(events).count == 1)
        guard case .set(.frame, at: let due)? = following.review([4], in: joined, at: Self.start).first else {
            Issue.record("no frame")
            return
        }
        #expect(due <= Self.start)
        let frame = ServerMessage.presence(room: parts.id, online: 1, change: (on: [4], off: []))
        #expect(
            following.rang(.frame, in: joined, at: Self.start) == [.tell(message(frame, .presence), FeedList([one]))])
    }

    @Test func `3: each alarm is set once, until it has rung`() {
        let room = parts.room()
        var following = parts.following()
        let alarms = (1...3).map { number in
            following.join(
                parts.request(number, [RoomParts.ana, .bob, .cyd][number - 1], feed: one), in: room, at: Self.start)
        }
        #expect(alarms.flatMap { $0 }.count == 1, "one frame tells them all")
        let grace = TimeAmount.seconds(15)
        #expect(
            following.leave(connection(2), because: .lost, in: room, at: Self.start)
                == [.set(.graceEnd, at: Self.start + grace)])
        let later = Self.start + .seconds(1)
        #expect(following.leave(connection(3), because: .lost, in: room, at: later) == [])
        _ = following.rang(.frame, in: room, at: later)
        let first = following.rang(.graceEnd, in: room, at: Self.start + grace)
        #expect(first.contains(.set(.graceEnd, at: later + grace)), "the next one's")
        #expect(first.contains { if case .set(.frame, _) = $0 { true } else { false } })
        #expect(following.currentPresence == Presence(online: 2, members: [1, 3]))
    }

    @Test func `4: a room without followers tells nobody anything`() {
        let more = [RoomEvent.memberRenamed(member: 1, name: "Anna")]
        var following = parts.following()
        #expect(following.publish(Array(parts.events(and: more)[4...])) == [])
        #expect(following.rang(.frame, in: parts.room(), at: Self.start) == [])
        let reaction = following.heard(.reaction("👍", from: 1), in: parts.room(), at: Self.start)
        #expect(reaction == [])
        #expect(following.isFollowed == false)
        #expect(following.leave(connection(1), because: .lost, in: parts.room(), at: Self.start) == [])
    }

    // MARK: Coming and going

    @Test func `a member who unsubscribes is offline at once, and one who is lost after a while`() {
        let room = parts.room()
        var following = parts.following()
        for (number, person) in [(1, RoomParts.ana), (2, .bob), (3, .cyd)] {
            _ = following.join(parts.request(number, person, feed: one), in: room, at: Self.start)
        }
        _ = following.leave(connection(1), because: .asked, in: room, at: Self.start)
        _ = following.leave(connection(2), because: .lost, in: room, at: Self.start)
        #expect(following.currentPresence.members == [2, 3])
        let sights = (
            following.sight(for: .leave, at: Self.start), following.sight(for: .replaceOwner(1), at: Self.start)
        )
        #expect(sights.0.online == [2, 3] && sights.1.online == [3])
        _ = following.leave(connection(3), because: .asked, in: room, at: Self.start)
        #expect(following.isFollowed == true, "a member may come back")
        _ = following.join(parts.request(4, .bob, feed: one), in: room, at: Self.start)
        _ = following.leave(connection(4), because: .asked, in: room, at: Self.start)
        #expect(following.isFollowed == false)
        #expect(following.currentPresence.members == [])
    }

    @Test func `the deck ends with its connection, before presence is told`() {
        let room = parts.room()
        var following = parts.following()
        _ = following.join(parts.request(1, RoomParts.ana, feed: one), in: room, at: Self.start)
        _ = following.join(parts.request(2, .bob, feed: other), in: room, at: Self.start)
        _ = following.rang(.frame, in: room, at: Self.start)
        let claim = following.perform(
            .claimDeck(true, on: connection(1)), by: RoomParts.ana.session, in: room, at: Self.start)
        #expect(claim.outcome == .done && claim.steps.count == 1)
        #expect(following.told(to: connection(1)).deck == ShownDeck(member: 1, isHere: true))
        let steps = following.leave(connection(1), because: .asked, in: room, at: Self.start)
        let none = DeckChange(room: parts.id, message: ServerMessage.deck(room: parts.id, nil))
        #expect(steps.first == .tell(.deck(none), FeedList([other])))
        #expect(steps.count > 1)
        #expect(following.told(to: connection(2)).deck == nil)
    }

    @Test func `another log tells all to begin anew, and who is banned there to go`() {
        let room = parts.room()
        let restored = parts.room(RoomParts.bobIsBanned, epoch: "second")
        var following = parts.following()
        _ = following.join(parts.request(1, RoomParts.ana, feed: one), in: room, at: Self.start)
        _ = following.join(parts.request(2, .bob, feed: other), in: room, at: Self.start)
        #expect(
            following.replaced(by: restored) == [
                .tell(.banned(Person.bob.session, from: parts.id), FeedList([other])),
                .tell(.replaced(parts.id), FeedList([one])),
            ])
        _ = following.reviewAll(in: restored, at: Self.start)
        #expect(following.currentPresence.members == [1])
    }

    @Test func `the end of a room ends every subscription once`() {
        var room = parts.room()
        var following = parts.following()
        _ = following.join(parts.request(1, RoomParts.ana, feed: one), in: room, at: Self.start)
        _ = following.perform(
            .claimDeck(true, on: connection(1)), by: RoomParts.ana.session, in: room, at: Self.start)
        _ = room.read(.gone)
        let steps = following.forgotten(room, at: Self.start)
        #expect(steps.first == .tell(.forgotten(parts.id), FeedList([one])))
        #expect(steps.count { if case .tell = $0 { true } else { false } } == 1)
        #expect(following.isFollowed == false)
        #expect(following.follows(connection(1)) == false)
        #expect(following.forgotten(room, at: Self.start) == [])
        #expect(parts.dependencies.presence.deck(of: parts.id) == nil)
    }

    // MARK: Ephemeral requests

    @Test func `a reaction reaches all feeds and the other servers, five times in a second`() {
        let room = parts.room()
        var following = parts.following()
        _ = following.join(parts.request(1, RoomParts.ana, feed: one), in: room, at: Self.start)
        let shown = ServerMessage.reaction(room: parts.id, from: 2, emoji: "👍")
        let expected: [FollowingStep] = [
            .tell(message(shown, .reaction), FeedList([one])),
            .relay(.reaction(parts.id, from: 2, emoji: "👍"), to: nil),
        ]
        for _ in 0..<ReactionLimit.perSecond {
            let reaction = following.perform(.reaction("👍"), by: Person.bob.session, in: room, at: Self.start)
            #expect(reaction.outcome == .done && reaction.steps == expected)
        }
        let late = following.perform(.reaction("👍"), by: Person.bob.session, in: room, at: Self.start)
        #expect(late.outcome == .rateLimited(retryAfterMs: 1_001) && late.steps == [])
        let elsewhere = following.heard(.reaction("👍", from: 3), in: room, at: Self.start)
        #expect(elsewhere.count == 1, "what another server relays is not relayed again")
    }

    @Test func `a signal reaches the feeds of its recipient`() throws {
        let room = parts.room()
        var following = parts.following()
        _ = following.join(parts.request(2, .bob, feed: one), in: room, at: Self.start)
        let data = try #require(RelayedJSON(Array("1".utf8)))
        let sent = following.perform(.signal(data, to: 2), by: RoomParts.ana.session, in: room, at: Self.start)
        #expect(sent.outcome == .done)
        guard case .tell(.signal(let signal), let feeds)? = sent.steps.first else {
            Issue.record("\(sent.steps)")
            return
        }
        #expect(signal.session == Person.bob.session && feeds == FeedList([one]) && sent.steps.count == 1)
        let heard = following.heard(.signal(data, from: 1, to: 2), in: room, at: Self.start)
        #expect(heard == [.tell(.signal(signal), feeds)])
        #expect(following.heard(.signal(data, from: 1, to: 3), in: room, at: Self.start) == [])
    }

    @Test func `who may not act is told why`() {
        var following = parts.following()
        func outcome(_ person: Person, in room: borrowing RoomWriter) -> EphemeralOutcome {
            following.perform(.reaction("👍"), by: person.session, in: room, at: Self.start).outcome
        }
        #expect(outcome(.guest(9), in: parts.room()) == .failed(.refused(.notMember)))
        let banned = parts.room(RoomParts.bobIsBanned)
        #expect(outcome(.bob, in: banned) == .failed(.refused(.banned)))
        #expect(outcome(.bob, in: parts.room([.roomClosed(forget: false)])) == .failed(.refused(.roomClosed)))
        var gone = parts.room()
        _ = gone.read(.gone)
        #expect(outcome(RoomParts.ana, in: gone) == .failed(.noSuchRoom))
    }
}
