package import FoundationEssentials

/// What takes things out of a log: whole streams, and words out of a stream's events.
///
/// Any number of processes may do it to one log at the same time; none of it makes an append wait for longer than one
/// call takes. What is asked for twice is done once.
package protocol StreamErasure: Sendable {
    /// Removes at most `limit` streams that were closed before `instant`, those closed longest ago first, and returns
    /// them.
    ///
    /// When this returns there are no such streams for any other method: an append to one is a
    /// ``AppendOutcome/conflict``. Their events, keys and snapshots are left to ``sweep(limit:)``.
    func removeStreams(closedBefore instant: Int64, limit: Int) async throws(StorageFault) -> [UUID]

    /// Deletes at most `limit` events, and what else is left of streams that were removed; false where nothing was.
    func sweep(limit: Int) async throws(StorageFault) -> Bool

    /// At most `limit` streams with ``StreamAppend/forgetAt`` whose forgetting has not ended, those asked for longest
    /// ago first.
    func streamsToForget(limit: Int) async throws(StorageFault) -> [UUID]

    /// At most `limit` streams with ids after `after`, ascending, some events of which before a
    /// ``StreamAppend/clearing`` were not cleared yet; those that are to be forgotten, or were, are not among them.
    func streamsToClear(after: UUID?, limit: Int) async throws(StorageFault) -> [StreamClearing]

    /// Puts these events in the place of those with the same numbers, and notes that all through `seq` that come before
    /// the stream's clearing are cleared; in the same transaction its snapshots of before the clearing are deleted, and
    /// the fingerprints of its commands of before and of its creation are ``CommandKey/forgotten``, without checksums.
    /// Nothing happens where the stream has no clearing.
    ///
    /// The stream's version and epoch stay, and an append waits for no longer than this call takes. Done again, it
    /// changes nothing.
    ///
    /// - Precondition: The events come before the clearing; their types and times are those of the events in their
    ///   place.
    func clear(_ events: [StoredEvent], of stream: UUID, through seq: Int) async throws(StorageFault)

    /// Puts these events in the place of those with the same numbers, and deletes the stream's snapshots, which have what
    /// the events had; nothing happens where the stream is not to be forgotten.
    ///
    /// - Precondition: Their types and times are those of the events in their place.
    func rewrite(_ events: [StoredEvent], of stream: UUID) async throws(StorageFault)

    /// Ends a stream's forgetting at `now`, in one transaction: it has another epoch, no snapshots, and the fingerprints
    /// of its commands and of its creation are ``CommandKey/forgotten``, without checksums; nothing happens where the
    /// stream is not to be forgotten.
    ///
    /// A snapshot of a stream that is to be forgotten, or was, is never kept, whoever saves it: it may have been made
    /// before.
    func endForgetting(_ renewal: EpochRenewal, at now: Int64) async throws(StorageFault)
}

/// A stream whose events before one of them are to be cleared.
package struct StreamClearing: Hashable, Sendable {
    /// The stream.
    package var stream: UUID
    /// The last event up to which that is done; 0 where it has not begun.
    package var cleared: Int
    /// The event before which it is to be done.
    package var clearing: Int

    package init(stream: UUID, cleared: Int, clearing: Int) {
        self.stream = stream
        self.cleared = cleared
        self.clearing = clearing
    }
}
