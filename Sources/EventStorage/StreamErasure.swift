package import FoundationEssentials

/// Erases parts of a log: whole streams, and personal data in a stream's events.
///
/// Any number of processes may do this to one log at the same time, and an append never waits for longer than one call
/// takes. Repeated requests are carried out once.
package protocol StreamErasure: Sendable {
    /// Removes at most `limit` streams that were closed before `instant`, those closed longest ago first, and returns
    /// them.
    ///
    /// When this returns, these streams no longer exist for any other method: an append to one is a
    /// ``AppendOutcome/conflict``, and nothing is counted of them. ``sweep(limit:)`` deletes their events, keys and
    /// snapshots.
    func removeStreams(closedBefore instant: Int64, limit: Int) async throws(StorageFault) -> [UUID]

    /// Deletes at most `limit` events of removed streams, and their other remaining rows; false if there were none.
    func sweep(limit: Int) async throws(StorageFault) -> Bool

    /// Deletes at most `limit` attachments that have not been needed since before `instant`, and returns their number.
    ///
    /// An attachment that an append makes needed at the same time is in the store afterwards: either it was not
    /// deleted, or the append wrote it again.
    func removeAttachments(unneededSinceBefore instant: Int64, limit: Int) async throws(StorageFault) -> Int

    /// Returns at most `limit` streams with ``StreamAppend/forgetAt`` that have not been forgotten completely, the
    /// oldest requests first.
    func streamsToForget(limit: Int) async throws(StorageFault) -> [UUID]

    /// Returns at most `limit` streams with ids after `after`, ascending, that have uncleared events before a
    /// ``StreamAppend/clearing``; streams that are to be forgotten, or were, are left out.
    func streamsToClear(after: UUID?, limit: Int) async throws(StorageFault) -> [StreamClearing]

    /// Replaces events with the same numbers by these, and records that all events through `seq` that come before the
    /// stream's clearing are cleared. The same transaction deletes the snapshots from before the clearing, and sets the
    /// fingerprints of the creation and of earlier commands to ``CommandKey/forgotten``, without checksums. Does
    /// nothing if the stream has no clearing.
    ///
    /// The stream's version and epoch stay the same, and an append waits no longer than this call takes. Repeating the
    /// call changes nothing.
    ///
    /// - Precondition: The events come before the clearing; their types and times are those of the events that they
    ///   replace.
    func clear(_ events: [StoredEvent], of stream: UUID, through seq: Int) async throws(StorageFault)

    /// Replaces events with the same numbers by these, takes over the tail if the last one is among them, and deletes the
    /// stream's snapshots, which contain the same data;
    /// does nothing if the stream is not to be forgotten.
    ///
    /// The same transaction deletes all that is counted of the stream, and excludes it from being counted
    /// (``CountedPosition/excluded``).
    ///
    /// - Precondition: Their types and times are those of the events that they replace.
    func rewrite(_ events: [StoredEvent], of stream: UUID) async throws(StorageFault)

    /// Completes a stream's forgetting at `now`, in one transaction: it gets a new epoch, its snapshots are deleted,
    /// and the fingerprints of its commands and of its creation become ``CommandKey/forgotten``, without checksums;
    /// does nothing if the stream is not to be forgotten.
    ///
    /// A snapshot of a stream that is to be forgotten, or was, is never saved, because it may have been made before.
    func endForgetting(_ renewal: EpochRenewal, at now: Int64) async throws(StorageFault)
}

/// A stream with a clearing: the personal data in events before that number is to be removed.
package struct StreamClearing: Hashable, Sendable {
    /// The stream.
    package var stream: UUID
    /// The number of the last event that has been cleared; 0 if clearing has not begun.
    package var cleared: Int
    /// The number of the event before which events are to be cleared.
    package var clearing: Int

    package init(stream: UUID, cleared: Int, clearing: Int) {
        self.stream = stream
        self.cleared = cleared
        self.clearing = clearing
    }
}
