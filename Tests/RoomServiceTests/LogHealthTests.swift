import EventStorage
import InMemoryLogging
import NIOCore
import RoomDomain
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

    /// The lines about whether the server is ready, by their beginnings and causes.
    private func told(_ node: Node) -> [String] {
        node.log.entries.compactMap { line in
            let text = "\(line.message)"
            guard text.contains("the server is") else { return nil }
            return line.metadata["cause"].map { "not ready: \($0)" } ?? "ready"
        }
    }

    @Test func `the operator is told once when the log takes no writes, and once when it does again`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            let readOnly = StorageFault.unreachable(.init(code: StorageFault.readOnly, message: "takes no writes"))
            node.store.next(.append, .fails(readOnly), .fails(readOnly))
            for name in ["A", "B"] { _ = try await node.tell(.rename(name: name), in: room, by: owner) }
            #expect(told(node) == ["not ready: takes no writes"])
            _ = try await node.tell(.rename(name: "C"), in: room, by: owner)
            #expect(told(node) == ["not ready: takes no writes", "ready"])
        }
    }

    @Test func `a cause that comes and goes is told once in ten seconds, and a conflict never`() async throws {
        try await withNode { node in
            let (room, owner) = try await node.makeRoom()
            func fail(with fault: StorageFault) async throws {
                node.store.next(.append, .fails(fault))
                _ = try await node.tell(.rename(name: "A"), in: room, by: owner)
                _ = try await node.tell(.rename(name: "B"), in: room, by: owner)
            }
            let full = StorageFault.exhausted(.init(code: "53100", message: "the disk is full"))
            for _ in 0..<3 { try await fail(with: full) }
            try await fail(with: .transient(.init(code: "40P01", message: "a deadlock")))
            #expect(told(node) == ["not ready: the disk is full", "ready"])
            await node.advance(by: .seconds(10))
            try await fail(with: full)
            #expect(told(node).count == 4)
        }
    }

    @Test func `a log that does not answer in time is told then, and an end is no recovery`() async throws {
        try await withNode { node in
            let (gate, answers) = (Gate(), Answers())
            node.store.holdChecks(behind: gate)
            await withDiscardingTaskGroup { group in
                defer { gate.open() }
                group.addTask { await answers.ask(node) }
                await node.advance(by: .milliseconds(2_000))
                #expect(told(node) == ["not ready: no answer in time"])
            }
            await node.advance(by: .milliseconds(1))
            #expect(told(node) == ["not ready: no answer in time", "ready"])
            let (room, owner) = try await node.makeRoom()
            let fault = StorageFault.unreachable(.init(code: "57P01", message: "shutting down"))
            node.store.next(.append, .fails(fault), .fails(.closed))
            for name in ["A", "B"] { _ = try await node.tell(.rename(name: name), in: room, by: owner) }
            #expect(told(node).suffix(1) == ["not ready: shutting down"])
        }
    }
}
