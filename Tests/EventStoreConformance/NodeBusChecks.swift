package import EventStorage
import Synchronization
import Testing

/// One fact that holds for every bus between servers.
package struct NodeBusCheck: Sendable, CustomTestStringConvertible {
    /// The fact, a sentence.
    package let name: String
    private let body: @Sendable (BusesUnderTest) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (BusesUnderTest) async throws -> Void) {
        self.name = name
        self.body = body
    }

    package var testDescription: String { name }

    /// Checks whether the fact holds; if not, records issues or throws an error.
    ///
    /// `makeBus` makes one server's end of a bus that nobody else uses.
    package func run(_ makeBus: @escaping @Sendable () async throws -> any NodeBus) async throws {
        try await body(BusesUnderTest(make: makeBus))
    }
}

/// The facts that make a bus a ``NodeBus``; see ``ConformanceSuite`` for the way to run them.
package enum NodeBusConformance {
    /// All facts.
    package static let checks = [
        NodeBusCheck("what is sent to everybody reaches every server, in order") { (test) async throws in
            try await test.withServers("a", "b", "c") { servers in
                let texts = (0..<100).map { "message \($0)" }
                try await servers[0].bus.send(texts.map { NodeMessage(payload: Array($0.utf8)) })
                for server in servers { try await server.expect(texts) }
            }
        },
        NodeBusCheck("what is sent to one server reaches no other") { (test) async throws in
            try await test.withServers("node-1", "node-10") { servers in
                try await servers[0].bus.send([
                    NodeMessage(to: "node-10", payload: Array("to ten".utf8)),
                    NodeMessage(to: "node-1", payload: Array("to one".utf8)),
                    NodeMessage(to: "node-2", payload: Array("to nobody".utf8)),
                    NodeMessage(payload: Array("to all".utf8)),
                ])
                try await servers[0].expect(["to one", "to all"])
                try await servers[1].expect(["to ten", "to all"])
            }
        },
        NodeBusCheck("messages that are the same arrive as often as they are sent") { (test) async throws in
            try await test.withServers("a", "b") { servers in
                let same = NodeMessage(payload: Array("again".utf8))
                try await servers[0].bus.send([same, same])
                try await servers[0].bus.send([same])
                try await servers[1].expect(["again", "again", "again"])
            }
        },
        NodeBusCheck("messages of every length arrive as they were, whatever they are made of") { (test) async throws in
            try await test.withServers("a", "b") { servers in
                var texts = ["", "|", "1.0.1|", "'\"\\ $1 {}", String(repeating: "\u{1}", count: 9_000)]
                for length in [1, 7_899, 7_900, 7_901, 8_000, 15_800, 15_801, 100_000] {
                    for scalar in ["a", "é", "€", "🎧"] {
                        texts.append(
                            String(repeating: "x", count: length % 4) + String(repeating: scalar, count: length))
                    }
                }
                texts = texts.filter { $0.utf8.count <= NodeMessage.largestPayload }
                texts.append(String(repeating: "z", count: NodeMessage.largestPayload))
                try await servers[0].bus.send(texts.map { NodeMessage(payload: Array($0.utf8)) })
                try await servers[1].expect(texts)
            }
        },
        NodeBusCheck("what several servers send at once is not mixed, and each one's order is kept") {
            (test) async throws in
            try await test.withServers("a", "b", "c", "d") { servers in
                try await withThrowingTaskGroup { group in
                    for server in servers.dropFirst() {
                        group.addTask {
                            for number in 0..<20 {
                                let long = String(repeating: server.name, count: 20_000)
                                try await server.bus.send([
                                    NodeMessage(payload: Array("\(server.name) \(2 * number) \(long)".utf8)),
                                    NodeMessage(to: "a", payload: Array("\(server.name) \(2 * number + 1)".utf8)),
                                ])
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                try await servers[0].wait(for: 120)
                for sender in servers.dropFirst() {
                    let texts = servers[0].texts.filter { $0.hasPrefix(sender.name) }
                    let long = String(repeating: sender.name, count: 20_000)
                    let expected = (0..<40).map { number in
                        "\(sender.name) \(number)" + (number.isMultiple(of: 2) ? " \(long)" : "")
                    }
                    let isRight = texts == expected
                    #expect(isRight, "of \(sender.name)")
                }
            }
        },
        NodeBusCheck("who comes later receives what is sent from then on, and who goes nothing more") {
            (test) async throws in
            try await test.withServers("a") { servers in
                let bus = try await test.make()
                for round in 1...2 {
                    try await BusesUnderTest.withServer("late", on: bus) { late in
                        try await servers[0].bus.send([NodeMessage(payload: Array("round \(round)".utf8))])
                        try await late.expect(["round \(round)"])
                    }
                    try await servers[0].bus.send([NodeMessage(payload: Array("between".utf8))])
                    try await servers[0].wait(for: 2 * round)
                }
            }
        },
        NodeBusCheck("a message that is too long is refused, and those after it go through") { (test) async throws in
            try await test.withServers("a", "b") { servers in
                let long = [UInt8](repeating: UInt8(ascii: "x"), count: NodeMessage.largestPayload + 1)
                await #expect(throws: StorageFault.self) { try await servers[0].bus.send([NodeMessage(payload: long)]) }
                try await servers[0].bus.send([NodeMessage(payload: Array("short".utf8))])
                try await servers[1].expect(["short"])
            }
        },
    ]
}

/// The bus that a check uses.
struct BusesUnderTest: Sendable {
    /// Makes one server's end of the bus.
    let make: @Sendable () async throws -> any NodeBus

    /// Runs servers with these names while `body` runs.
    func withServers(_ names: String..., body: @Sendable ([BusServer]) async throws -> Void) async throws {
        var servers: [BusServer] = []
        for name in names { servers.append(BusServer(name: name, bus: try await make())) }
        try await Self.run(servers, while: body)
    }

    /// Runs one server on a bus while `body` runs.
    static func withServer(
        _ name: String, on bus: any NodeBus, body: @Sendable (BusServer) async throws -> Void
    ) async throws {
        try await run([BusServer(name: name, bus: bus)]) { try await body($0[0]) }
    }

    private static func run(_ servers: [BusServer], while body: ([BusServer]) async throws -> Void) async throws {
        try await withThrowingTaskGroup { group in
            for server in servers { group.addTask { await server.run() } }
            for server in servers { try await server.waitForConnection() }
            try await body(servers)
            group.cancelAll()
        }
    }
}

/// A server that records the events of the bus.
final class BusServer: Sendable {
    let name: String
    let bus: any NodeBus
    private let events = Mutex<[NodeBusEvent]>([])

    init(name: String, bus: any NodeBus) {
        self.name = name
        self.bus = bus
    }

    func run() async {
        await bus.run(as: name) { event in self.events.withLock { $0.append(event) } }
    }

    /// The messages, in the order in which they came.
    var texts: [String] {
        events.withLock { events in
            events.compactMap {
                if case .message(let bytes) = $0 { String(decoding: bytes, as: UTF8.self) } else { nil }
            }
        }
    }

    func waitForConnection() async throws {
        try await wait("a connection") { events.withLock { $0.first == .connected } }
    }

    /// Waits for `count` messages.
    func wait(for count: Int) async throws {
        try await wait("\(count) messages") { texts.count >= count }
    }

    /// Waits for as many messages as expected, and compares.
    func expect(_ expected: [String]) async throws {
        try await wait(for: expected.count)
        let texts = texts
        guard texts != expected else { return }
        throw CheckFailure("\(name) received \(texts.map { $0.prefix(20) }), not \(expected.map { $0.prefix(20) })")
    }

    private func wait(_ what: String, _ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(600)
        while !condition() {
            guard ContinuousClock.now < deadline else { throw CheckFailure("\(name) waited for \(what) in vain") }
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
