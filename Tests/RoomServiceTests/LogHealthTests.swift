import EventStorage
import NIOCore
import RoomService
import Synchronization
import Testing

/// Whether the log can be reached, asked of a server whose store does not answer that.
@Suite struct LogHealthTests {
    /// What those were told who asked, in order; nil: the log can be reached.
    private final class Answers: Sendable {
        private let given = Mutex<[StorageFault?]>([])

        var soFar: [StorageFault?] { given.withLock { $0 } }

        func ask(_ node: Node) async {
            let answer: StorageFault?
            do throws(StorageFault) {
                try await node.host.checkHealth()
                answer = nil
            } catch {
                answer = error
            }
            given.withLock { $0.append(answer) }
        }
    }

    private static let late = StorageFault.unreachable(.init(code: "ETIMEDOUT", message: "no answer in time"))

    @Test func `a log whose check hangs is out of reach after two seconds, and is asked once`() async throws {
        try await withNode { node in
            let (gate, answers) = (Gate(), Answers())
            node.store.holdChecks(behind: gate)
            await withDiscardingTaskGroup { group in
                // Without an answer in time, those who ask are told at the end.
                defer { gate.open() }
                group.addTask { await answers.ask(node) }
                await node.advance(by: .milliseconds(1_000))
                group.addTask { await answers.ask(node) }
                await node.advance(by: .milliseconds(999))
                #expect(answers.soFar == [])
                await node.advance(by: .milliseconds(1))
                #expect(answers.soFar == [Self.late])
                await node.advance(by: .milliseconds(999))
                #expect(answers.soFar == [Self.late])
                await node.advance(by: .milliseconds(1))
                #expect(answers.soFar == [Self.late, Self.late])
                #expect(gate.arrived == 1)
            }
            // The store answers again.
            try await node.host.checkHealth()
        }
    }

    @Test func `the last answer stands in for one that is late, for two seconds`() async throws {
        try await withNode { node in
            try await node.host.checkHealth()
            let (gate, answers) = (Gate(), Answers())
            node.store.holdChecks(behind: gate)
            await withDiscardingTaskGroup { group in
                defer { gate.open() }
                await node.advance(by: .milliseconds(1_900))
                group.addTask { await answers.ask(node) }
                await node.advance(by: .milliseconds(19))
                #expect(answers.soFar == [])
                await node.advance(by: .milliseconds(1))
                #expect(answers.soFar == [nil])
                await node.advance(by: .milliseconds(100))
                group.addTask { await answers.ask(node) }
                await node.advance(by: .milliseconds(1_999))
                #expect(answers.soFar == [nil])
                await node.advance(by: .milliseconds(1))
                #expect(answers.soFar == [nil, Self.late])
                #expect(gate.arrived == 1)
            }
        }
    }
}
