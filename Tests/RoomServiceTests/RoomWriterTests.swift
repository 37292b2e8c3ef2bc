import EventStorage
import RoomDomain
import RoomTestSupport
import Testing

@testable import RoomService

/// `RoomWriter` in every order of what can happen to it.
@Suite struct RoomWriterTests {
    struct Plan: Sendable {
        var commands: [WriterWorld.Command]
        /// Whether anybody follows the room, which only matters when it reads.
        var isFollowed: Bool
        var acts: Int
        /// Whether the log loses its last event, and not that it is replaced or removed.
        var loses = false
    }

    static let plans = [
        Plan(commands: [.rename, .rename, .rename], isFollowed: true, acts: 8),
        Plan(commands: [.keyed("k"), .keyed("k"), .refused], isFollowed: true, acts: 8),
        Plan(commands: [.rename, .refused, .rename], isFollowed: false, acts: 7),
        Plan(commands: [.limited, .keyed("k"), .rename], isFollowed: false, acts: 7),
        Plan(commands: [.rename, .keyed("k"), .rename], isFollowed: true, acts: 7, loses: true),
    ]

    /// Every way of eight acts, or seven, with three commands, a conflict, a fault, a lost answer, a reload and another
    /// log; then everything that is under way ends.
    ///
    /// Of ways that differ only in the order of acts that do not touch each other, one is followed.
    @Test(arguments: plans)
    func `the invariants hold in every order of what happens`(plan: Plan) throws {
        var count = 0
        let world = WriterWorld(plan: plan.commands, isFollowed: plan.isFollowed, loses: plan.loses)
        try follow(world, acts: plan.acts, after: [], &count)
        #expect(count > 5_000)
    }

    /// A writer of a new room that counts.
    private func writer() -> RoomWriter {
        var limits = RoomWriter.Limits(waiting: 16, weight: 1 << 20, conflicts: 3)
        limits.isCounting = true
        return RoomWriter(WriterWorld.decoded(WriterWorld(plan: [], isFollowed: true).log), limits: limits)
    }

    /// What a read brings after another server has given the owner a name.
    private func renamed(after version: StreamVersion) -> RoomWriter.Reading {
        let event = RecordedEvent(
            seq: version.seq + 1, at: WriterWorld.start, event: .memberRenamed(member: 1, name: "Anna"))
        return .events([event], keys: [], version: StreamVersion(seq: event.seq, keyed: 0, tail: nil))
    }

    @Test func `a decision whose state is void is taken again once the log has been read`() {
        var writer = writer()
        let (begun, decided) = (writer.read(), writer.decided(7, .settled(.failed(.unavailable))))
        let steps = writer.read(renamed(after: writer.version))
        #expect(begun == [.read] && decided == [] && steps.contains(.decide(7)))
    }

    @Test(arguments: [false, true])
    func `commands that fill an append are handed over at once, unless others have appended`(isBehind: Bool) {
        var writer = writer()
        let most = AppendQueue.commandsTogether
        if isBehind { _ = writer.hear(writer.version.seq + most) }
        var steps: [RoomWriter.Step] = []
        for request in 1...most {
            #expect(!steps.contains { if case .append = $0 { true } else { false } })
            steps = decide(request, &writer)
        }
        #expect(steps.contains { if case .append(_, commands: most) = $0 { true } else { false } } == !isBehind)
    }

    /// Decides a change for a request.
    private func decide(_ request: Int, _ writer: inout RoomWriter) -> [RoomWriter.Step] {
        let events = writer.projected.recorded(
            [.memberRenamed(member: 1, name: "Ana \(request)")], at: WriterWorld.start)
        return writer.decided(
            request, .changed(Projection.Change(events: events, result: nil, waveform: nil, key: nil)))
    }

    @Test(arguments: [0, 1])
    func `what is gathered is handed over, unless others have appended more than is known here`(more: Int) {
        var writer = writer()
        _ = decide(1, &writer)
        _ = writer.hear(writer.version.seq + more)
        let steps = writer.flush()
        #expect(steps.contains { if case .append = $0 { true } else { false } } == (more == 0))
        #expect(steps.contains(.read) == (more == 1))
    }

    @Test func `conflicts before an append are not in a row with those after it`() {
        var writer = writer()
        var refused: [Int] = []
        for conflicts in [3, 3, 4] {
            _ = writer.appended(0)
            for conflict in 1...conflicts {
                _ = writer.read(.events([], keys: [], version: writer.version))
                if conflict == conflicts { _ = decide(1, &writer) }
                _ = writer.flush()
                if writer.overtaken().contains(.reply(1, .failed(.unavailable))) { refused.append(conflict) }
            }
        }
        #expect(refused == [4])
    }

    @Test(arguments: [true, false])
    func `what is read after an append without an answer is counted, as nobody else does`(isDoubtful: Bool) {
        var writer = writer()
        if isDoubtful { _ = writer.failed(.outcomeUnknown(.init(message: "the answer was lost")), underWay: 0) }
        _ = writer.read()
        let steps = writer.read(renamed(after: writer.version))
        #expect(steps.contains(.count) == isDoubtful)
    }

    private func follow(
        _ world: borrowing WriterWorld, acts: Int, after path: [WriterWorld.Act], lastBeganRead: Bool = false,
        _ count: inout Int
    ) throws {
        for act in world.acts {
            var next = WriterWorld(copying: world)
            do {
                try next.perform(act)
                let beganRead = world.reading == nil && next.reading != nil
                guard !Self.swaps(path.last, lastBeganRead, with: act, beganRead) else { continue }
                guard acts == 1 else {
                    try follow(next, acts: acts - 1, after: path + [act], lastBeganRead: beganRead, &count)
                    continue
                }
                count += 1
                try next.settle()
            } catch let violation as WriterWorld.Violation {
                throw Broken(violation: violation, path: path + [act])
            }
        }
    }

    /// Whether two acts come to the same world in the other order, in which they are followed.
    ///
    /// A command that arrives, or is handed over, does not look at the log, unless a read begins with it; nor does it
    /// matter whether a command or a wish comes first if both have to wait.
    private static func swaps(
        _ first: WriterWorld.Act?, _ firstBeganRead: Bool, with second: WriterWorld.Act, _ secondBeganRead: Bool
    ) -> Bool {
        guard !firstBeganRead, !secondBeganRead else { return false }
        return switch (first, second) {
        case (.other, .submit), (.other, .flush), (.replace, .submit), (.replace, .flush), (.remove, .submit),
            (.remove, .flush), (.lose, .submit), (.lose, .flush), (.verify, .submit):
            true
        default: false
        }
    }

    struct Broken: Error, CustomStringConvertible {
        var violation: WriterWorld.Violation
        var path: [WriterWorld.Act]
        var description: String { "\(violation), after \(path)" }
    }
}
