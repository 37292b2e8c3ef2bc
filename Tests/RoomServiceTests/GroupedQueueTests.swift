import Testing

@testable import RoomService

/// The order in which the work of addresses and their sessions runs.
@Suite struct GroupedQueueTests {
    private typealias Queue = GroupedQueue<Int, String, Int>

    @Test func `groups take turns, and within a group its keys`() throws {
        var queue = Queue(maximum: 20, perGroup: 10, perKey: 5)
        for (group, key, element) in [(1, "a", 1), (1, "a", 2), (1, "b", 3), (1, "c", 4), (2, "d", 5), (2, "d", 6)] {
            try queue.append(element, of: key, in: group)
        }
        #expect(queue.count == 6)
        #expect(rest(&queue) == [1, 5, 3, 6, 4, 2])
        #expect(queue.count == 0)
    }

    @Test func `a key, a group and all together hold so many, and a refused element leaves nothing behind`() throws {
        var queue = Queue(maximum: 4, perGroup: 3, perKey: 2)
        for (key, element) in [("a", 1), ("a", 2)] { try queue.append(element, of: key, in: 1) }
        #expect(throws: Queue.Refusal.keyIsFull) { try queue.append(3, of: "a", in: 1) }
        try queue.append(4, of: "b", in: 1)
        #expect(throws: Queue.Refusal.groupIsFull) { try queue.append(5, of: "c", in: 1) }
        try queue.append(6, of: "c", in: 2)
        #expect(throws: Queue.Refusal.isFull) { try queue.append(7, of: "d", in: 3) }
        #expect(rest(&queue) == [1, 6, 4, 2])
    }

    @Test func `an element that is removed leaves its turn to the next`() throws {
        var queue = Queue(maximum: 10, perGroup: 5, perKey: 5)
        for (group, key, element) in [(1, "a", 1), (2, "b", 2), (1, "c", 3)] {
            try queue.append(element, of: key, in: group)
        }
        #expect(queue.remove(where: { $0 == 1 }, of: "a", in: 1) == 1)
        #expect(queue.remove(where: { $0 == 1 }, of: "a", in: 1) == nil)
        #expect(queue.remove(where: { _ in true }, of: "b", in: 2) == 2)
        #expect(queue.count == 1)
        #expect(rest(&queue) == [3])
    }

    private func rest(_ queue: inout Queue) -> [Int] {
        var rest: [Int] = []
        while let next = queue.popFirst() { rest.append(next) }
        return rest
    }
}
