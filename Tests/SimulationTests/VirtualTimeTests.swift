import Dispatch
import Foundation
import NIOCore
import RandomTestSupport
import SimulatedTime
import Synchronization
import Testing

@Suite struct VirtualTimeTests {
    /// The things that were done, in their order.
    private final class Notes: Sendable {
        private let notes = Mutex<[String]>([])
        var all: [String] { notes.withLock { $0 } }
        func add(_ note: String) { notes.withLock { $0.append(note) } }
    }

    private func onVirtualTime(
        seed: UInt64 = TestSeed.fixed(1), _ body: (VirtualTime) async throws -> Void
    ) async throws {
        try await VirtualTime.run(seed: seed, body)
    }

    @Test func `time moves only as far as a test asks, and never past what is due`() async throws {
        try await onVirtualTime { time in
            let (loop, notes) = (time.makeLoop(), Notes())
            let beginning = loop.now
            for seconds: Int64 in [3, 1, 2] {
                loop.scheduleTask(in: .seconds(seconds)) { notes.add("\((loop.now - beginning).nanoseconds)") }
            }
            loop.execute { notes.add("now") }
            await time.settle()
            #expect(notes.all == ["now"])
            #expect(loop.now == beginning)
            await time.advance(by: .milliseconds(1_999))
            #expect(notes.all == ["now", "1000000000"])
            #expect(loop.now - beginning == .milliseconds(1_999))
            await time.advance(by: .seconds(2))
            #expect(notes.all == ["now", "1000000000", "2000000000", "3000000000"])
        }
    }

    @Test func `what is waited for is found at the timer that brings it`() async throws {
        try await onVirtualTime { time in
            let (loop, notes) = (time.makeLoop(), Notes())
            let beginning = loop.now
            for seconds: Int64 in 1...3 { loop.scheduleTask(in: .seconds(seconds)) { notes.add("\(seconds)") } }
            #expect(await time.passes { notes.all.count == 2 })
            #expect(loop.now - beginning == .seconds(2))
        }
    }

    @Test func `what does not come is given up, at once where nothing else would`() async throws {
        try await onVirtualTime { time in
            let loop = time.makeLoop()
            let beginning = loop.now
            #expect(await time.passes { false } == false)
            #expect(loop.now == beginning)
            let again = loop.scheduleRepeatedTask(initialDelay: .zero, delay: .seconds(1)) { _ in }
            #expect(await time.passes(within: .minutes(1)) { false } == false)
            #expect((.seconds(59) ... .minutes(1)).contains(loop.now - beginning))
            again.cancel()
        }
    }

    @Test func `a test that awaits something lets time pass until it comes`() async throws {
        try await onVirtualTime { time in
            let loop = time.makeLoop()
            let beginning = loop.now
            try await loop.scheduleTask(in: .seconds(30)) {}.futureResult.get()
            #expect(loop.now - beginning == .seconds(30))
            await time.sleep(for: .minutes(9))
            #expect(loop.now - beginning == .seconds(570))
        }
    }

    @Test func `a thread of the machine is on no loop, also while a job of the loop runs`() async throws {
        try await onVirtualTime { time in
            let (loop, notes) = (time.makeLoop(), Notes())
            try await loop.submit {
                let done = DispatchSemaphore(value: 0)
                Thread {
                    notes.add("elsewhere \(loop.inEventLoop)")
                    done.signal()
                }.start()
                done.wait()
                notes.add("here \(loop.inEventLoop)")
            }.get()
            #expect(notes.all == ["elsewhere false", "here true"])
        }
    }

    @Test func `threads of the machine may bring what a test awaits`() async throws {
        try await onVirtualTime { time in
            let loop = time.makeLoop()
            for number in 0..<100 {
                let promise = loop.makePromise(of: Int.self)
                let task = Task.detached { promise.succeed(number) }
                let brought = try await promise.futureResult.get()
                #expect(brought == number)
                await task.value
            }
        }
    }

    @Test(arguments: TestSeed.fixed(0..<10))
    func `the same seed gives the same order, another one another`(seed: UInt64) async throws {
        func order(_ seed: UInt64) async throws -> [String] {
            let notes = Notes()
            try await onVirtualTime(seed: seed) { time in
                await withDiscardingTaskGroup { group in
                    for number in 0..<50 {
                        group.addTask {
                            await Task.yield()
                            notes.add("\(number)")
                        }
                    }
                }
                await time.settle()
            }
            return notes.all
        }
        let first = try await order(seed)
        #expect(first.count == 50)
        #expect(try await order(seed) == first)
        #expect(try await order(seed + 1_000) != first)
    }

    @Test func `a run within another shares its time`() async throws {
        try await onVirtualTime { outer in
            try await onVirtualTime { inner in #expect(inner === outer) }
        }
        #expect(VirtualTime.current == nil)
    }
}
