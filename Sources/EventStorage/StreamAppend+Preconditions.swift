import FoundationEssentials

extension StreamAppend {
    /// Traps unless the events are numbered from `expected.seq + 1` and the keys from `expected.keyed + 1`.
    fileprivate func checkPreconditions() {
        precondition(
            events.indices.allSatisfy { events[$0].seq == expected.seq + 1 + $0 },
            "stream \(stream): events do not follow on \(expected.seq)")
        precondition(
            keys.indices.allSatisfy { keys[$0].ordinal == expected.keyed + 1 + $0 },
            "stream \(stream): keys do not follow on \(expected.keyed)")
    }
}

extension [StreamAppend] {
    /// Traps where this is no batch that ``EventStore/append(_:)`` may be given.
    ///
    /// Stores call it first: a batch with a hole in it is a writer's mistake, and a hole in the log is for ever.
    package func checkPreconditions() {
        precondition(Set(map(\.stream)).count == count, "a stream appears twice in a batch")
        for part in self {
            part.checkPreconditions()
        }
    }
}

extension StreamCreation {
    /// The directory entry of the first append; traps where this is no creation that ``EventStore/create(_:)`` may be
    /// given.
    package func checkedEntry() -> DirectoryEntry {
        precondition(first.expected == .start, "stream \(first.stream): a creation starts at version 0")
        first.checkPreconditions()
        guard let entry = first.directory else {
            preconditionFailure("stream \(first.stream): a creation gives a directory entry")
        }
        return entry
    }
}
