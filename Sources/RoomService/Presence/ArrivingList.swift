/// A list of another server that arrives in parts.
///
/// The parts must arrive in order. A part that is lost, repeated or late ends the list, which can only begin anew.
struct ArrivingList<Element> {
    /// The parts that have arrived, if the first one has.
    private var arrived: (parts: Int, elements: [Element])?

    /// Takes a part; returns the elements of all parts with the last one.
    mutating func take(_ part: Int, isLast: Bool, _ elements: [Element]) -> [Element]? {
        let before = part == 0 ? (parts: 0, elements: []) : arrived
        arrived = nil
        guard let before, before.parts == part else { return nil }
        let all = before.elements + elements
        if isLast { return all }
        arrived = (part + 1, all)
        return nil
    }

    /// Drops the parts that have arrived.
    mutating func drop() { arrived = nil }
}
