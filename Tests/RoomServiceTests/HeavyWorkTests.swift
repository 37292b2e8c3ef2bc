import NIOCore
import PrometheusMetrics
import RoomDomain
import SimulatedTime
import Synchronization
import Testing

@testable import RoomService

/// Work outside the event loops: its concurrency, its queue and its refusals.
@Suite struct HeavyWorkTests {
    @Test func `the concurrency of each kind is limited, and no kind waits for another`() async throws {
        try await withBench(sideBySide: 2) { bench in
            let gate = Gate()
            defer { gate.open() }
            for number: UInt8 in 0..<3 { bench.ask(.log, for: .number(number)) { await gate.pass() } }
            try await eventually("two") { gate.arrived == 2 && bench.waiting(.log) == 1 }
            #expect(bench.running(.log) == 2)
            #expect(try await bench.work.run(.pool, for: Asker(.number(0), from: nil)) { "page" } == "page")
            gate.open()
            try await eventually("the third") { gate.arrived == 3 && bench.running(.log) == 0 }
            #expect(bench.waiting(.log) == 0)
        }
    }

    @Test func `sessions take turns, and work for a room comes before them`() async throws {
        try await withBench(sideBySide: 1) { bench in
            let gate = Gate()
            defer { gate.open() }
            let order = Mutex<[String]>([])
            bench.ask(.encoding, for: .number(0)) { await gate.pass() }
            try await eventually("the first") { gate.arrived == 1 }
            let wanted: [(SessionID?, String)] = [
                (.number(1), "1a"), (.number(1), "1b"), (.number(2), "2a"), (nil, "room"),
            ]
            for (index, (session, name)) in wanted.enumerated() {
                bench.ask(.encoding, for: session) { order.withLock { $0.append(name) } }
                try await eventually(name) { bench.waiting(.encoding) == index + 1 }
            }
            gate.open()
            try await eventually("all") { order.withLock { $0.count } == 4 }
            #expect(order.withLock { $0 } == ["room", "1a", "2a", "1b"])
        }
    }

    @Test func `a session with too much waiting work is refused, and every session if the queue is full`() async throws
    {
        try await withBench(sideBySide: 1, perSession: 2, waiting: 3) { bench in
            let gate = Gate()
            defer { gate.open() }
            bench.ask(.log, for: .number(0)) { await gate.pass() }
            try await eventually("the first") { gate.arrived == 1 }
            for _ in 0..<2 { bench.ask(.log, for: .number(1)) {} }
            try await eventually("two wait") { bench.waiting(.log) == 2 }
            await #expect(throws: HeavyWorkRefusal.sessionIsBusy) {
                try await bench.work.run(.log, for: Asker(.number(1), from: nil)) {}
            }
            bench.ask(.log, for: .number(2)) {}
            try await eventually("three wait") { bench.waiting(.log) == 3 }
            await #expect(throws: HeavyWorkRefusal.queueIsFull) {
                try await bench.work.run(.log, for: Asker(.number(3), from: nil)) {}
            }
            bench.ask(.log, for: nil) {}
            try await eventually("what a room needs waits") { bench.waiting(.log) == 4 }
            #expect(bench.refused(.log, .sessionIsBusy) == 1)
            #expect(bench.refused(.log, .queueIsFull) == 1)
        }
    }

    @Test func `an address with many sessions delays another one by one turn, and holds so many`() async throws {
        try await withBench(sideBySide: 1, perAddress: 3) { bench in
            let gate = Gate()
            defer { gate.open() }
            let order = Mutex<[String]>([])
            bench.ask(.statistics, for: .number(0)) { await gate.pass() }
            try await eventually("the first") { gate.arrived == 1 }
            let wanted: [(UInt8, UInt64)] = [(1, 7), (2, 7), (3, 7), (4, 8)]
            for (index, (session, address)) in wanted.enumerated() {
                let asker = Asker(.number(session), from: address)
                bench.work.start(.statistics, for: asker, thenOn: bench.loop) {
                    order.withLock { $0.append("\(session)") }
                } _: { _ in
                }
                try await eventually("it waits") { bench.waiting(.statistics) == index + 1 }
            }
            await #expect(throws: HeavyWorkRefusal.addressIsBusy) {
                try await bench.work.run(.statistics, for: Asker(.number(5), from: 7)) {}
            }
            gate.open()
            try await eventually("all") { order.withLock { $0.count } == 4 }
            #expect(order.withLock { $0 } == ["1", "4", "2", "3"])
            #expect(bench.refused(.statistics, .addressIsBusy) == 1)
        }
    }

    @Test func `a task that is cancelled while it waits leaves the queue`() async throws {
        try await withBench(sideBySide: 1) { bench in
            let gate = Gate()
            defer { gate.open() }
            bench.ask(.log, for: .number(0)) { await gate.pass() }
            try await eventually("the first") { gate.arrived == 1 }
            for session in [SessionID.number(1), nil] {
                let task = Task(executorPreference: bench.time.executor) {
                    try await bench.work.run(.log, for: session.map { Asker($0, from: nil) }) {
                        _ = Issue.record("it ran")
                    }
                }
                try await eventually("it waits") { bench.waiting(.log) == 1 }
                task.cancel()
                await #expect(throws: HeavyWorkRefusal.cancelled) { try await task.value }
                #expect(bench.waiting(.log) == 0)
            }
            let task = Task(executorPreference: bench.time.executor) {
                await gate.pass()
                try await bench.work.run(.log, for: Asker(.number(1), from: nil)) { _ = Issue.record("it ran") }
            }
            task.cancel()
            gate.open()
            await #expect(throws: HeavyWorkRefusal.cancelled) { try await task.value }
        }
    }

    @Test func `work for an event loop completes on that loop, also after the end`() async throws {
        let results = Mutex<[Result<Int, HeavyWorkRefusal>]>([])
        try await withBench(sideBySide: 1) { bench in
            let loop = bench.loop
            loop.execute {
                bench.work.start(.encoding, thenOn: loop) {
                    1
                } _: { result in
                    loop.preconditionInEventLoop()
                    results.withLock { $0.append(result) }
                }
                #expect(results.withLock { $0.isEmpty })
            }
            try await eventually("the result") { results.withLock { $0.count } == 1 }
            bench.jobs.close()
            bench.work.start(.encoding, thenOn: loop) {
                2
            } _: { result in
                results.withLock { $0.append(result) }
            }
            try await eventually("the end") { results.withLock { $0.count } == 2 }
        }
        #expect(results.withLock { $0 } == [.success(1), .failure(.stopped)])
    }

    @Test func `work runs on the given threads, also after an await`() async throws {
        try await onVirtualTime { time in
            let threads = CountingExecutor(time.makeLoop())
            try await withBench(sideBySide: 1, executors: { $0 == .log ? threads : nil }) { bench in
                try await bench.work.run(.pool) {}
                #expect(threads.jobs == 0)
                try await bench.work.run(.log) {
                    let before = threads.jobs
                    #expect(before > 0)
                    await Task.yield()
                    #expect(threads.jobs > before)
                }
            }
        }
    }
}

