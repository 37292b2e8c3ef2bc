import RoomDomain
import RoomWire
import Testing

@Suite struct EventsBodyTests {
    private static let events = (1...40).map { seq in
        RecordedEvent(
            seq: seq, at: Timestamp(milliseconds: 1_732_200_000_000),
            event: .memberRenamed(member: MemberID(rawValue: seq), name: String(repeating: "é", count: seq)))
    }

    @Test func `a body with room for all events is the body of all events`() {
        let whole = HTTPBody.events(epoch: "e1", events: Self.events, seq: 99)
        #expect(HTTPBody.events(epoch: "e1", events: Self.events, seq: 99, atMost: whole.count + 128) == whole)
        #expect(
            HTTPBody.events(epoch: "e1", events: [], seq: 99, atMost: 0)
                == HTTPBody.events(epoch: "e1", events: [], seq: 99))
    }

    @Test(arguments: 0..<60) func `a body has the first events that fit, and one at least`(hundreds: Int) {
        let limit = hundreds * 100
        let body = HTTPBody.events(epoch: "e1", events: Self.events, seq: 99, atMost: limit)
        let bodies = (1...40).map { HTTPBody.events(epoch: "e1", events: Self.events.prefix($0), seq: 99) }
        let count = bodies.firstIndex(of: body).map { $0 + 1 }
        #expect(count == 1 || body.count <= limit, "\(limit)")
        // No shorter than necessary, except for the size of everything around the events.
        if let count, count < 40 { #expect(bodies[count].count > limit - 128, "\(limit)") }
        #expect(count != nil)
    }
}
