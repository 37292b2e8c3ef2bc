import EventStorage
import RoomDomain
import Testing

@testable import RoomService

/// `RoomWriter` in every order of what can happen to it.
@Suite struct RoomWriterTests {
    struct Plan: Sendable {
        var commands: [WriterWorld.Command]
        /// Whether anybody follows the room, which only matters when it reads.
        var isFollowed: Bool
        var acts: Int
    }

    static let plans = [
        Plan(commands: [.rename, .rename, .rename], isFollowed: true, acts: 8),
        Plan(commands: [.keyed("k"), .keyed("k"), .refused], isFollowed: true, acts: 8),
        Plan(commands: [.rename, .refused, .rename], isFollowed: false, acts: 7),
        Plan(commands: [.limited, .keyed("k"), .rename], isFollowed: false, acts: 7),
    ]

    /// Every way of eight acts, or seven, with three commands, a conflict, a fault, a lost answer, a reload and another
    /// log; then everything that is under way ends.
    @Test(arguments: plans)
    func `the invariants hold in every order of what happens`(plan: Plan) throws {
        var count = 0
        let world = WriterWorld(plan: plan.commands, isFollowed: plan.isFollowed)
        try follow(world, acts: plan.acts, after: [], &count)
        #expect(count > 10_000)
    }

    private func follow(
        _ world: borrowing WriterWorld, acts: Int, after path: [WriterWorld.Act], _ count: inout Int
    ) throws {
        for act in world.acts {
            var next = WriterWorld(copying: world)
            let path = path + [act]
            do {
                try next.perform(act)
                guard acts == 1 else {
                    try follow(next, acts: acts - 1, after: path, &count)
                    continue
                }
                count += 1
                try next.settle()
            } catch let violation as WriterWorld.Violation {
                throw Broken(violation: violation, path: path)
            }
        }
    }

    struct Broken: Error, CustomStringConvertible {
        var violation: WriterWorld.Violation
        var path: [WriterWorld.Act]
        var description: String { "\(violation), after \(path)" }
    }
}