/// Heavy work and the sessions that request it.
private final class Bench: Sendable {
    let work: HeavyWork
    let jobs = BackgroundJobs()
    let time: VirtualTime
    let loop: any EventLoop
    private let registry = PrometheusRegistry()

    init(_ limits: HeavyWork.Limits, _ executors: @escaping HeavyWork.Executors, on time: VirtualTime) {
        self.time = time
        loop = time.makeLoop()
        work = HeavyWork(
            limits: limits, executors: executors, jobs: jobs, metrics: HeavyWorkMetrics(factory: registry))
    }

    func ask(_ kind: HeavyWorkKind, for session: SessionID?, _ body: @escaping @Sendable () async -> Void) {
        work.start(kind, for: session.map { Asker($0, from: nil) }, thenOn: loop, body) { _ in }
    }

    func running(_ kind: HeavyWorkKind) -> Int? { sample("running{kind=\"\(kind.rawValue)\"}") }
    func waiting(_ kind: HeavyWorkKind) -> Int? { sample("waiting{kind=\"\(kind.rawValue)\"}") }
    func refused(_ kind: HeavyWorkKind, _ refusal: HeavyWorkRefusal) -> Int? {
        sample("refused_total{kind=\"\(kind.rawValue)\",reason=\"\(refusal.rawValue)\"}")
    }

    private func sample(_ name: String) -> Int? {
        registry.samples["backline_heavy_work_" + name].map { Int($0) }
    }
}

private func withBench(
    sideBySide: Int, perSession: Int = 4, perAddress: Int = 100, waiting: Int = 100,
    executors: @escaping HeavyWork.Executors = { _ in nil }, _ body: (Bench) async throws -> Void
) async throws {
    var limits = HeavyWork.Limits()
    for kind in HeavyWorkKind.allCases {
        limits.sideBySide[kind] = sideBySide
        limits.waitingPerAddress[kind] = perAddress
    }
    limits.waitingPerSession = perSession
    limits.waiting = waiting
    try await onVirtualTime { time in
        let bench = Bench(limits, executors, on: time)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await bench.jobs.run() }
            defer { bench.jobs.close() }
            try await body(bench)
        }
    }
}

/// Counts what it runs, as turns of a loop.
private final class CountingExecutor: TaskExecutor {
    private let loop: any EventLoop
    private let count = Atomic(0)

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    var jobs: Int { count.load(ordering: .relaxed) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        count.add(1, ordering: .relaxed)
        loop.execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension SessionID {
    fileprivate static func number(_ number: UInt8) -> SessionID { Person.guest(number).session }
}
