import EventStorage
import FoundationEssentials
import RoomDomain
import RoomLog
import RoomService
import RoomWire
import Synchronization

/// The reference store, with faults that a test plans.
///
/// It knows at every instant, without suspension, everything that is durable, whoever wrote it.
final class FaultyEventStore: EventStore {
    enum Method: CaseIterable {
        case create, append, load, catchUp, read, renew, heads, snapshot, save, directory, sessions, erasure
    }

    /// A call that erases parts of the log.
    enum Erasure {
        case removeStreams, sweep, streamsToForget, rewrite, endForgetting, removeAttachments
    }

    /// The behaviour of one call.
    enum Behaviour: Sendable {
        case works
        /// Nothing is done.
        case fails(StorageFault)
        /// The call is carried out, but its answer is lost.
        case losesAnswer
        /// The answer is lost, and the call is carried out when the test calls ``FaultyEventStore/writeLate()``. Only
        /// for `append`.
        case writesLate
        /// The call is carried out when the gate is open, unless the store is unreachable then.
        case waits(Gate)
        /// The call is carried out, and the answer comes when the gate is open.
        case answersLate(Gate)
    }

    /// The way in which a stream differs from what was written.
    enum Damage: Sendable {
        /// An event is missing.
        case lacks(seq: Int)
        /// The stream was restored from a backup that ends at this event.
        case restored(epoch: String, seq: Int)
        /// The stream does not exist.
        case gone
    }

    private struct State {
        var scripts: [Method: [Behaviour]] = [:]
        var plan: (@Sendable (Method) -> Behaviour)?
        var isDown = false
        var refused: [UUID: StorageFault] = [:]
        var damage: [UUID: Damage] = [:]
        var calls: [Method: Int] = [:]
        var batches: [[UUID]] = []
        var erasures: [Erasure] = []
        var durable: [UUID: [Int: StoredEvent]] = [:]
        var removed: Set<UUID> = []
        var remains: Set<UUID> = []
        var snapshots: [UUID: [StoredSnapshot]] = [:]
        var late: [@Sendable () async -> Void] = []
        var hidesChanges = false
        var checks: Gate?
    }

    static let unreachable = StorageFault.unreachable(.init(message: "nobody there"))
    private static let answerLost = StorageFault.outcomeUnknown(.init(message: "the answer was lost"))

    /// Where everything is; what is counted there has no faults.
    let log = MemoryEventStore()
    private let state = Mutex(State())

    // MARK: Plans

    /// Sets the behaviour of the next calls that have none yet.
    func next(_ method: Method, _ behaviours: Behaviour...) {
        state.withLock { $0.scripts[method, default: []] += behaviours }
    }

    /// Sets the behaviour of all calls that have no other.
    func plan(_ plan: (@Sendable (Method) -> Behaviour)?) {
        state.withLock { $0.plan = plan }
    }

    /// Sets whether the store is unreachable.
    func isDown(_ isDown: Bool) {
        state.withLock { $0.isDown = isDown }
    }

    /// Sets whether changes of the directory are hidden, as if another program wrote rows without marking them.
    func hidesChanges(_ hidesChanges: Bool) {
        state.withLock { $0.hidesChanges = hidesChanges }
    }

    /// Holds up every check of the store's health from now on.
    func holdChecks(behind gate: Gate) {
        state.withLock { $0.checks = gate }
    }

    /// Rejects every batch that contains this room.
    func refuse(_ room: RoomID, with fault: StorageFault) {
        state.withLock { $0.refused[room.uuid] = fault }
    }

    func damage(_ room: RoomID, _ damage: Damage?) {
        state.withLock { $0.damage[room.uuid] = damage }
    }

    /// Gives a room's log a new epoch, and returns it.
    func renewEpoch(of room: RoomID) async throws -> String {
        let renewal = EpochRenewal(of: room, random: .random(in: 0 ... .max))
        try await log.renewEpochs([renewal])
        return renewal.epoch
    }

