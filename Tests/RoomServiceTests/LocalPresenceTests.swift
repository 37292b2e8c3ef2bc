import NIOCore
import RoomDomain
import RoomTestSupport
import Testing

@testable import RoomService

/// Who is online as one server sees it, and when that is told.
@Suite struct LocalPresenceTests {
    private static let start = RoomParts.start
    private static let feed = NewsFeed()
    private static let all: [MemberID] = [1, 2, 3]

    private func presence(of parts: RoomParts) -> LocalPresence {
        LocalPresence(
            of: parts.id, registry: parts.dependencies.presence, clock: parts.dependencies.clock, grace: .seconds(10),
            isObserving: true)
    }

    private func audience(_ people: [Person]) -> RoomAudience {
        var audience = RoomAudience()
        for (number, person) in people.enumerated() {
            audience.add(ConnectionID(rawValue: number), session: person.session, feed: Self.feed)
        }
        return audience
    }

    @Test func `a member is online while it is connected`() {
        let parts = RoomParts()
        let room = parts.loaded().state
        var presence = presence(of: parts)
        #expect(presence.review([] as [MemberID], in: room, audience([.bob])) == nil)
        #expect(presence.review(Self.all, in: room, audience([.bob, .guest(9)])) == .more)
        #expect(presence.online == [2])
        #expect(presence.review(Self.all, in: room, audience([.bob])) == .nothing)
        #expect(presence.review(Self.all, in: room, audience([.cyd])) == .fewer, "one comes and one goes")
        #expect(presence.online == [3])
        #expect(parts.dependencies.presence.counts(of: [parts.id]) == [1])
    }

    @Test func `a lost member stays online for its grace, and does not count as an owner to be`() {
        let parts = RoomParts { $0.presence.grace = .zero }
        let room = parts.loaded().state
        var presence = presence(of: parts)
        _ = presence.review(Self.all, in: room, audience([RoomParts.ana, .bob]))
        presence.beginGrace(of: 2, at: Self.start)
        #expect(presence.hasGrace)
        #expect(presence.nextEndOfGrace() == Self.start + .seconds(10))
        #expect(presence.nextEndOfGrace() == nil, "it is known already")
        #expect(presence.review(Self.all, in: room, audience([RoomParts.ana])) == .nothing)
        #expect(presence.online(for: .leave) == [1, 2])
        #expect(presence.online(for: .replaceOwner(1)) == [1])
        parts.clock.advance(milliseconds: 10_000)
        #expect(presence.endGrace(at: Self.start + .seconds(10)) == [2])
        #expect(presence.review([2], in: room, audience([RoomParts.ana])) == .fewer)
        #expect(presence.lastSeen == [2: Timestamp(milliseconds: parts.clock.now)])
        #expect(presence.nextEndOfGrace() == nil)
        // Back again.
        #expect(presence.review([2], in: room, audience([.bob])) == .more)
        #expect(presence.lastSeen == [:])
    }

    @Test func `nobody knows who is offline until the others had time to come back`() {
        let parts = RoomParts { $0.presence.grace = .seconds(15) }
        #expect(presence(of: parts).lastSeen == nil)
    }

    @Test func `a frame is taken once for all changes, and by nobody if nobody follows`() {
        let parts = RoomParts()
        let room = parts.loaded().state
        var presence = presence(of: parts)
        _ = presence.review(Self.all, in: room, audience([.bob]))
        let due = presence.nextFrame(isFollowed: true)
        #expect(due != nil && due.map { $0 <= Self.start } == true)
        #expect(presence.nextFrame(isFollowed: true) == nil, "it is known already")
        _ = presence.review(Self.all, in: room, audience([.bob, .cyd]))
        #expect(
            presence.takeFrame(isFollowed: true, at: Self.start)
                == RoomPresence.Frame(online: 2, on: [2, 3], off: [], isCountOnly: false))
        #expect(presence.nextFrame(isFollowed: true) == nil, "nothing is left to tell")
        _ = presence.review(Self.all, in: room, audience([.bob]))
        #expect(presence.nextFrame(isFollowed: true) == Self.start + RoomPresence.frameInterval)
        #expect(presence.takeFrame(isFollowed: false, at: Self.start + .seconds(1)) == nil)
        #expect(presence.nextFrame(isFollowed: true) == nil, "it was dropped")
    }

    @Test func `another log, or the room's end, leave no grace`() {
        let parts = RoomParts { $0.presence.grace = .zero }
        let room = parts.loaded().state
        var presence = presence(of: parts)
        _ = presence.review(Self.all, in: room, audience([RoomParts.ana, .bob]))
        presence.beginGrace(of: 2, at: Self.start)
        presence.replaced()
        #expect(!presence.hasGrace && presence.online == [1, 2])
        #expect(presence.forgotten(room, RoomAudience()) == .fewer)
        #expect(presence.online == [])
        #expect(presence.forgotten(room, RoomAudience()) == nil)
    }
}
