import EventStorage
import EventStoreConformance
import PostgresTestSupport
import Synchronization
import Testing

@testable import PostgresEventStore

/// The bus over LISTEN and NOTIFY.
@Suite struct NodeBusTests {
    @Test(arguments: NodeBusConformance.checks)
    func `the bus keeps the contract`(check: NodeBusCheck) async throws {
        let database = try TestDatabase.empty()
        try await check.run { try database.bus() }
    }

    @Test func `a connection that is lost is replaced, and what is sent then arrives`() async throws {
        let database = try TestDatabase.empty()
        let (bus, sender) = (try database.bus(), try database.bus())
        let events = EventNotes()
        try await withThrowingTaskGroup { group in
            group.addTask { await bus.run(as: "a") { events.add($0) } }
            try await events.wait(for: [.connected])
            try await sender.send([NodeMessage(payload: [65])])
            try await events.wait(for: [.connected, .message([65])])
            // Both connections: the sender's is cut too, and connects again.
            try database.query(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """)
            try await events.wait(for: [.connected, .message([65]), .disconnected, .connected])
            while (try? await sender.send([NodeMessage(to: "a", payload: [66])])) == nil {}
            try await events.wait(for: [.connected, .message([65]), .disconnected, .connected, .message([66])])
            group.cancelAll()
        }
        try await events.wait(
            for: [.connected, .message([65]), .disconnected, .connected, .message([66]), .disconnected])
    }

    @Test func `a message to a server with an invalid name is refused`() async throws {
        let bus = try TestDatabase.empty().bus()
        for name in ["", "a\"; DROP TABLE rooms; --", "A", "é", String(repeating: "x", count: 49)] {
            await #expect(throws: StorageFault.self) { try await bus.send([NodeMessage(to: name, payload: [65])]) }
        }
        try await bus.send([NodeMessage(to: String(repeating: "x", count: 48), payload: [65])])
    }

    @Test func `messages beyond the bus's limit are refused, and accepted again later`() async throws {
        let database = try await TestDatabase.migratedAlone()
        let bus = try database.bus()
        try await bus.send([NodeMessage(payload: [65])])
        try database.cluster.freeze()
        let message = NodeMessage(payload: [UInt8](repeating: UInt8(ascii: "x"), count: NodeMessage.largestPayload))
        let refused = Refusals()
        try await withThrowingTaskGroup { group in
            // A quarter more than the limit.
            for _ in 0..<40 {
                group.addTask {
                    do throws(StorageFault) {
                        try await bus.send([message])
                    } catch .exhausted {
                        refused.count.add(1, ordering: .relaxed)
                    }
                }
            }
            while refused.count.load(ordering: .relaxed) < 8 { try await Task.sleep(for: .milliseconds(1)) }
            try database.cluster.thaw()
            try await group.waitForAll()
        }
        #expect(refused.count.load(ordering: .relaxed) == 8)
        try await bus.send([message])
    }

    private final class Refusals: Sendable {
        let count = Atomic(0)
    }

    /// The events of a bus.
    private final class EventNotes: Sendable {
        private let events = Mutex<[NodeBusEvent]>([])

        func add(_ event: NodeBusEvent) {
            events.withLock { $0.append(event) }
        }

        /// Returns when exactly these events have come.
        func wait(for expected: [NodeBusEvent]) async throws {
            while true {
                let events = events.withLock { $0 }
                if events == expected { return }
                try #require(expected.starts(with: events))
                try await Task.sleep(for: .milliseconds(1))
            }
        }
    }
}

/// Messages split into notifications.
struct NotificationTextTests {
    private func payloads(_ text: String, number: UInt32 = 7) -> [[UInt8]] {
        NotificationText.payloads(of: Array(text.utf8), number: number).map { Array($0.utf8) }
    }

    private func join(_ joiner: inout NotificationJoiner, _ payloads: [[UInt8]], from sender: Int32 = 1) -> [String] {
        payloads.compactMap { joiner.add($0, from: sender).map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test func `no payload is as long as PostgreSQL forbids`() {
        for scalar in ["a", "é", "€", "🎧"] {
            for shift in 0..<4 {
                let text = String(repeating: "x", count: shift) + String(repeating: scalar, count: 30_000)
                let payloads = payloads(text, number: .max)
                #expect(payloads.allSatisfy { $0.count < 8_000 })
                var joiner = NotificationJoiner()
                #expect(join(&joiner, payloads) == [text])
            }
        }
    }

    @Test func `a message that lacks a part is dropped whole, and the next one arrives`() {
        let text = String(repeating: "long", count: 8_000)
        let count = payloads(text).count
        for lost in 0..<count {
            var joiner = NotificationJoiner()
            var payloads = payloads(text)
            payloads.remove(at: lost)
            #expect(join(&joiner, payloads + self.payloads("next", number: 8)) == ["next"])
        }
    }

    @Test func `parts of two senders do not mix`() {
        let (one, two) = (String(repeating: "one", count: 8_000), String(repeating: "two", count: 8_000))
        var joiner = NotificationJoiner()
        var messages: [String] = []
        for (first, second) in zip(payloads(one), payloads(two)) {
            messages += join(&joiner, [first], from: 1) + join(&joiner, [second], from: 2)
        }
        #expect(messages == [one, two])
    }

    @Test func `a part of another message ends the one that was begun`() {
        var joiner = NotificationJoiner()
        let (one, two) = (
            payloads(String(repeating: "one", count: 8_000), number: 1),
            payloads(String(repeating: "two", count: 8_000), number: 2)
        )
        #expect(join(&joiner, [one[0], two[1], one[1], two[2]]) == [])
        #expect(join(&joiner, payloads("next", number: 3)) == ["next"])
    }

    @Test func `notifications of other programs are ignored`() {
        var joiner = NotificationJoiner()
        let rubbish = [
            "", "|", "hello", "1.0|x", "1.0.0|x", "1.0.-1|x", "-1.0.1|x", "1.1.2|x", "99999999999.0.1|x", "a.b.c|",
        ]
        #expect(join(&joiner, rubbish.map { Array($0.utf8) }) == [])
    }

    @Test func `a message that never ends is dropped before it is too long`() {
        var joiner = NotificationJoiner()
        let piece = String(repeating: "x", count: 7_000)
        for part in 0..<1_000 {
            #expect(joiner.add(Array("1.\(part).1000|\(piece)".utf8), from: 1) == nil)
        }
        #expect(join(&joiner, payloads("next", number: 2)) == ["next"])
    }
}

extension TestDatabase {
    /// A bus on this database.
    func bus() throws -> PostgresNodeBus {
        try PostgresNodeBus(configuration())
    }
}
