import RoomDomain
import RoomTestSupport
import Synchronization
import Testing

@testable import RoomService

/// `PendingRequests` by the numbers of its invariants.
@Suite struct PendingRequestsTests {
    private static func short(_ name: String = "Ana") -> CommandRequest {
        RoomParts.command(.rename(name: name))
    }

    private static func long() -> CommandRequest {
        RoomParts.command(.removeTracks((1...51).map(TrackID.init(rawValue:))))
    }

    /// Takes turns until no command waits, and returns how many commands each had.
    private func turns(of requests: inout PendingRequests) -> [Int] {
        var turns: [Int] = []
        while requests.isQueued {
            var (items, count) = (0, 0)
            while requests.next(&items) != nil { count += 1 }
            turns.append(count)
        }
        return turns
    }

    @Test func `1 and 2: short commands are numbered as they arrive`() {
        var requests = PendingRequests()
        let arrivals = (0..<3).map { _ in requests.add(Self.short()) }
        #expect(arrivals == [.decide(1), .decide(2), .decide(3)])
        let verification = requests.add {}
        #expect(verification == 4)
        #expect(requests.isQueued == false)
    }

    @Test func `2: a long command waits for its turn, and all later ones behind it`() {
        var requests = PendingRequests()
        let arrivals = [
            requests.add(Self.short("first")), requests.add(Self.long()), requests.add(Self.short("third")),
        ]
        #expect(arrivals == [.decide(1), .askForTurns, .wait])
        var items = 0
        let numbers = (requests.next(&items), requests.next(&items))
        #expect(numbers.0 == 2 && numbers.1 == nil, "a long command makes a turn")
        items = 0
        let next = requests.next(&items)
        #expect(next == 3)
        let commands = (1...3).compactMap { requests.takeCommand($0)?.command.kind }
        #expect(commands == [.rename, .removeTracks, .rename])
    }

    @Test func `several short commands make one turn`() {
        var requests = PendingRequests()
        _ = requests.add(Self.long())
        for _ in 0..<60 { _ = requests.add(Self.short()) }
        #expect(turns(of: &requests) == [1, 25, 25, 10])
    }

    @Test func `turns are asked for again when none waits any more`() {
        var requests = PendingRequests()
        for _ in 0..<2 {
            let arrival = requests.add(Self.long())
            #expect(arrival == .askForTurns)
            #expect(turns(of: &requests) == [1])
        }
    }

    @Test func `too many commands do not wait`() {
        var requests = PendingRequests()
        for _ in 0..<PendingRequests.queueLimit { _ = requests.add(Self.long()) }
        let arrival = requests.add(Self.short())
        #expect(arrival == .refuse)
        #expect(turns(of: &requests).reduce(0, +) == PendingRequests.queueLimit)
    }

    @Test func `3: a request is taken out once, with what was kept of it`() {
        let calls = Atomic(0)
        var requests = PendingRequests()
        _ = requests.add(Self.short())
        for charge in 1...2 {
            let decision = requests.decide(1) { request in
                request.charged += charge
                return .answered(.keyReused)
            }
            #expect(decision == .answered(.keyReused))
        }
        #expect(requests.takeCommand(1)?.charged == 3)
        #expect(requests.takeCommand(1) == nil)
        let number = requests.add { calls.add(1, ordering: .relaxed) }
        requests.takeVerification(number)?()
        requests.takeVerification(number)?()
        #expect(calls.load(ordering: .relaxed) == 1)
    }
}
