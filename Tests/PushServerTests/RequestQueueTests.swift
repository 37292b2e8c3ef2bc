import RoomWire
import Testing

@testable import PushServer

/// `RequestQueue` against what a socket promises: order, one at a time behind an answer, and an end.
@Suite struct RequestQueueTests {
    private func message(_ id: Int64) -> ClientMessage { .time(id: id, t1: 0) }

    private func handledNext(_ queue: inout RequestQueue) -> Int64? { queue.next().flatMap(\.id) }

    /// Handles what may be handled, and returns the ids.
    private func handled(_ queue: inout RequestQueue) -> [Int64?] {
        var ids: [Int64?] = []
        while let message = queue.next() { ids.append(message.id) }
        return ids
    }

    @Test func `messages are handled in their order, and wait behind one that is answered first`() {
        var queue = RequestQueue()
        for id in 1...4 { queue.add(message(Int64(id))) }
        #expect(handledNext(&queue) == 1)
        queue.wait()
        #expect(handledNext(&queue) == nil)
        #expect(queue.hasMessages && !queue.isDone && !queue.takesMore)
        queue.answered()
        #expect(handled(&queue) == [2, 3, 4])
        #expect(queue.isDone && queue.takesMore && !queue.hasMessages)
    }

    @Test func `an answer from within continues with the next message once`() {
        var queue = RequestQueue()
        var begun = [queue.begin(), queue.begin()]
        queue.end()
        begun.append(queue.begin())
        #expect(begun == [true, false, true], "at first it is being worked on")
    }

    @Test func `commands under way keep a socket from being done, and many of them from being read`() {
        var queue = RequestQueue()
        for _ in 0..<1_023 { queue.began() }
        #expect(queue.takesMore && !queue.isDone)
        queue.began()
        #expect(!queue.takesMore)
        for _ in 0..<1_024 { queue.ended() }
        #expect(queue.isDone)
    }

    @Test func `a socket that closes forgets what was not handled`() {
        var queue = RequestQueue()
        queue.add(message(1))
        queue.began()
        queue.clear()
        #expect(handledNext(&queue) == nil)
        #expect(!queue.isDone)
        queue.ended()
        #expect(queue.isDone)
    }
}
