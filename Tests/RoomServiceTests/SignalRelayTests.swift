import RoomDomain
import RoomTestSupport
import RoomWire
import Testing

@testable import RoomService

/// Where signals go, and which are refused.
@Suite struct SignalRelayTests {
    private static let start = RoomParts.start

    private func signal(_ parts: RoomParts) throws -> SignalRelay.Signal {
        SignalRelay.Signal(
            room: parts.id, data: try #require(RelayedJSON(Array(#""an offer""#.utf8))), sender: 1, recipient: 2)
    }

    @Test func `a signal goes to the recipient's connections here`() throws {
        let parts = RoomParts()
        let (outcome, route) = parts.dependencies.signals.send(
            try signal(parts), of: RoomParts.ana.session, to: Person.bob.session, isHere: true, at: Self.start)
        #expect(outcome == .done && route.servers == [])
        #expect(route.here?.room == parts.id && route.here?.session == Person.bob.session)
        #expect(
            route.here?.message
                == ServerMessage.signal(
                    room: parts.id, from: 1, data: try #require(RelayedJSON(Array(#""an offer""#.utf8)))))
    }

    @Test func `a recipient who is not connected, or no member, is not found`() throws {
        let parts = RoomParts()
        for session in [Person.bob.session, nil] {
            let (outcome, route) = parts.dependencies.signals.send(
                try signal(parts), of: RoomParts.ana.session, to: session, isHere: false, at: Self.start)
            #expect(outcome == .failed(.refused(.notFound("this member is not connected"))))
            #expect(route.here == nil && route.servers == [])
        }
    }

    @Test func `a sender has a share, and a recipient takes what it can`() throws {
        let parts = RoomParts {
            $0.shares.maximumSignalsPerSecond = 4
            $0.shares.maximumWaitingSignalBytes = 1
        }
        func send() throws -> (outcome: EphemeralOutcome, route: SignalRelay.Route) {
            parts.dependencies.signals.send(
                try signal(parts), of: RoomParts.ana.session, to: Person.bob.session, isHere: true, at: Self.start)
        }
        var waiting = try send()
        #expect(waiting.outcome == .done)
        #expect(try send().outcome == .rateLimited(retryAfterMs: 1_000), "the first one waits")
        waiting.route.here = nil
        #expect(try send().outcome == .done)
        for _ in 0..<2 { _ = try send() }
        guard case .rateLimited(let wait) = try send().outcome else {
            Issue.record("the share is not used up")
            return
        }
        #expect((1...2_000).contains(wait))
    }
}
