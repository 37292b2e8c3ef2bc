package import FoundationEssentials

/// A store whose whole log can be read and written, as tools need beyond the methods for servers.
///
/// Every method reads or writes one page, and writes it in one transaction, so that memory is bounded however long the
/// log is. All methods except those that import may be called while servers write the log.
package protocol LogArchive: EventStore {
    // MARK: Reading

    /// Returns at most `limit` streams with an id above `after` that have rows in `part`, ascending, even streams
    /// without a head; removed streams are left out, swept or not.
    func streams(in part: LogPart, after: UUID?, limit: Int) async throws(StorageFault) -> [UUID]

    /// Returns a stream without its events and its snapshots' states, as of one instant; nil if it has no head.
    func archived(_ stream: UUID) async throws(StorageFault) -> ArchivedStream?

    /// Returns events after `seq` up to `last`, ascending: at most `page.rows`, fewer if their payloads reach
    /// `page.bytes`, but at least one if there are any.
    func events(
        of stream: UUID, after seq: Int, through last: Int, page: PageLimit
    ) async throws(StorageFault) -> [StoredEvent]

    /// Returns the snapshot at a position, whatever its reducer's version.
    func snapshot(of stream: UUID, at seq: Int) async throws(StorageFault) -> StoredSnapshot?

    /// Returns the attachments with these names, ordered by name; those that do not exist are left out.
    ///
    /// The caller limits the number of names.
    func attachments(_ names: [String], of stream: UUID) async throws(StorageFault) -> [Attachment]

    /// Returns at most `limit` creation keys after `after`, ordered by session and then by the key's bytes; keys of
    /// removed streams are left out, swept or not.
    func creationKeys(after: CreationKey?, limit: Int) async throws(StorageFault) -> [CreationKey]

    /// Returns at most `limit` sessions with an id above `after`, ascending.
    func sessions(after: UUID?, limit: Int) async throws(StorageFault) -> [SessionRecord]

    // MARK: Epochs

    /// Gives streams new epochs; streams that do not exist are left out.
    func renewEpochs(_ renewals: [EpochRenewal]) async throws(StorageFault)

    // MARK: Importing

    /// Marks the log as being written by an import; returns false, and does nothing, if the log is not empty.
    func beginImport() async throws(StorageFault) -> Bool

    /// Writes a part of the import.
    func write(_ batch: ImportBatch) async throws(StorageFault)

    /// Removes the mark of ``beginImport()``.
    func finishImport() async throws(StorageFault)

    /// Whether an import has begun and not ended; the log is then incomplete.
    func hasUnfinishedImport() async throws(StorageFault) -> Bool
}

/// A part of the log that has rows of streams.
package enum LogPart: CaseIterable, Sendable {
    case heads
    /// The directory's entries.
    case directory
    case events
    /// Remembered keyed commands.
    case keys
    case snapshots
    case memberships
    case attachments
}

/// The limits of one read.
package struct PageLimit: Hashable, Sendable {
    /// Rows.
    package var rows: Int
    /// Bytes of payload: the row that reaches this number is the last.
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
    /// The stream's head.
    package var head: StreamHead
    /// The checksum of its id and epoch.
    package var checksum: Int64?
    /// The largest `seq` of its events, whatever its head says; 0 if it has no events.
    package var lastEvent: Int
    /// What the directory holds of it; nil if it has no entry, which no store writes.
    package var entry: ArchivedEntry?
    /// Remembered keyed commands, ascending by ordinal.
    package var keys: [ArchivedKey]
    /// The sessions that are its members, in no particular order.
    package var members: [UUID]
    /// The positions of its snapshots, ascending.
    package var snapshots: [Int]
    /// Its attachments without their bytes, ordered by name.
    package var attachments: [ArchivedAttachment]

    package init(
        stream: UUID, head: StreamHead, checksum: Int64?, lastEvent: Int, entry: ArchivedEntry?, keys: [ArchivedKey],
        members: [UUID], snapshots: [Int], attachments: [ArchivedAttachment] = []
    ) {
        self.stream = stream
        self.head = head
        self.checksum = checksum
        self.lastEvent = lastEvent
        self.entry = entry
        self.keys = keys
        self.members = members
        self.snapshots = snapshots
        self.attachments = attachments
    }
}

