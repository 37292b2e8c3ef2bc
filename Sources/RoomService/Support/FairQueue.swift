import NIOCore

/// What waits for its turn, fairly: one element of each key after the other, and the elements of one key in order.
///
/// A key that brings much waits for itself and delays every other key by one element. All operations but
/// ``remove(where:of:)`` take constant time.
struct FairQueue<Key: Hashable, Element> {
    /// Why an element is not taken.
    enum Refusal: Error, Equatable {
        /// As many elements of its key wait as may.
        case keyIsFull
        /// As many elements wait in all as may.
        case isFull
    }

    private var waiting: [Key: CircularBuffer<Element>] = [:]
    /// The keys with elements, the next one first.
    private var turns: CircularBuffer<Key> = []
    private let maximumPerKey: Int
    private let maximum: Int

    /// How many elements wait.
    private(set) var count = 0

    /// Makes an empty queue that holds so many elements in all, and so many of one key.
    init(maximum: Int, perKey maximumPerKey: Int) {
        self.maximum = maximum
        self.maximumPerKey = maximumPerKey
    }

    /// Puts an element behind those of its key.
    mutating func append(_ element: Element, of key: Key) throws(Refusal) {
        let before = waiting[key]?.count ?? 0
        guard before < maximumPerKey else { throw .keyIsFull }
        guard count < maximum else { throw .isFull }
        if before == 0 { turns.append(key) }
        waiting[key, default: []].append(element)
        count += 1
    }

    /// Takes the element whose turn it is; nil where none waits.
    mutating func popFirst() -> Element? {
        guard let key = turns.popFirst(), let element = waiting[key]?.popFirst() else { return nil }
        count -= 1
        if waiting[key]?.isEmpty == false { turns.append(key) } else { waiting[key] = nil }
        return element
    }

    /// Takes the first element of a key that matches; nil where none does.
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
