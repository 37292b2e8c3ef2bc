import RoomDomain
import RoomTestSupport
import RoomWire
import Testing

@testable import RoomService

/// A room's deck: claims, their ends, and who is told.
@Suite struct RoomDeckTests {
    private static let start = RoomParts.start

    private let parts = RoomParts()
    private let feed = NewsFeed()

    private func deck() -> RoomDeck {
        RoomDeck(of: parts.id, registry: parts.dependencies.presence, clock: parts.dependencies.clock)
    }

    private func holder(_ connection: Int, _ person: Person, _ member: MemberID) -> RoomDeck.Holder {
        RoomDeck.Holder(
            connection: ConnectionID(rawValue: connection), session: person.session, member: member)
    }

    private func audience(_ people: [Int: Person]) -> RoomAudience {
        var audience = RoomAudience()
        for (connection, person) in people {
            audience.add(ConnectionID(rawValue: connection), session: person.session, feed: feed)
        }
        return audience
    }

    private func message(_ member: MemberID?, isHere: Bool = false) -> [UInt8] {
        ServerMessage.deck(room: parts.id, member.map { ShownDeck(member: $0, isHere: isHere) })
    }

    /// What followers are told of a deck that is here.
    private func change(_ member: MemberID, at connection: Int, concerned: Set<Int>? = nil) -> DeckChange {
        DeckChange(
            room: parts.id, message: message(member),
            here: DeckChange.Here(
                connection: ConnectionID(rawValue: connection), message: message(member, isHere: true)),
            concerned: concerned.map { Set($0.map(ConnectionID.init(rawValue:))) })
    }

    private var none: DeckChange { DeckChange(room: parts.id, message: message(nil)) }

    @Test func `the owner's connection becomes the deck, and all are told`() {
        let (room, audience) = (parts.loaded().state, audience([1: RoomParts.ana, 2: RoomParts.ana, 3: .bob]))
        var deck = deck()
        let first = deck.claim(true, by: holder(1, RoomParts.ana, 1), in: room, audience, at: Self.start)
        #expect(first.outcome == .done && first.change == change(1, at: 1))
        #expect(deck.told(to: ConnectionID(rawValue: 1)) == ShownDeck(member: 1, isHere: true))
        #expect(deck.told(to: ConnectionID(rawValue: 3)) == ShownDeck(member: 1, isHere: false))
        let again = deck.claim(true, by: holder(1, RoomParts.ana, 1), in: room, audience, at: Self.start)
        #expect(again.outcome == .done && again.change == nil)
        // Another device of the same member concerns only the two devices.
        let other = deck.claim(true, by: holder(2, RoomParts.ana, 1), in: room, audience, at: Self.start)
        #expect(other.change == change(1, at: 2, concerned: [1, 2]))
        let end = deck.claim(false, by: holder(2, RoomParts.ana, 1), in: room, audience, at: Self.start)
        #expect(end.outcome == .done && end.change == none)
    }

    @Test func `a guest, and a connection that does not follow, are refused`() {
        let room = parts.loaded().state
        var deck = deck()
        let guest = deck.claim(true, by: holder(3, .bob, 2), in: room, audience([3: .bob]), at: Self.start)
        #expect(guest.outcome == .failed(.refused(.forbidden("only the owner or a DJ may be the deck"))))
        let stranger = deck.claim(true, by: holder(1, RoomParts.ana, 1), in: room, audience([:]), at: Self.start)
        #expect(stranger.outcome == .failed(.refused(.conflict("this connection is not subscribed to the room"))))
        #expect(guest.change == nil && stranger.change == nil)
    }

    @Test func `a claim ends with its connection, and with its role`() {
        let room = parts.loaded().state
        var deck = deck()
        let both = audience([1: RoomParts.ana, 3: .bob])
        _ = deck.claim(true, by: holder(1, RoomParts.ana, 1), in: room, both, at: Self.start)
        #expect(deck.end(of: ConnectionID(rawValue: 3), in: room, both) == nil, "it has no claim")
        #expect(deck.end(of: ConnectionID(rawValue: 1), in: room, audience([3: .bob])) == none)
        _ = deck.claim(true, by: holder(1, RoomParts.ana, 1), in: room, both, at: Self.start)
        let demoted = parts.loaded([.roleChanged(member: 1, role: .guest)]).state
        #expect(deck.review(in: demoted, both) == none)
        #expect(deck.review(in: demoted, both) == nil)
        #expect(parts.dependencies.presence.deck(of: parts.id) == nil, "the other servers are told")
    }

    @Test func `a newer claim at another server ends the one here, and a claim here is newer than all that are known`()
    {
        let (room, both) = (parts.loaded().state, audience([1: RoomParts.ana, 3: .bob]))
        var deck = deck()
        _ = deck.claim(true, by: holder(1, RoomParts.ana, 1), in: room, both, at: Self.start)
        let later = Timestamp(milliseconds: parts.clock.now + 60_000)
        _ = parts.dependencies.presence.heard(
            .decksChanged([DeckClaim(room: parts.id, member: 1, at: later)]), from: "other")
        #expect(
            deck.read(in: room, both)
                == DeckChange(room: parts.id, message: message(1), concerned: [ConnectionID(rawValue: 1)]))
        // Although the other server's clock is ahead.
        let again = deck.claim(true, by: holder(1, RoomParts.ana, 1), in: room, both, at: Self.start)
        #expect(again.change == change(1, at: 1, concerned: [1]))
        #expect(
            parts.dependencies.presence.deck(of: parts.id)?.at == Timestamp(milliseconds: later.milliseconds + 1))
    }

    @Test func `a member claims a limited number of times in a second`() {
        let (room, audience) = (parts.loaded().state, audience([1: RoomParts.ana]))
        var deck = deck()
        var outcomes: [EphemeralOutcome] = []
        for _ in 0...ReactionLimit.perSecond {
            outcomes.append(
                deck.claim(true, by: holder(1, RoomParts.ana, 1), in: room, audience, at: Self.start).outcome)
            _ = deck.claim(false, by: holder(1, RoomParts.ana, 1), in: room, audience, at: Self.start)
        }
        #expect(outcomes.dropLast().allSatisfy { $0 == .done })
        #expect(outcomes.last == .rateLimited(retryAfterMs: 1_001))
    }
}