/// What the directory holds of a stream.
package struct ArchivedEntry: Hashable, Sendable {
    /// Its entry.
    package var entry: DirectoryEntry
    /// Another open stream with the same code; only for a stream that is itself open.
    package var codeTwin: UUID?
    /// ``StreamAppend/forgetAt``.
    package var forgetAt: Int64?
    /// Whether it has been forgotten completely.
    package var isForgotten: Bool
    /// ``StreamAppend/clearing``.
    package var clearing: Int?
    /// The number of the last event that has been cleared, of the events before the clearing.
    package var cleared: Int

    package init(
        entry: DirectoryEntry, codeTwin: UUID? = nil, forgetAt: Int64? = nil, isForgotten: Bool = false,
        clearing: Int? = nil, cleared: Int = 0
    ) {
        self.entry = entry
        self.codeTwin = codeTwin
        self.forgetAt = forgetAt
        self.isForgotten = isForgotten
        self.clearing = clearing
        self.cleared = cleared
    }
}

/// An attachment without its bytes.
package struct ArchivedAttachment: Hashable, Sendable {
    /// Its name.
    package var name: String
    /// ``AttachmentChange/unneededSince``.
    package var unneededSince: Int64?

    package init(name: String, unneededSince: Int64? = nil) {
        self.name = name
        self.unneededSince = unneededSince
    }
}

/// A remembered keyed command and the slot that stores it.
package struct ArchivedKey: Hashable, Sendable {
    /// Its slot in the ring: the ordinal modulo ``CommandKey/window``.
    package var slot: Int
    /// The command.
    package var key: CommandKey

    package init(slot: Int, key: CommandKey) {
        self.slot = slot
        self.key = key
    }
}

/// The idempotency key under which a session made a stream.
package struct CreationKey: Hashable, Sendable {
    /// The session.
    package var session: UUID
    /// The key, as the client chose it.
    package var key: String
    /// The stream that was made.
    package var stream: UUID
    /// A hash of the request.
    package var fingerprint: Int64
    /// The time when it was made, in milliseconds since the Unix epoch.
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
    /// The epoch that it gets.
    package var epoch: String
    /// The checksum of the stream's id and the new epoch.
    package var checksum: Int64

    package init(stream: UUID, epoch: String, checksum: Int64) {
        self.stream = stream
        self.epoch = epoch
        self.checksum = checksum
    }
}

/// A part of an import, written in one transaction.
package struct ImportBatch: Sendable {
    /// Streams, or parts of them.
    package var streams: [ImportedStream] = []
    /// Creation keys; keys of streams that do not exist are left out.
    package var creationKeys: [CreationKey] = []
    /// Sessions.
    package var sessions: [SessionRecord] = []

    package init() {}
}

/// A stream to import, or a part of one.
package struct ImportedStream: Sendable {
    /// The stream.
    package var stream: UUID
    /// Its head after all of its parts are written.
    package var head: StreamHead
    /// The checksum of its id and epoch.
    package var checksum: Int64?
    /// Its directory entry; the entry of a later part replaces it.
    package var entry: DirectoryEntry
    /// Events that follow those of earlier parts.
    package var events: [StoredEvent] = []
    /// Remembered keyed commands.
    package var keys: [CommandKey] = []
    /// Sessions that are its members.
    package var members: [UUID] = []
    /// Attachments, all needed.
    package var attachments: [Attachment] = []
    /// ``StreamAppend/forgetAt``; the value of a later part replaces it.
    package var forgetAt: Int64?
    /// ``StreamAppend/clearing``; the value of a later part replaces it, and nothing has been cleared yet.
    package var clearing: Int?

    package init(stream: UUID, head: StreamHead, checksum: Int64?, entry: DirectoryEntry) {
        self.stream = stream
        self.head = head
        self.checksum = checksum
        self.entry = entry
    }
}
