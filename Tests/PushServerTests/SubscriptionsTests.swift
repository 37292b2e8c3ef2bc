import Testing

@testable import PushServer

/// ``Subscriptions`` in every order of what can happen to a socket: see ``SubscriptionWorld``.
@Suite struct SubscriptionsTests {
    /// What happens in one room, and in two.
    static let plans: [(rooms: Int, acts: [SubscriptionWorld.Planned])] = [
        (1, [.subscribe(0), .event(0), .event(0), .event(0), .subscribe(0)]),
        (1, [.subscribe(0), .event(0), .event(0), .unsubscribe(0), .subscribe(0)]),
        (1, [.subscribe(0), .event(0), .event(0), .replaceLog(0), .subscribe(0)]),
        (1, [.subscribe(0), .event(0), .event(0), .replaceLog(0), .event(0)]),
        (2, [.subscribe(0), .subscribe(1), .event(0), .event(0), .event(1)]),
    ]

    @Test(arguments: plans)
    func `no event is lost or repeated in any order of what happens`(
        rooms: Int, acts: [SubscriptionWorld.Planned]
    ) throws {
        var visited: Set<String> = []
        var paths: [[SubscriptionWorld.Act]] = [[]]
        var ends = 0
        let framing = FrameMaker()
        while var path = paths.popLast() {
            let world = SubscriptionWorld(acts, rooms: rooms, framing: framing)
            do {
                for act in path { try world.perform(act) }
                while true {
                    guard visited.insert(world.digest).inserted else { break }
                    let acts = world.acts
                    guard let first = acts.first else {
                        try world.checkEnd()
                        ends += 1
                        break
                    }
                    for act in acts.dropFirst() { paths.append(path + [act]) }
                    path.append(first)
                    try world.perform(first)
                }
            } catch {
                Issue.record("\(error), after \(path)")
                return
            }
        }
        #expect(visited.count > 100 && ends > 0)
    }
}
