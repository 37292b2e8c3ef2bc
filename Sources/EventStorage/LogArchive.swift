package import FoundationEssentials

/// A store whose whole log can be read and written: what tools need beside what a server does.
///
/// Every method reads or writes one page, so that memory is bounded however long the log is; each is one transaction.
/// They may be called while servers write the log, but for those that import.
package protocol LogArchive: EventStore {
    // MARK: Reading

    /// At most `limit` streams with an id above `after` that have anything in `part`, ascending, whether they have a
    /// head or not; those that were removed are left out, swept or not.
    func streams(in part: LogPart, after: UUID?, limit: Int) async throws(StorageFault) -> [UUID]

    /// All of a stream but its events and its snapshots' states, as of one instant; nil where it has no head.
    func archived(_ stream: UUID) async throws(StorageFault) -> ArchivedStream?

    /// Events after `seq` up to `last`, ascending: at most `page.rows`, fewer where their payloads come to `page.bytes`,
    /// at least one where there is any.
    func events(
        of stream: UUID, after seq: Int, through last: Int, page: PageLimit
    ) async throws(StorageFault) -> [StoredEvent]

    /// The snapshot at a position, of whatever reducer's version.
    func snapshot(of stream: UUID, at seq: Int) async throws(StorageFault) -> StoredSnapshot?

    /// At most `limit` creation keys that follow on `after`, in the order of session and key's bytes; those of
    /// streams that were removed are left out, swept or not.
    func creationKeys(after: CreationKey?, limit: Int) async throws(StorageFault) -> [CreationKey]

    /// At most `limit` sessions with an id above `after`, ascending.
    func sessions(after: UUID?, limit: Int) async throws(StorageFault) -> [SessionRecord]

    // MARK: Epochs

    /// Gives streams other epochs; those that do not exist are left out.
    func renewEpochs(_ renewals: [EpochRenewal]) async throws(StorageFault)

    // MARK: Importing

    /// Marks the log as one that an import is writing; false, and nothing happens, where it holds anything already.
    func beginImport() async throws(StorageFault) -> Bool

    /// Writes a part of what is imported.
    func write(_ batch: ImportBatch) async throws(StorageFault)

    /// Takes the mark of ``beginImport()`` away.
    func finishImport() async throws(StorageFault)

    /// Whether an import has begun and not ended: then the log is in part only.
    func hasUnfinishedImport() async throws(StorageFault) -> Bool
}

/// A part of the log that has rows of streams.
package enum LogPart: CaseIterable, Sendable {
    /// Heads, which are also the directory.
    case heads
    case events
    /// Remembered keyed commands.
    case keys
    case snapshots
    case memberships
}

/// How much one read gives.
package struct PageLimit: Hashable, Sendable {
    /// Rows.
    package var rows: Int
    /// Bytes of payload: the row that reaches it is the last.
    package var bytes: Int

    package init(rows: Int, bytes: Int) {
        self.rows = rows
        self.bytes = bytes
    }
}

/// A stream without its events.
package struct ArchivedStream: Hashable, Sendable {
    /// The stream.
    package var stream: UUID
    /// Where it stands.
    package var head: StreamHead
    /// What was computed over its id and epoch.
    package var checksum: Int64?
    /// Its directory entry.
    package var entry: DirectoryEntry
    /// The largest `seq` of its events, whatever its head says; 0 where there is none.
    package var lastEvent: Int
    /// Remembered keyed commands, ascending by ordinal.
    package var keys: [ArchivedKey]
    /// The sessions that are its members, in no order.
    package var members: [UUID]
    /// Where it has snapshots, ascending.
    package var snapshots: [Int]
    /// Another open stream with its code, where it is open itself.
    package var codeTwin: UUID?
    /// ``StreamAppend/forgetAt``.
    package var forgetAt: Int64?
    /// Whether its forgetting has ended.
    package var isForgotten: Bool
    /// ``StreamAppend/clearing``.
    package var clearing: Int?
    /// The last event up to which those before the clearing are cleared.
    package var cleared: Int

    package init(
        stream: UUID, head: StreamHead, checksum: Int64?, entry: DirectoryEntry, lastEvent: Int, keys: [ArchivedKey],
        members: [UUID], snapshots: [Int], codeTwin: UUID? = nil, forgetAt: Int64? = nil, isForgotten: Bool = false,
        clearing: Int? = nil, cleared: Int = 0
    ) {
        self.stream = stream
        self.head = head
        self.checksum = checksum
        self.entry = entry
        self.lastEvent = lastEvent
        self.keys = keys
        self.members = members
        self.snapshots = snapshots
        self.codeTwin = codeTwin
        self.forgetAt = forgetAt
        self.isForgotten = isForgotten
        self.clearing = clearing
        self.cleared = cleared
    }
}

/// A remembered keyed command and where it is kept.
package struct ArchivedKey: Hashable, Sendable {
    /// Its place in the ring: the ordinal modulo ``CommandKey/window``.
    package var slot: Int
    /// The command.
    package var key: CommandKey

    package init(slot: Int, key: CommandKey) {
        self.slot = slot
        self.key = key
    }
}

/// The key under which a session made a stream.
package struct CreationKey: Hashable, Sendable {
    /// The session.
    package var session: UUID
    /// The key, as the client chose it.
    package var key: String
    /// The stream that was made.
    package var stream: UUID
    /// A hash of the request.
    package var fingerprint: Int64
    /// When it was made, milliseconds since the Unix epoch.
    package var at: Int64

    package init(session: UUID, key: String, stream: UUID, fingerprint: Int64, at: Int64) {
        self.session = session
        self.key = key
        self.stream = stream
        self.fingerprint = fingerprint
        self.at = at
    }
}

/// A stream's new epoch.
package struct EpochRenewal: Hashable, Sendable {
    /// The stream.
    package var stream: UUID
    /// Its epoch from now on.
    package var epoch: String
    /// What was computed over both.
    package var checksum: Int64

    package init(stream: UUID, epoch: String, checksum: Int64) {
        self.stream = stream
        self.epoch = epoch
        self.checksum = checksum
    }
}

/// A part of what is imported, written in one transaction.
package struct ImportBatch: Sendable {
    /// Streams, or parts of them.
    package var streams: [ImportedStream] = []
    /// Creation keys; those of streams that do not exist are left out.
    package var creationKeys: [CreationKey] = []
    /// Sessions.
    package var sessions: [SessionRecord] = []

    package init() {}
}

/// A stream that is imported, or a part of one.
package struct ImportedStream: Sendable {
    /// The stream.
    package var stream: UUID
    /// Where it stands once all of it is written.
    package var head: StreamHead
    /// What was computed over its id and epoch.
    package var checksum: Int64?
    /// Its directory entry; that of a later part takes its place.
    package var entry: DirectoryEntry
    /// Events that follow on those of earlier parts.
    package var events: [StoredEvent] = []
    /// Remembered keyed commands.
    package var keys: [CommandKey] = []
    /// Sessions that are its members.
    package var members: [UUID] = []
    /// ``StreamAppend/forgetAt``; that of a later part takes its place.
    package var forgetAt: Int64?
    /// ``StreamAppend/clearing``; that of a later part takes its place, and nothing of it is done.
    package var clearing: Int?

    package init(stream: UUID, head: StreamHead, checksum: Int64?, entry: DirectoryEntry) {
        self.stream = stream
        self.head = head
        self.checksum = checksum
        self.entry = entry
    }
}
