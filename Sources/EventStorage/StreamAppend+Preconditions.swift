import FoundationEssentials

extension StreamAppend {
    /// Traps unless the events are numbered from `expected.seq + 1` and the keys from `expected.keyed + 1`, and each
    /// attachment appears once.
    fileprivate func checkPreconditions() {
        precondition(
            events.indices.allSatisfy { events[$0].seq == expected.seq + 1 + $0 },
            "stream \(stream): events do not follow on \(expected.seq)")
        precondition(
            keys.indices.allSatisfy { keys[$0].ordinal == expected.keyed + 1 + $0 },
            "stream \(stream): keys do not follow on \(expected.keyed)")
        precondition(
            Set(attachments.map(\.name)).count == attachments.count, "stream \(stream): an attachment appears twice")
    }
}

extension [StreamAppend] {
    /// Traps unless this is a valid batch for ``EventStore/append(_:)``.
    ///
    /// Stores call it first: a batch with a gap is a programming error, and a gap in the log would be permanent.
    package func checkPreconditions() {
        precondition(Set(map(\.stream)).count == count, "a stream appears twice in a batch")
        for part in self {
            part.checkPreconditions()
        }
    }
}

extension StreamCreation {
    /// Returns the directory entry of the first append; traps unless this is a valid creation for
    /// ``EventStore/create(_:)``.
    package func checkedEntry() -> DirectoryEntry {
        precondition(first.expected == .start, "stream \(first.stream): a creation starts at version 0")
        precondition(first.attachments.isEmpty, "stream \(first.stream): a creation has no attachments")
        first.checkPreconditions()
        guard let entry = first.directory else {
            preconditionFailure("stream \(first.stream): a creation gives a directory entry")
        }
        return entry
    }
}
