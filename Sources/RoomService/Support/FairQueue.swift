import NIOCore

/// A queue that is fair to keys: it takes one element of each key in turn, and the elements of one key in order.
///
/// A key with many elements waits for itself, and delays every other key by one element. All operations except
/// ``remove(where:of:)`` take constant time.
struct FairQueue<Key: Hashable, Element> {
    /// The reason for which an element is not accepted.
    enum Refusal: Error, Equatable {
        /// The key has as many waiting elements as allowed.
        case keyIsFull
        /// The queue has as many waiting elements as allowed.
        case isFull
    }

    private var waiting: [Key: CircularBuffer<Element>] = [:]
    /// The keys with elements, the next one first.
    private var turns: CircularBuffer<Key> = []
    private let maximumPerKey: Int
    private let maximum: Int

    /// The number of waiting elements.
    private(set) var count = 0

    /// Makes an empty queue for `maximum` elements in all, and `maximumPerKey` of one key.
    init(maximum: Int, perKey maximumPerKey: Int) {
        self.maximum = maximum
        self.maximumPerKey = maximumPerKey
    }

    /// The key whose turn it is; nil if the queue is empty.
    var next: Key? { turns.first }

    /// Whether a key may have one more waiting element.
    func hasRoom(for key: Key) -> Bool { (waiting[key]?.count ?? 0) < maximumPerKey }

    /// Adds an element behind those of its key.
    mutating func append(_ element: Element, of key: Key) throws(Refusal) {
        let before = waiting[key]?.count ?? 0
        guard before < maximumPerKey else { throw .keyIsFull }
        guard count < maximum else { throw .isFull }
        if before == 0 { turns.append(key) }
        waiting[key, default: []].append(element)
        count += 1
    }

    /// Takes the element whose turn it is; nil if the queue is empty.
    mutating func popFirst() -> Element? {
        guard let key = turns.popFirst(), let element = waiting[key]?.popFirst() else { return nil }
        count -= 1
        if waiting[key]?.isEmpty == false { turns.append(key) } else { waiting[key] = nil }
        return element
    }

    /// Takes the first element of a key that matches; nil if none does.
    mutating func remove(where matches: (Element) -> Bool, of key: Key) -> Element? {
        guard let index = waiting[key]?.firstIndex(where: matches), let element = waiting[key]?.remove(at: index)
        else { return nil }
        count -= 1
        if waiting[key]?.isEmpty == true {
            waiting[key] = nil
            turns.removeAll { $0 == key }
        }
        return element
    }
}