    /// Loses a room's events after this one, as a database does that lacks its last commits.
    func lose(after seq: Int, of room: RoomID) async {
        await log.cut(room.uuid, to: seq)
        state.withLock { $0.durable[room.uuid] = $0.durable[room.uuid]?.filter { $0.key <= seq } }
    }

    /// Carries out the writes that were put off.
    func writeLate() async {
        let late = state.withLock { state in
            defer { state.late = [] }
            return state.late
        }
        for write in late { await write() }
    }

    // MARK: State

    /// The number of calls of a method.
    func calls(_ method: Method) -> Int {
        state.withLock { $0.calls[method] ?? 0 }
    }

    /// The rooms of each append so far.
    var batches: [[UUID]] { state.withLock { $0.batches } }

    /// The erasures so far, including queries for streams to erase.
    var erasures: [Erasure] { state.withLock { $0.erasures } }

    /// The number of removed rooms whose remains were not swept.
    var remains: Int { state.withLock { $0.remains.count } }

    /// The durable event with this number.
    func event(_ seq: Int, of room: RoomID) -> StoredEvent? {
        state.withLock { $0.durable[room.uuid]?[seq] }
    }

    /// The number of the last durable event.
    func head(of room: RoomID) -> Int {
        state.withLock { $0.durable[room.uuid]?.count ?? 0 }
    }

    /// Whether no data of the room is durable any more.
    func isRemoved(_ room: RoomID) -> Bool {
        state.withLock { $0.durable[room.uuid] == nil }
    }

    /// The durable events.
    func events(of room: RoomID) throws -> [RecordedEvent] {
        let events = state.withLock { $0.durable[room.uuid]?.values.sorted { $0.seq < $1.seq } ?? [] }
        return try events.map(Self.recorded)
    }

    /// The fold of the durable events, as of the last or of the one with this number.
    func room(_ room: RoomID, at seq: Int = .max) throws -> RoomState {
        var state = RoomState(id: room)
        for event in try events(of: room).prefix(seq) { state.evolve(event) }
        return state
    }

    /// The saved snapshots, including replaced ones.
    func snapshots(of room: RoomID) -> [StoredSnapshot] {
        state.withLock { $0.snapshots[room.uuid] ?? [] }
    }

    /// The waveforms that a room's log holds, each with the time since which no track has it.
    func waveforms(of room: RoomID) async throws -> [WaveformName: Int64?] {
        let held = try await log.archived(room.uuid)?.attachments ?? []
        return Dictionary(
            uniqueKeysWithValues: held.compactMap { attachment in
                WaveformName(attachment.name).map { ($0, attachment.unneededSince) }
            })
    }

    /// The time of a room's last durable event.
    func time(ofLastEventIn room: RoomID) -> Int64? { event(head(of: room), of: room)?.at }

    /// The remembered keys of a room, even if other calls fail.
    func keys(of room: RoomID) async throws -> [CommandKey] {
        try await log.load(room.uuid, reducerVersion: 0, after: nil)?.keys ?? []
    }

    static func recorded(_ event: StoredEvent) throws -> RecordedEvent {
        try EventJSON.decodeLog(type: event.type, seq: event.seq, at: event.at, payload: event.payload)
    }

    // MARK: Parts

    private func perform<Answer: Sendable>(
        _ method: Method, _ body: () async throws(StorageFault) -> Answer
    ) async throws(StorageFault) -> Answer {
        switch behaviour(of: method) {
        case .works, .writesLate:
            return try await body()
        case .fails(let fault):
            throw fault
        case .losesAnswer:
            _ = try await body()
            throw Self.answerLost
        case .waits(let gate):
            await gate.pass()
            if isDown { throw Self.unreachable }
            return try await body()
        case .answersLate(let gate):
            let answer = try await body()
            await gate.pass()
            return answer
        }
    }

