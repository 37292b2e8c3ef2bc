package import FoundationEssentials

/// An append-only event log with numbered streams, and data derived from it in the same transaction.
///
/// One stream is one room. Payloads are bytes: a store knows neither rooms nor JSON beyond "valid JSON text". All
/// methods may be called from any task, concurrently. Every method throws ``StorageFault`` when the environment fails;
/// a lost race is an outcome and not a fault.
package protocol EventStore: StreamErasure {
    /// The store's executor, if it works on a thread of its own: a task that runs there calls the store without
    /// switching threads.
    ///
    /// Such a task must not block. It delays every other call while it computes, and keeps the store alive until it has
    /// ended.
    var executor: (any TaskExecutor)? { get }

    // MARK: Streams

    /// Makes a stream with its first events, its directory entry and its memberships, in one transaction.
    ///
    /// Nothing is written unless the outcome is ``CreationOutcome/created``.
    func create(_ creation: StreamCreation) async throws(StorageFault) -> CreationOutcome

    /// Appends to many streams in one transaction; outcomes are in the order of `batch`.
    ///
    /// A stream whose version (``StreamVersion/isMet(by:)``) or epoch is not the expected one is reported as
    /// ``AppendOutcome/conflict``: none of its parts is written, and the other streams are not affected. When this
    /// returns, everything appended is durable. When it throws a fault whose ``StorageFault/outcomeIsUnknown`` is true, either the whole batch was committed or
    /// none of it.
    ///
    /// - Precondition: a stream appears at most once in `batch`, and a name at most once among its attachments; events
    ///   are numbered from the expected `seq` + 1 and keys from the expected `keyed` + 1, without gaps.
    func append(_ batch: [StreamAppend]) async throws(StorageFault) -> [AppendOutcome]

    /// Reads everything needed to load a stream, as of one instant; nil if there is no such stream.
    ///
    /// If `after` is nil: the newest snapshot of `reducerVersion` if there is one, the events after it (or all events),
    /// and the newest ``CommandKey/window`` keys. If `after` is given: no snapshot, the events and keys after that
    /// version.
    func load(_ stream: UUID, reducerVersion: Int, after: StreamVersion?) async throws(StorageFault) -> LoadedStream?

    /// Reads the events and keys that streams have beyond the versions of a reader, all as of one instant.
    ///
    /// Streams that do not exist are left out. Every other stream has its head, no snapshot, all events and keys after
    /// the given version, and whether the log still has what it had there (``LoadedStream/continues``): the caller limits
    /// the number of streams.
    func catchUp(_ positions: [UUID: StreamVersion]) async throws(StorageFault) -> [UUID: LoadedStream]

    /// Reads at most `limit` events with `seq` greater than `seq`, ascending; empty if there is no such stream.
    ///
    /// The result ends with the event that brings the payloads' total size to `bytes`, so that it has at least one
    /// event if there are any. The store reads little more than it returns.
    func read(_ stream: UUID, after seq: Int, limit: Int, bytes: Int) async throws(StorageFault) -> [StoredEvent]

    /// Gives a stream a new epoch, if its epoch is still `epoch`, and deletes its snapshots, which may be of events that
    /// it does not have; returns whether it was.
    ///
    /// Whoever finds that a log has lost events does this before anything else, so that no position of the lost history
    /// is taken for one of the log's.
    func renew(_ renewal: EpochRenewal, replacing epoch: String) async throws(StorageFault) -> Bool

    /// Returns the heads of streams; streams that do not exist are left out.
    func heads(of streams: [UUID]) async throws(StorageFault) -> [UUID: StreamHead]

    /// Returns the newest snapshot of `reducerVersion` whose `seq` is at most `seq`.
    func snapshot(of stream: UUID, atMost seq: Int, reducerVersion: Int) async throws(StorageFault) -> StoredSnapshot?

    /// Saves a snapshot; replaces one of the same stream and `seq`.
    ///
    /// Throws ``StorageFault/rejected(_:)`` if there is no such stream, if it is to be forgotten, if the snapshot comes
    /// before the stream's ``StreamAppend/clearing``, or if the stream's epoch is not `epoch`: a snapshot of a history
    /// that was replaced must not be taken for one of the history that replaced it. If `epoch` is nil, the epoch is not
    /// compared.
    ///
    /// To keep snapshots from piling up, one is kept in each span of `span` events: in the same transaction, the
    /// stream's earlier snapshots of any version are deleted back to the last multiple of `span` that is at most this
    /// snapshot's `seq`. Newer snapshots and those of other spans stay. So the newest one is always kept, and the
    /// newest one up to a position is less than two spans before it if one was saved in each span. With a `span` of 1
    /// nothing is deleted.
    func save(
        _ snapshot: StoredSnapshot, of stream: UUID, in epoch: String?, oneIn span: Int
    ) async throws(StorageFault)

    /// Returns the bytes of an attachment, whether it is needed or not; nil if there is none with this name.
    func attachment(_ name: String, of stream: UUID) async throws(StorageFault) -> [UInt8]?

    // MARK: Directory

    /// Returns the stream with this code: the open one, else the one closed last.
    func stream(code: String) async throws(StorageFault) -> UUID?

    /// Returns the directory records of the streams that exist, in no particular order.
    func directory(of streams: [UUID]) async throws(StorageFault) -> [DirectoryRecord]

    /// Returns open, public streams with an id below `before`, largest id (newest) first.
    ///
    /// If `matching` is given, only streams whose name contains this text; ASCII letters match in either case.
    func openPublicStreams(matching: String?, before: UUID?, limit: Int) async throws(StorageFault) -> [DirectoryRecord]

    /// Returns the entries that were written since a mark, and the next mark; without a mark, only the next mark.
    ///
    /// Nothing is missed: a reader that takes a mark, then reads every entry, and then asks for changes from mark to
    /// mark, has the current directory, whoever writes to it. An entry may be returned although it has not changed.
    /// Streams that were removed since they changed are not returned.
    func directoryChanges(since mark: DirectoryMark?) async throws(StorageFault) -> DirectoryChanges

    // MARK: Sessions

    /// Saves a new session.
    func insert(_ session: SessionRecord) async throws(StorageFault)

    /// Returns the session with this token hash, whether expired or not.
    func session(tokenHash: [UInt8]) async throws(StorageFault) -> SessionRecord?

    /// Changes a session's name; false if there is no such session.
    func renameSession(_ session: UUID, to name: String) async throws(StorageFault) -> Bool

    /// Changes a session's expiry; does nothing if there is no such session or it has ended.
    func extendSession(_ session: UUID, to expiresAt: Int64) async throws(StorageFault)

    /// Marks a session as ended by its owner at `now`, so that its token stops working before its memberships end; an
    /// expiry later than `now` becomes `now`.
    func endSession(_ session: UUID, at now: Int64) async throws(StorageFault)

    /// Returns at most `limit` sessions that have ended or whose `expiresAt` is at or before `now`; of each of the two
    /// kinds, those that have been over longest are taken.
    func sessionsToRemove(at now: Int64, limit: Int) async throws(StorageFault) -> [SessionRecord]

    /// Returns the sessions among `sessions` that have ended or do not exist, in no particular order.
    func endedSessions(among sessions: [UUID]) async throws(StorageFault) -> [UUID]

    /// Deletes a session's row and the keys under which it made streams.
    func deleteSession(_ session: UUID) async throws(StorageFault)

    /// Returns the streams that a session is a member of.
    func memberships(of session: UUID) async throws(StorageFault) -> [UUID]

    // MARK: Health

    /// Checks that the log can be reached and written, and throws if not. Cheap enough for a health check each second.
    func checkHealth() async throws(StorageFault)

    /// Writes some tens of kilobytes as an append does, and takes them back; returns when that is durable.
    ///
    /// No reader sees the written bytes. Meant for a log whose last write failed, at most once a second.
    func probeWriting() async throws(StorageFault)
}

extension EventStore {
    package var executor: (any TaskExecutor)? { nil }

    /// Reads at most `limit` events with `seq` greater than `seq`, whatever the size of their payloads.
    package func read(_ stream: UUID, after seq: Int, limit: Int) async throws(StorageFault) -> [StoredEvent] {
        try await read(stream, after: seq, limit: limit, bytes: .max)
    }

    /// Writes nothing, which suffices for a log in memory.
    package func probeWriting() async throws(StorageFault) { try await checkHealth() }

    /// Saves a snapshot, whatever the stream's epoch is, and deletes no other.
    package func save(_ snapshot: StoredSnapshot, of stream: UUID) async throws(StorageFault) {
        try await save(snapshot, of: stream, in: nil, oneIn: 1)
    }
}
