import EventStorage
import Foundation

/// A log that changes after rows of it were listed.
struct WatchedArchive: LogArchive {
    /// The rows that were listed.
    enum Listing: Equatable {
        case streams(LogPart)
        case creationKeys
        case unfinishedImport
    }

    let log: any LogArchive
    /// Called before a listing is returned; may throw instead.
    let onListing: @Sendable (Listing) async throws(StorageFault) -> Void

    func streams(in part: LogPart, after: UUID?, limit: Int) async throws(StorageFault) -> [UUID] {
        let found = try await log.streams(in: part, after: after, limit: limit)
        try await onListing(.streams(part))
        return found
    }

    func creationKeys(after: CreationKey?, limit: Int) async throws(StorageFault) -> [CreationKey] {
        let found = try await log.creationKeys(after: after, limit: limit)
        try await onListing(.creationKeys)
        return found
    }

    func hasUnfinishedImport() async throws(StorageFault) -> Bool {
        try await onListing(.unfinishedImport)
        return try await log.hasUnfinishedImport()
    }
}

// MARK: - Unchanged

extension WatchedArchive {
    var executor: (any TaskExecutor)? { log.executor }

    func archived(_ stream: UUID) async throws(StorageFault) -> ArchivedStream? { try await log.archived(stream) }
    func events(
        of stream: UUID, after seq: Int, through last: Int, page: PageLimit
    ) async throws(StorageFault) -> [StoredEvent] {
        try await log.events(of: stream, after: seq, through: last, page: page)
    }
    func snapshot(of stream: UUID, at seq: Int) async throws(StorageFault) -> StoredSnapshot? {
        try await log.snapshot(of: stream, at: seq)
    }
    func attachments(_ names: [String], of stream: UUID) async throws(StorageFault) -> [Attachment] {
        try await log.attachments(names, of: stream)
    }
    func sessions(after: UUID?, limit: Int) async throws(StorageFault) -> [SessionRecord] {
        try await log.sessions(after: after, limit: limit)
    }
    func renewEpochs(_ renewals: [EpochRenewal]) async throws(StorageFault) { try await log.renewEpochs(renewals) }
    func beginImport() async throws(StorageFault) -> Bool { try await log.beginImport() }
    func write(_ batch: ImportBatch) async throws(StorageFault) { try await log.write(batch) }
    func finishImport() async throws(StorageFault) { try await log.finishImport() }

    func create(_ creation: StreamCreation) async throws(StorageFault) -> CreationOutcome {
        try await log.create(creation)
    }
    func append(_ batch: [StreamAppend]) async throws(StorageFault) -> [AppendOutcome] { try await log.append(batch) }
    func load(_ stream: UUID, reducerVersion: Int, after: StreamVersion?) async throws(StorageFault) -> LoadedStream? {
        try await log.load(stream, reducerVersion: reducerVersion, after: after)
    }
    func catchUp(_ positions: [UUID: StreamVersion]) async throws(StorageFault) -> [UUID: LoadedStream] {
        try await log.catchUp(positions)
    }
    func read(_ stream: UUID, after seq: Int, limit: Int, bytes: Int) async throws(StorageFault) -> [StoredEvent] {
        try await log.read(stream, after: seq, limit: limit, bytes: bytes)
    }
    func renew(_ renewal: EpochRenewal, replacing epoch: String) async throws(StorageFault) -> Bool {
        try await log.renew(renewal, replacing: epoch)
    }
    func heads(of streams: [UUID]) async throws(StorageFault) -> [UUID: StreamHead] { try await log.heads(of: streams) }
    func snapshot(of stream: UUID, atMost seq: Int, reducerVersion: Int) async throws(StorageFault) -> StoredSnapshot? {
        try await log.snapshot(of: stream, atMost: seq, reducerVersion: reducerVersion)
    }
    func attachment(_ name: String, of stream: UUID) async throws(StorageFault) -> [UInt8]? {
        try await log.attachment(name, of: stream)
    }
    func save(
        _ snapshot: StoredSnapshot, of stream: UUID, in epoch: String?, oneIn span: Int
    ) async throws(StorageFault) {
        try await log.save(snapshot, of: stream, in: epoch, oneIn: span)
    }

    func stream(code: String) async throws(StorageFault) -> UUID? { try await log.stream(code: code) }
    func directory(of streams: [UUID]) async throws(StorageFault) -> [DirectoryRecord] {
        try await log.directory(of: streams)
    }
    func openPublicStreams(
        matching: String?, before: UUID?, limit: Int
    ) async throws(StorageFault) -> [DirectoryRecord] {
        try await log.openPublicStreams(matching: matching, before: before, limit: limit)
    }
    func directoryChanges(since mark: DirectoryMark?) async throws(StorageFault) -> DirectoryChanges {
        try await log.directoryChanges(since: mark)
    }
    func memberships(of session: UUID) async throws(StorageFault) -> [UUID] { try await log.memberships(of: session) }

    func insert(_ session: SessionRecord) async throws(StorageFault) { try await log.insert(session) }
    func session(tokenHash: [UInt8]) async throws(StorageFault) -> SessionRecord? {
        try await log.session(tokenHash: tokenHash)
    }
    func renameSession(_ session: UUID, to name: String) async throws(StorageFault) -> Bool {
        try await log.renameSession(session, to: name)
    }
    func extendSession(_ session: UUID, to expiresAt: Int64) async throws(StorageFault) {
        try await log.extendSession(session, to: expiresAt)
    }
    func endSession(_ session: UUID, at now: Int64) async throws(StorageFault) {
        try await log.endSession(session, at: now)
    }
    func sessionsToRemove(at now: Int64, limit: Int) async throws(StorageFault) -> [SessionRecord] {
        try await log.sessionsToRemove(at: now, limit: limit)
    }
    func endedSessions(among sessions: [UUID]) async throws(StorageFault) -> [UUID] {
        try await log.endedSessions(among: sessions)
    }
    func deleteSession(_ session: UUID) async throws(StorageFault) { try await log.deleteSession(session) }
    func checkHealth() async throws(StorageFault) { try await log.checkHealth() }

    func removeStreams(closedBefore instant: Int64, limit: Int) async throws(StorageFault) -> [UUID] {
        try await log.removeStreams(closedBefore: instant, limit: limit)
    }
    func sweep(limit: Int) async throws(StorageFault) -> Bool { try await log.sweep(limit: limit) }
    func removeAttachments(
        unneededSinceBefore instant: Int64, limit: Int
    ) async throws(StorageFault) -> Int {
        try await log.removeAttachments(unneededSinceBefore: instant, limit: limit)
    }
    func streamsToForget(limit: Int) async throws(StorageFault) -> [UUID] {
        try await log.streamsToForget(limit: limit)
    }
    func streamsToClear(after: UUID?, limit: Int) async throws(StorageFault) -> [StreamClearing] {
        try await log.streamsToClear(after: after, limit: limit)
    }
    func clear(_ events: [StoredEvent], of stream: UUID, through seq: Int) async throws(StorageFault) {
        try await log.clear(events, of: stream, through: seq)
    }
    func rewrite(_ events: [StoredEvent], of stream: UUID) async throws(StorageFault) {
        try await log.rewrite(events, of: stream)
    }
    func endForgetting(_ renewal: EpochRenewal, at now: Int64) async throws(StorageFault) {
        try await log.endForgetting(renewal, at: now)
    }
}