    private func behaviour(of method: Method) -> Behaviour {
        state.withLock { state in
            state.calls[method, default: 0] += 1
            if state.isDown { return .fails(Self.unreachable) }
            guard var script = state.scripts[method], !script.isEmpty else { return state.plan?(method) ?? .works }
            defer { state.scripts[method] = script }
            return script.removeFirst()
        }
    }

    private var isDown: Bool { state.withLock { $0.isDown } }

    /// Notes events that were appended or read.
    ///
    /// A read that a rewrite or a removal has overtaken changes nothing.
    private func note(_ events: [StoredEvent], of stream: UUID) {
        state.withLock { state in
            guard !state.removed.contains(stream) else { return }
            for event in events where state.durable[stream]?[event.seq] == nil {
                state.durable[stream, default: [:]][event.seq] = event
            }
        }
    }

    /// Notes events that have taken the place of others.
    private func note(rewritten events: [StoredEvent], of stream: UUID) {
        state.withLock { state in
            for event in events { state.durable[stream]?[event.seq] = event }
        }
    }

    private func note(_ erasure: Erasure) {
        state.withLock { $0.erasures.append(erasure) }
    }

    private func damage(of stream: UUID) -> Damage? {
        state.withLock { $0.damage[stream] }
    }

    /// Appends and records the batch.
    private func write(_ batch: [StreamAppend]) async throws(StorageFault) -> [AppendOutcome] {
        let outcomes = try await log.append(batch)
        for (part, outcome) in zip(batch, outcomes) where outcome == .appended { note(part.events, of: part.stream) }
        return outcomes
    }

    // MARK: Streams

    func create(_ creation: StreamCreation) async throws(StorageFault) -> CreationOutcome {
        try await perform(.create) { () async throws(StorageFault) in
            let outcome = try await log.create(creation)
            if outcome == .created { note(creation.first.events, of: creation.first.stream) }
            return outcome
        }
    }

    func append(_ batch: [StreamAppend]) async throws(StorageFault) -> [AppendOutcome] {
        let (refusal, isLate) = state.withLock { state in
            state.batches.append(batch.map(\.stream))
            var isLate = false
            if case .writesLate = state.scripts[.append]?.first {
                isLate = true
                state.scripts[.append]?.removeFirst()
                state.late.append { _ = try? await self.write(batch) }
            }
            return (batch.compactMap { state.refused[$0.stream] }.first, isLate)
        }
        if let refusal { throw refusal }
        if isLate { throw Self.answerLost }
        return try await perform(.append) { () async throws(StorageFault) in try await write(batch) }
    }

    func load(_ stream: UUID, reducerVersion: Int, after: StreamVersion?) async throws(StorageFault) -> LoadedStream? {
        try await perform(.load) { () async throws(StorageFault) in
            guard let loaded = try await log.load(stream, reducerVersion: reducerVersion, after: after) else {
                return nil
            }
            return damaged(loaded, of: stream)
        }
    }

    func catchUp(_ positions: [UUID: StreamVersion]) async throws(StorageFault) -> [UUID: LoadedStream] {
        try await perform(.catchUp) { () async throws(StorageFault) in
            var found: [UUID: LoadedStream] = [:]
            for (stream, loaded) in try await log.catchUp(positions) { found[stream] = damaged(loaded, of: stream) }
            return found
        }
    }

    /// The result of reading a stream.
    private func damaged(_ loaded: LoadedStream, of stream: UUID) -> LoadedStream? {
        note(loaded.events, of: stream)
        var loaded = loaded
        switch damage(of: stream) {
        case .lacks(let seq): loaded.events.removeAll { $0.seq == seq }
        case .restored(let epoch, let seq):
            loaded.head = StreamHead(epoch: epoch, version: StreamVersion(seq: seq, keyed: loaded.head.version.keyed))
            loaded.events.removeAll { $0.seq > seq }
        case .gone: return nil
        case nil: break
        }
        return loaded
    }

