import EventStorage
import RoomDomain
import Testing

@testable import RoomService

/// `RoomWriter` in every order of what can happen to it.
@Suite struct RoomWriterTests {
    static let plans: [[WriterWorld.Command]] = [
        [.rename, .rename, .rename],
        [.rename, .refused, .rename],
        [.keyed("k"), .keyed("k"), .refused],
        [.limited, .keyed("k"), .rename],
    ]

    /// Every way of eight acts, with three commands, a conflict, a fault, a lost answer, a reload and another log.
    ///
    /// Whether anybody follows the room changes only when it reads: half of the plans have followers.
    @Test(arguments: zip(plans, [true, false, true, false]))
    func `the invariants hold in every order of eight acts`(plan: [WriterWorld.Command], isFollowed: Bool) throws {
        var count = 0
        try follow(WriterWorld(plan: plan, isFollowed: isFollowed), acts: 8, after: [], &count)
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
