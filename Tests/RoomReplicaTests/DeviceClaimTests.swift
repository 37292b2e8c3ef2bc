import RoomDomain
import RoomWire
import Testing

@testable import RoomReplica

/// The claim to be the device that plays, by itself and in the machine.
@Suite struct DeviceClaimTests {
    private let served = ServedRoom.kitchen([
        .voteCast(track: .two, by: .one, votes: 1, requestedSeq: 6)
    ])
    private let kitchen = RoomReference.id(ServedRoom.kitchenID)
    private let mine = ShownDeck(member: .one, isHere: false)
    private let here = ShownDeck(member: .one, isHere: true)
    private let others = ShownDeck(member: .two, isHere: false)

    /// A claim that was made, and whose connection is lost.
    private func lost() -> DeviceClaim {
        var claim = DeviceClaim()
        claim.asked(id: 1)
        claim.told(others, me: .one)
        #expect(!claim.isDeck, "the other one was before it")
        claim.told(here, me: .one)
        claim.disconnected()
        #expect(claim.isDeck)
        return claim
    }

    private func isDue(_ claim: DeviceClaim, _ deck: ShownDeck? = nil, at now: Int64 = 0) -> Bool {
        claim.isDueAgain(deck, at: .at(now))
    }

    @Test func `it is claimed again where nobody plays`() {
        var claim = lost()
        claim.told(mine, me: .one)
        #expect(!isDue(claim, mine), "it may be that of the lost connection")
        #expect(isDue(claim))
        claim.asked(id: 2)
        #expect(!isDue(claim), "it is under way")
        claim.disconnected()
        #expect(isDue(claim), "it was not answered")
        claim.asked(id: 3)
        claim.agreed(3)
        #expect(claim.isDeck && !isDue(claim))
        claim.disconnected()
        #expect(isDue(claim), "the server had agreed, and told nobody yet")
    }

    @Test func `a claim of another member ends it, and a newer one on the same connection`() {
        var claim = lost()
        claim.told(others, me: .one)
        #expect(!claim.isDeck && !isDue(claim))
        claim = DeviceClaim()
        claim.asked(id: 1)
        claim.agreed(1)
        claim.told(nil, me: .one)
        #expect(claim.isDeck, "what was told was sent before")
        claim.told(here, me: .one)
        claim.told(mine, me: .one)
        #expect(!claim.isDeck, "another device of the same person")
    }

    @Test func `a refusal for now is waited for, another one ends it`() {
        var claim = lost()
        claim.asked(id: 2)
        claim.refused(7, until: nil)
        claim.refused(2, until: .at(500))
        #expect(claim.isDeck && claim.due == .at(500))
        #expect(!isDue(claim, at: 499) && isDue(claim, at: 500))
        claim.asked(id: 3)
        #expect(claim.due == nil)
        claim.refused(3, until: nil)
        #expect(!claim.isDeck && !isDue(claim, at: 500))
        // The first claim is the app's, which is told.
        claim.asked(id: 4)
        claim.refused(4, until: .at(500))
        #expect(!claim.isDeck && claim.due == nil)
        claim.asked(id: 5)
        claim.disconnected()
        #expect(!claim.isDeck && !isDue(claim))
    }

    @Test func `a device that is the deck may claim again and be refused`() {
        for isRefused in [true, false] {
            var claim = DeviceClaim()
            claim.asked(id: 1)
            claim.told(here, me: .one)
            claim.asked(id: 2)
            if isRefused { claim.refused(2, until: nil) } else { claim.agreed(2) }
            #expect(claim.isDeck)
            claim.disconnected()
            #expect(isDue(claim))
        }
        var claim = lost()
        claim.release()
        #expect(claim == DeviceClaim())
    }

    // MARK: In the machine

    private func live() throws -> ScriptedClient {
        var client = ScriptedClient()
        try client.perform(client.machine.follow(kitchen, at: client.moment))
        try client.perform(client.machine.start(at: client.moment))
        try client.open()
        try client.receive(served.snapshot(at: 5))
        _ = client.take()
        return client
    }

    private func claim(_ isOn: Bool, _ client: inout ScriptedClient) throws -> TellingNumber {
        let claim = client.machine.claimDeck(isOn, in: kitchen, at: client.moment)
        try client.perform(claim.steps)
        return claim.number
    }

    private func reconnect(_ client: inout ScriptedClient) throws {
        try client.lose()
        try client.open()
        try client.receive(served.resumed(at: 5))
    }

    private func deck(_ client: ScriptedClient) -> ShownDeck? { client.machine.room(kitchen)?.shownDeck }

    @Test func `a claim that is given up without a connection has ended, each time under a number of its own`() throws {
        var client = try live()
        try client.lose()
        _ = client.take()
        let numbers = [try claim(false, &client), try claim(true, &client), try claim(false, &client)]
        #expect(Set(numbers.map(\.rawValue)).count == 3)
        var told: [TellingNumber] = []
        var refused: [TellingNumber] = []
        for case .told(let number, let refusal) in client.steps() {
            told.append(number)
            if refusal != nil { refused.append(number) }
        }
        #expect(told == numbers && refused == [numbers[1]])
    }

    @Test func `a device that was the deck claims it after a reconnect, and shows it all the time`() throws {
        var client = try live()
        let number = try claim(true, &client)
        guard case .deck(let id?, kitchen, isOn: true)? = client.sent().last else {
            Issue.record("it does not ask")
            return
        }
        #expect(deck(client) == nil)
        try client.receive(ServerMessage.ok(re: id))
        #expect(deck(client) == here)
        let steps = client.steps()
        #expect(steps.contains(.told(number, nil)))
        #expect(steps.contains(.changed(kitchen, [.deck(here)])))
        try client.receive(ServerMessage.deck(room: ServedRoom.kitchenID, here))
        try reconnect(&client)
        #expect(deck(client) == here)
        guard case .deck(let again?, kitchen, isOn: true)? = client.sent().last else {
            Issue.record("it does not claim again")
            return
        }
        // Too many claims for now; then the role is gone.
        try client.receive(
            ServerMessage.error(re: again, code: .rateLimited, message: "no", retryAfterMs: 5_000))
        _ = client.take()
        #expect(deck(client) == here)
        try client.pass(10_000)
        guard case .deck(let last?, kitchen, isOn: true)? = client.sent().last else {
            Issue.record("it does not claim again when it may")
            return
        }
        try client.receive(ServerMessage.error(re: last, code: .forbidden, message: "no"))
        #expect(deck(client) == nil)
        #expect(client.steps().contains(.changed(kitchen, [.deck(nil)])))
        try reconnect(&client)
        #expect(client.sent() == [])
    }

    @Test func `a deck that is let go without a connection is not claimed again`() throws {
        var client = try live()
        _ = try claim(true, &client)
        try client.receive(ServerMessage.deck(room: ServedRoom.kitchenID, here))
        try client.lose()
        _ = client.take()
        let number = try claim(false, &client)
        #expect(client.steps().contains(.told(number, nil)))
        #expect(deck(client) == mine, "as the server told last")
        try client.open()
        try client.receive(served.resumed(at: 5))
        #expect(client.sent() == [])
        #expect(deck(client) == nil)
    }
}