    func read(_ stream: UUID, after seq: Int, limit: Int, bytes: Int) async throws(StorageFault) -> [StoredEvent] {
        try await perform(.read) { () async throws(StorageFault) in
            guard case .lacks(let lost) = damage(of: stream) else {
                let events = try await log.read(stream, after: seq, limit: limit, bytes: bytes)
                note(events, of: stream)
                return events
            }
            return Array(try await log.read(stream, after: seq, limit: .max).filter { $0.seq != lost }.prefix(limit))
        }
    }

    func renew(_ renewal: EpochRenewal, replacing epoch: String) async throws(StorageFault) -> Bool {
        try await perform(.renew) { () async throws(StorageFault) in
            try await log.renew(renewal, replacing: epoch)
        }
    }

    func heads(of streams: [UUID]) async throws(StorageFault) -> [UUID: StreamHead] {
        try await perform(.heads) { () async throws(StorageFault) in
            var heads = try await log.heads(of: streams)
            for stream in streams {
                switch damage(of: stream) {
                case .restored(let epoch, let seq):
                    heads[stream] = StreamHead(epoch: epoch, version: StreamVersion(seq: seq, keyed: 0))
                case .gone: heads[stream] = nil
                case .lacks, nil: break
                }
            }
            return heads
        }
    }

    func snapshot(of stream: UUID, atMost seq: Int, reducerVersion: Int) async throws(StorageFault) -> StoredSnapshot? {
        try await perform(.snapshot) { () async throws(StorageFault) in
            try await log.snapshot(of: stream, atMost: seq, reducerVersion: reducerVersion)
        }
    }

    func attachment(_ name: String, of stream: UUID) async throws(StorageFault) -> [UInt8]? {
        try await perform(.read) { () async throws(StorageFault) in try await log.attachment(name, of: stream) }
    }

    func save(
        _ snapshot: StoredSnapshot, of stream: UUID, in epoch: String?, oneIn span: Int
    ) async throws(StorageFault) {
        try await perform(.save) { () async throws(StorageFault) in
            try await log.save(snapshot, of: stream, in: epoch, oneIn: span)
            state.withLock { $0.snapshots[stream, default: []].append(snapshot) }
        }
    }

    // MARK: Directory

    func stream(code: String) async throws(StorageFault) -> UUID? {
        try await perform(.directory) { () async throws(StorageFault) in try await log.stream(code: code) }
    }

    func directory(of streams: [UUID]) async throws(StorageFault) -> [DirectoryRecord] {
        try await perform(.directory) { () async throws(StorageFault) in try await log.directory(of: streams) }
    }

    func openPublicStreams(
        matching: String?, before: UUID?, limit: Int
    ) async throws(StorageFault) -> [DirectoryRecord] {
        try await perform(.directory) { () async throws(StorageFault) in
            try await log.openPublicStreams(matching: matching, before: before, limit: limit)
        }
    }

    func directoryChanges(since mark: DirectoryMark?) async throws(StorageFault) -> DirectoryChanges {
        try await perform(.directory) { () async throws(StorageFault) in
            var changes = try await log.directoryChanges(since: mark)
            if changes.records != nil, state.withLock(\.hidesChanges) { changes.records = [] }
            return changes
        }
    }

    func memberships(of session: UUID) async throws(StorageFault) -> [UUID] {
        try await perform(.sessions) { () async throws(StorageFault) in try await log.memberships(of: session) }
    }

    // MARK: Sessions

    func insert(_ session: SessionRecord) async throws(StorageFault) {
        try await perform(.sessions) { () async throws(StorageFault) in try await log.insert(session) }
    }

    func session(tokenHash: [UInt8]) async throws(StorageFault) -> SessionRecord? {
        try await perform(.sessions) { () async throws(StorageFault) in try await log.session(tokenHash: tokenHash) }
    }

    func renameSession(_ session: UUID, to name: String) async throws(StorageFault) -> Bool {
        try await perform(.sessions) { () async throws(StorageFault) in
            try await log.renameSession(session, to: name)
        }
    }

