/// A queue that is fair to groups, and within a group to keys: a group with many keys waits for itself.
struct GroupedQueue<Group: Hashable, Key: Hashable, Element> {
    /// The reason for which an element is not accepted.
    enum Refusal: Error, Equatable {
        /// The key has as many waiting elements as allowed.
        case keyIsFull
        /// The group has as many waiting elements as allowed.
        case groupIsFull
        /// The queue has as many waiting elements as allowed.
        case isFull
    }

    /// One mark for each waiting element of a group.
    private var turns: FairQueue<Group, Void>
    private var inside: [Group: FairQueue<Key, Element>] = [:]
    private let maximum: Int
    private let maximumPerKey: Int

    /// The number of waiting elements.
    var count: Int { turns.count }

    /// Makes an empty queue for `maximum` elements in all, `perGroup` of one group and `perKey` of one key.
    init(maximum: Int, perGroup: Int, perKey maximumPerKey: Int) {
        turns = FairQueue(maximum: maximum, perKey: perGroup)
        self.maximum = maximum
        self.maximumPerKey = maximumPerKey
    }

    /// Adds an element behind those of its key.
    mutating func append(_ element: Element, of key: Key, in group: Group) throws(Refusal) {
        // Taken out, so that it is changed where it is.
        var queue = inside.removeValue(forKey: group) ?? FairQueue(maximum: maximum, perKey: maximumPerKey)
        defer { if queue.count > 0 { inside[group] = queue } }
        guard queue.hasRoom(for: key) else { throw .keyIsFull }
        do throws(FairQueue<Group, Void>.Refusal) {
            try turns.append((), of: group)
        } catch {
            throw error == .isFull ? .isFull : .groupIsFull
        }
        do throws(FairQueue<Key, Element>.Refusal) { try queue.append(element, of: key) } catch { throw .keyIsFull }
    }

    /// Takes the element whose turn it is; nil if the queue is empty.
    mutating func popFirst() -> Element? {
        guard let group = turns.next else { return nil }
        _ = turns.popFirst()
        return take(from: group) { $0.popFirst() }
    }

    /// Takes the first element of a key that matches; nil if none does.
    mutating func remove(where matches: (Element) -> Bool, of key: Key, in group: Group) -> Element? {
        guard let element = take(from: group, { $0.remove(where: matches, of: key) }) else { return nil }
        _ = turns.remove(where: { _ in true }, of: group)
        return element
    }

    private mutating func take(
        from group: Group, _ body: (inout FairQueue<Key, Element>) -> Element?
    ) -> Element? {
        guard var queue = inside.removeValue(forKey: group) else { return nil }
        let element = body(&queue)
        if queue.count > 0 { inside[group] = queue }
        return element
    }
}
