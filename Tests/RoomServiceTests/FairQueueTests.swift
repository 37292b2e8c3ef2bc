import Testing

@testable import RoomService

/// The order in which sessions' work runs.
@Suite struct FairQueueTests {
    private typealias Queue = FairQueue<String, Int>

    @Test func `keys take turns, and each key's elements keep their order`() throws {
        var queue = Queue(maximum: 10, perKey: 5)
        for (key, element) in [("a", 1), ("a", 2), ("a", 3), ("b", 4), ("c", 5), ("b", 6)] {
            try queue.append(element, of: key)
        }
        #expect(queue.rest() == [1, 4, 5, 2, 6, 3])
        #expect(queue.count == 0)
    }

    @Test func `a key that returns is placed after the others`() throws {
        var queue = Queue(maximum: 10, perKey: 5)
        try queue.append(1, of: "a")
        try queue.append(2, of: "b")
        #expect(queue.popFirst() == 1)
        try queue.append(3, of: "a")
        #expect(queue.rest() == [2, 3])
    }

    @Test func `a key holds so many elements, all keys together so many`() throws {
        var queue = Queue(maximum: 3, perKey: 2)
        try queue.append(1, of: "a")
        try queue.append(2, of: "a")
        #expect(throws: Queue.Refusal.keyIsFull) { try queue.append(3, of: "a") }
        try queue.append(4, of: "b")
        #expect(throws: Queue.Refusal.isFull) { try queue.append(5, of: "c") }
        #expect(queue.rest() == [1, 4, 2])
    }

    @Test func `an element that is removed leaves its turn to the next`() throws {
        var queue = Queue(maximum: 10, perKey: 5)
        for (key, element) in [("a", 1), ("b", 2), ("b", 3)] { try queue.append(element, of: key) }
        #expect(queue.remove(where: { $0 == 1 }, of: "a") == 1)
        #expect(queue.remove(where: { $0 == 1 }, of: "a") == nil)
        #expect(queue.remove(where: { $0 == 2 }, of: "b") == 2)
        #expect(queue.count == 1)
        try queue.append(4, of: "a")
        #expect(queue.rest() == [3, 4])
    }
}

extension FairQueue {
    /// Takes all elements.
    fileprivate mutating func rest() -> [Element] {
        var all: [Element] = []
        while let element = popFirst() { all.append(element) }
        return all
    }
}