    func extendSession(_ session: UUID, to expiresAt: Int64) async throws(StorageFault) {
        try await perform(.sessions) { () async throws(StorageFault) in
            try await log.extendSession(session, to: expiresAt)
        }
    }

    func endSession(_ session: UUID, at now: Int64) async throws(StorageFault) {
        try await perform(.sessions) { () async throws(StorageFault) in
            try await log.endSession(session, at: now)
        }
    }

    func sessionsToRemove(at now: Int64, limit: Int) async throws(StorageFault) -> [SessionRecord] {
        try await perform(.sessions) { () async throws(StorageFault) in
            try await log.sessionsToRemove(at: now, limit: limit)
        }
    }

    func endedSessions(among sessions: [UUID]) async throws(StorageFault) -> [UUID] {
        try await perform(.sessions) { () async throws(StorageFault) in
            try await log.endedSessions(among: sessions)
        }
    }

    func deleteSession(_ session: UUID) async throws(StorageFault) {
        try await perform(.sessions) { () async throws(StorageFault) in try await log.deleteSession(session) }
    }

    // MARK: Erasure

    func removeStreams(closedBefore instant: Int64, limit: Int) async throws(StorageFault) -> [UUID] {
        note(.removeStreams)
        return try await perform(.erasure) { () async throws(StorageFault) in
            let removed = try await log.removeStreams(closedBefore: instant, limit: limit)
            state.withLock { state in
                state.removed.formUnion(removed)
                state.remains.formUnion(removed)
                for stream in removed { state.durable[stream] = nil }
            }
            return removed
        }
    }

    func sweep(limit: Int) async throws(StorageFault) -> Bool {
        note(.sweep)
        return try await perform(.erasure) { () async throws(StorageFault) in
            // The reference store leaves nothing; a database deletes a part of the remains in each call.
            _ = try await log.sweep(limit: limit)
            return state.withLock { $0.remains.popFirst() != nil }
        }
    }

    func removeAttachments(
        unneededSinceBefore instant: Int64, limit: Int
    ) async throws(StorageFault) -> Int {
        note(.removeAttachments)
        return try await perform(.erasure) { () async throws(StorageFault) in
            try await log.removeAttachments(unneededSinceBefore: instant, limit: limit)
        }
    }

    func streamsToForget(limit: Int) async throws(StorageFault) -> [UUID] {
        note(.streamsToForget)
        return try await perform(.erasure) { () async throws(StorageFault) in
            try await log.streamsToForget(limit: limit)
        }
    }

    func streamsToClear(after: UUID?, limit: Int) async throws(StorageFault) -> [StreamClearing] {
        try await perform(.erasure) { () async throws(StorageFault) in
            try await log.streamsToClear(after: after, limit: limit)
        }
    }

    func clear(_ events: [StoredEvent], of stream: UUID, through seq: Int) async throws(StorageFault) {
        try await perform(.erasure) { () async throws(StorageFault) in
            try await log.clear(events, of: stream, through: seq)
            note(rewritten: events, of: stream)
        }
    }

    func rewrite(_ events: [StoredEvent], of stream: UUID) async throws(StorageFault) {
        note(.rewrite)
        try await perform(.erasure) { () async throws(StorageFault) in
            try await log.rewrite(events, of: stream)
            note(rewritten: events, of: stream)
        }
    }

    func endForgetting(_ renewal: EpochRenewal, at now: Int64) async throws(StorageFault) {
        note(.endForgetting)
        try await perform(.erasure) { () async throws(StorageFault) in
            try await log.endForgetting(renewal, at: now)
            state.withLock { $0.snapshots[renewal.stream] = nil }
        }
    }

    // MARK: Health

    func checkHealth() async throws(StorageFault) {
        if let gate = state.withLock(\.checks) { await gate.pass() }
        if isDown { throw Self.unreachable }
    }
}
