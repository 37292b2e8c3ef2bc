package import FoundationEssentials

/// An append-only event log with numbered streams, and what is derived from it in the same transaction.
///
/// One stream is one room. Payloads are bytes: a store knows neither rooms nor JSON beyond "valid JSON text". All
/// methods may be called from any task, concurrently. Every method throws ``StorageFault`` when the surroundings fail;
/// a lost race is not a fault but an outcome.
package protocol EventStore: StreamErasure {
    /// Where the store does its work, if that is a thread of its own: who runs there is called back without a change of
    /// threads.
    ///
    /// What runs there must not block, delays every other call while it computes, and keeps the store until it has
    /// ended.
    var executor: (any TaskExecutor)? { get }

    // MARK: Streams

    /// Makes a stream with its first events, its directory entry and its memberships, in one transaction.
    ///
    /// Nothing is written unless the outcome is ``CreationOutcome/created``.
    func create(_ creation: StreamCreation) async throws(StorageFault) -> CreationOutcome

    /// Appends to many streams in one transaction; outcomes are in the order of `batch`.
    ///
    /// A stream whose version or epoch is not the expected one is reported ``AppendOutcome/conflict`` alone: none of its
    /// parts is written, the others are. When this returns, all that was appended is durable. When it throws a fault whose
    /// ``StorageFault/outcomeIsUnknown`` is true, the whole batch was committed or none of it.
    ///
    /// - Precondition: a stream appears at most once in `batch`; events are numbered from the expected `seq` + 1 and keys
    ///   from the expected `keyed` + 1, without holes.
    func append(_ batch: [StreamAppend]) async throws(StorageFault) -> [AppendOutcome]

    /// What is needed to bring a stream to life, read as of one instant; nil where there is no such stream.
    ///
    /// With `after` nil: the newest snapshot of `reducerVersion` if there is one, the events after it (or all), and the
    /// newest ``CommandKey/window`` keys. With `after` given: no snapshot, the events and keys after that version.
    func load(_ stream: UUID, reducerVersion: Int, after: StreamVersion?) async throws(StorageFault) -> LoadedStream?

    /// What streams have beyond the versions that a reader has of them, all read as of one instant.
    ///
    /// Streams that do not exist are left out. Of every other one there is its head, no snapshot, and all events and keys
    /// after the given version: who asks for many streams at once bounds how many.
    func catchUp(_ positions: [UUID: StreamVersion]) async throws(StorageFault) -> [UUID: LoadedStream]

    /// At most `limit` events with `seq` greater than `seq`, ascending; empty where there is no such stream.
    ///
    /// It ends behind the event with which the payloads come to `bytes`, so that there is one where there is any; what
    /// is read beyond that is little.
    func read(_ stream: UUID, after seq: Int, limit: Int, bytes: Int) async throws(StorageFault) -> [StoredEvent]

    /// Where streams stand; streams that do not exist are left out.
    func heads(of streams: [UUID]) async throws(StorageFault) -> [UUID: StreamHead]

    /// The newest snapshot of `reducerVersion` whose `seq` is at most `seq`.
    func snapshot(of stream: UUID, atMost seq: Int, reducerVersion: Int) async throws(StorageFault) -> StoredSnapshot?

    /// Keeps a snapshot; one of the same stream and `seq` is replaced.
    ///
    /// Throws ``StorageFault/rejected(_:)`` where there is no such stream, it is to be forgotten, the snapshot comes before
    /// the stream's ``StreamAppend/clearing``, or its epoch is not `epoch`: a snapshot of a history that was replaced must not be taken for one of the history that replaced it. With
    /// nil the epoch is not compared.
    ///
    /// So that snapshots do not pile up, one in a span of `span` events is kept: in the same transaction the stream's
    /// snapshots before this one, whatever their version, are deleted from the last multiple of `span` on that is at most
    /// this one's `seq`. Newer ones and those of other spans stay, so the newest one is always kept, and whoever looks for
    /// one at most at a position finds one less than two spans before it where one was saved in each span. With 1 nothing
    /// is deleted.
    func save(
        _ snapshot: StoredSnapshot, of stream: UUID, in epoch: String?, oneIn span: Int
    ) async throws(StorageFault)

    // MARK: Directory

    /// The stream with this code: the open one, else the one closed last.
    func stream(code: String) async throws(StorageFault) -> UUID?

    /// The directory records of those streams that exist, in no order.
    func directory(of streams: [UUID]) async throws(StorageFault) -> [DirectoryRecord]

    /// Open, public streams with an id below `before`, largest id (newest) first.
    ///
    /// With `matching`, those whose name contains this text; ASCII letters match in either case.
    func openPublicStreams(matching: String?, before: UUID?, limit: Int) async throws(StorageFault) -> [DirectoryRecord]

    /// The entries that were written since a mark, and the mark from which to ask next; without a mark only that.
    ///
    /// Nothing is left out: whoever takes a mark, then reads every entry, and then asks for changes from mark to mark,
    /// has the directory as it is, whoever writes to it. An entry may come although it is as it was. Streams that were
    /// removed since they changed do not come.
    func directoryChanges(since mark: DirectoryMark?) async throws(StorageFault) -> DirectoryChanges

    // MARK: Sessions

    /// Keeps a new session.
    func insert(_ session: SessionRecord) async throws(StorageFault)

    /// The session with this token hash, whether expired or not.
    func session(tokenHash: [UInt8]) async throws(StorageFault) -> SessionRecord?

    /// Changes a session's name; false where there is no such session.
    func renameSession(_ session: UUID, to name: String) async throws(StorageFault) -> Bool

    /// Moves a session's expiry; nothing happens where there is no such session or it has ended.
    func extendSession(_ session: UUID, to expiresAt: Int64) async throws(StorageFault)

    /// Marks a session as ended by its owner at `now`, so that its token is dead before its memberships are; its expiry
    /// becomes `now` where it was later.
    func endSession(_ session: UUID, at now: Int64) async throws(StorageFault)

    /// Sessions that have ended or whose `expiresAt` is at or before `now`, at most `limit`; those of either kind that
    /// are over for longest are not left out for others of it.
    func sessionsToRemove(at now: Int64, limit: Int) async throws(StorageFault) -> [SessionRecord]

    /// Those of `sessions` that have ended or do not exist, in no order.
    func endedSessions(among sessions: [UUID]) async throws(StorageFault) -> [UUID]

    /// Deletes a session's row and the keys under which it made streams.
    func deleteSession(_ session: UUID) async throws(StorageFault)

    /// The streams that a session is a member of.
    func memberships(of session: UUID) async throws(StorageFault) -> [UUID]

    // MARK: Health

    /// Returns when the log can be reached and written; throws otherwise. Cheap enough for a health check each second.
    func checkHealth() async throws(StorageFault)

    /// Writes as an append does, some tens of kilobytes, and takes it back: returns when that is durable.
    ///
    /// Nobody can read it meanwhile. For a log whose last write failed, once a second at most.
    func probeWriting() async throws(StorageFault)
}

extension EventStore {
    package var executor: (any TaskExecutor)? { nil }

    /// At most `limit` events with `seq` greater than `seq`, whatever their payloads come to.
    package func read(_ stream: UUID, after seq: Int, limit: Int) async throws(StorageFault) -> [StoredEvent] {
        try await read(stream, after: seq, limit: limit, bytes: .max)
    }

    /// Nothing is written: enough for a log that lives in memory.
    package func probeWriting() async throws(StorageFault) { try await checkHealth() }

    /// Keeps a snapshot beside all others, whatever the stream's epoch is.
    package func save(_ snapshot: StoredSnapshot, of stream: UUID) async throws(StorageFault) {
        try await save(snapshot, of: stream, in: nil, oneIn: 1)
    }
}
