import EventStorage
import FoundationEssentials
import SimulatedTime
import Synchronization

/// One server's access to the log; calls are late, fail, or lose their answers.
final class SimulatedEventStore: EventStore {
    private struct State {
        var isCutOff = false
        var hasCrashed = false
        /// Whether requests sent before a crash may take effect after it.
        var writesOutliveCrash = false
    }

    private let log: SimulatedLog
    private let node: String
    /// The executor of the server's tasks.
    let executor: (any TaskExecutor)?
    private let state = Mutex(State())

    init(_ log: SimulatedLog, node: String, executor: SimulatedExecutor) {
        self.executor = executor
        self.log = log
        self.node = node
    }

    /// Whether the log is out of reach: messages under way are lost.
    var isCutOff: Bool {
        get { state.withLock { $0.isCutOff } }
        set { state.withLock { $0.isCutOff = newValue } }
    }

    /// Stops sending; requests already sent may still take effect if `writesOutlive` is true.
    func crash(writesOutlive: Bool) {
        state.withLock { state in
            state.hasCrashed = true
            state.writesOutliveCrash = writesOutlive
        }
    }

    /// Whether a call reaches the log.
    private func arrives(isWrite: Bool) -> Bool {
        let (hasCrashed, outlives) = state.withLock { ($0.hasCrashed, $0.writesOutliveCrash) }
        return !hasCrashed || (isWrite && outlives && log.dice.once(in: 2))
    }

    // MARK: Calls

    typealias Call<Answer> = @Sendable (MemoryEventStore) async throws(StorageFault) -> Answer

    func perform<Answer: Sendable>(
        _ name: String, isWrite: Bool = false, _ body: @escaping Call<Answer>
    ) async throws(StorageFault) -> Answer {
        let result = await withCheckedContinuation { continuation in
            start(name, isWrite: isWrite, body) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    private func start<Answer: Sendable>(
        _ name: String, isWrite: Bool, _ body: @escaping Call<Answer>,
        _ answer: @escaping @Sendable (Result<Answer, StorageFault>) -> Void
    ) {
        if log.isOver { return answer(.failure(.closed)) }
        let (log, node) = (log, node)
        // As PostgreSQL's store has it: nobody asks whether a read was carried out.
        let lost = isWrite ? SimulatedLog.answerLost : SimulatedLog.unreachable
        let fate = log.weather.fate(isWrite: isWrite, log.dice)
        log.truth.note("\(node) \(name): \(fate)")
        switch fate {
        case .works(let before, let after):
            later(before) {
                guard self.arrives(isWrite: isWrite) else { return answer(.failure(lost)) }
                let isLost = self.isCutOff
                let result = isLost ? .failure(lost) : log.carryOut(body)
                if isWrite || isLost { log.truth.note("\(node) \(name): \(isLost ? "lost" : "done, \(result)")") }
                self.later(after) {
                    answer(self.isCutOff ? .failure(lost) : result)
                }
            }
        case .fails(let before, let fault):
            later(before) { answer(.failure(fault)) }
        case .losesAnswer(let isDone, let before, let after):
            later(before) {
                if isDone, !self.isCutOff, self.arrives(isWrite: isWrite) { _ = log.carryOut(body) }
                self.later(after) { answer(.failure(lost)) }
            }
        case .writesLate(let before, let after):
            later(before) {
                answer(.failure(SimulatedLog.answerLost))
                self.later(after) {
                    let result = log.carryOut(body)
                    log.truth.note("\(node) \(name): done late, \(result)")
                }
            }
        }
    }

    private func later(_ nanoseconds: Int64, _ job: @escaping Scheduler.Job) {
        log.scheduler.post(log.lane, after: nanoseconds, job)
    }

    // MARK: Streams

    func create(_ creation: StreamCreation) async throws(StorageFault) -> CreationOutcome {
        let truth = log.truth
        return try await perform("create", isWrite: true) { log throws(StorageFault) in
            let outcome = try await log.create(creation)
            if outcome == .created { truth.created(creation) }
            return outcome
        }
    }

    func append(_ batch: [StreamAppend]) async throws(StorageFault) -> [AppendOutcome] {
        let truth = log.truth
        let name = "append of \(batch.map { "\($0.expected.seq)+\($0.events.count)" }.joined(separator: ", "))"
        return try await perform(name, isWrite: true) { log throws(StorageFault) in
            let outcomes = try await log.append(batch)
            for (part, outcome) in zip(batch, outcomes) where outcome == .appended { truth.appended(part) }
            try await truth.checkWaveforms(in: log)
            return outcomes
        }
    }

    func load(_ stream: UUID, reducerVersion: Int, after: StreamVersion?) async throws(StorageFault) -> LoadedStream? {
        try await perform("load after \(after?.seq ?? 0)") { log throws(StorageFault) in
            try await log.load(stream, reducerVersion: reducerVersion, after: after)
        }
    }

    func catchUp(_ positions: [UUID: StreamVersion]) async throws(StorageFault) -> [UUID: LoadedStream] {
        let name = "catching up after \(positions.values.map { "\($0.seq)" }.joined(separator: ", "))"
        return try await perform(name) { log throws(StorageFault) in try await log.catchUp(positions) }
    }

    func read(_ stream: UUID, after seq: Int, limit: Int, bytes: Int) async throws(StorageFault) -> [StoredEvent] {
        try await perform("read after \(seq)") { log throws(StorageFault) in
            try await log.read(stream, after: seq, limit: limit, bytes: bytes)
        }
    }

    func renew(_ renewal: EpochRenewal, replacing epoch: String) async throws(StorageFault) -> Bool {
        try await perform("renewal of an epoch", isWrite: true) { log throws(StorageFault) in
            try await log.renew(renewal, replacing: epoch)
        }
    }

    func heads(of streams: [UUID]) async throws(StorageFault) -> [UUID: StreamHead] {
        try await perform("heads of \(streams.count)") { log throws(StorageFault) in
            try await log.heads(of: streams)
        }
    }

    func snapshot(of stream: UUID, atMost seq: Int, reducerVersion: Int) async throws(StorageFault) -> StoredSnapshot? {
        try await perform("snapshot at \(seq)") { log throws(StorageFault) in
            try await log.snapshot(of: stream, atMost: seq, reducerVersion: reducerVersion)
        }
    }

    func save(
        _ snapshot: StoredSnapshot, of stream: UUID, in epoch: String?, oneIn span: Int
    ) async throws(StorageFault) {
        let truth = log.truth
        try await perform("save of \(snapshot.seq)", isWrite: true) { log throws(StorageFault) in
            try await log.save(snapshot, of: stream, in: epoch, oneIn: span)
            truth.kept(snapshot, of: stream)
        }
    }

    func attachment(_ name: String, of stream: UUID) async throws(StorageFault) -> [UInt8]? {
        try await perform("waveform") { log throws(StorageFault) in try await log.attachment(name, of: stream) }
    }

    // MARK: Directory

    func stream(code: String) async throws(StorageFault) -> UUID? {
        try await perform("stream of a code") { log throws(StorageFault) in try await log.stream(code: code) }
    }

    func directory(of streams: [UUID]) async throws(StorageFault) -> [DirectoryRecord] {
        try await perform("directory") { log throws(StorageFault) in try await log.directory(of: streams) }
    }

    func openPublicStreams(
        matching: String?, before: UUID?, limit: Int
    ) async throws(StorageFault) -> [DirectoryRecord] {
        try await perform("listing") { log throws(StorageFault) in
            try await log.openPublicStreams(matching: matching, before: before, limit: limit)
        }
    }

    func directoryChanges(since mark: DirectoryMark?) async throws(StorageFault) -> DirectoryChanges {
        try await perform("changes") { log throws(StorageFault) in try await log.directoryChanges(since: mark) }
    }

    func memberships(of session: UUID) async throws(StorageFault) -> [UUID] {
        try await perform("memberships") { log throws(StorageFault) in try await log.memberships(of: session) }
    }

    // MARK: Sessions

    func insert(_ session: SessionRecord) async throws(StorageFault) {
        try await perform("insert", isWrite: true) { log throws(StorageFault) in try await log.insert(session) }
    }

    func session(tokenHash: [UInt8]) async throws(StorageFault) -> SessionRecord? {
        try await perform("session") { log throws(StorageFault) in try await log.session(tokenHash: tokenHash) }
    }

    func renameSession(_ session: UUID, to name: String) async throws(StorageFault) -> Bool {
        try await perform("rename", isWrite: true) { log throws(StorageFault) in
            try await log.renameSession(session, to: name)
        }
    }

    func extendSession(_ session: UUID, to expiresAt: Int64) async throws(StorageFault) {
        try await perform("extend", isWrite: true) { log throws(StorageFault) in
            try await log.extendSession(session, to: expiresAt)
        }
    }

    func endSession(_ session: UUID, at now: Int64) async throws(StorageFault) {
        try await perform("end", isWrite: true) { log throws(StorageFault) in
            try await log.endSession(session, at: now)
        }
    }

    func sessionsToRemove(at now: Int64, limit: Int) async throws(StorageFault) -> [SessionRecord] {
        try await perform("sessions to remove") { log throws(StorageFault) in
            try await log.sessionsToRemove(at: now, limit: limit)
        }
    }

    func endedSessions(among sessions: [UUID]) async throws(StorageFault) -> [UUID] {
        try await perform("ended sessions") { log throws(StorageFault) in
            try await log.endedSessions(among: sessions)
        }
    }

    func deleteSession(_ session: UUID) async throws(StorageFault) {
        try await perform("delete", isWrite: true) { log throws(StorageFault) in
            try await log.deleteSession(session)
        }
    }

    // MARK: Erasure

    func removeStreams(closedBefore instant: Int64, limit: Int) async throws(StorageFault) -> [UUID] {
        try await perform("remove", isWrite: true) { log throws(StorageFault) in
            try await log.removeStreams(closedBefore: instant, limit: limit)
        }
    }

    func sweep(limit: Int) async throws(StorageFault) -> Bool {
        try await perform("sweep", isWrite: true) { log throws(StorageFault) in try await log.sweep(limit: limit) }
    }

    func removeAttachments(
        unneededSinceBefore instant: Int64, limit: Int
    ) async throws(StorageFault) -> Int {
        let truth = log.truth
        return try await perform("remove waveforms", isWrite: true) { log throws(StorageFault) in
            let removed = try await log.removeAttachments(unneededSinceBefore: instant, limit: limit)
            try await truth.checkWaveforms(in: log)
            return removed
        }
    }

    func streamsToForget(limit: Int) async throws(StorageFault) -> [UUID] {
        try await perform("streams to forget") { log throws(StorageFault) in
            try await log.streamsToForget(limit: limit)
        }
    }

    func streamsToClear(after: UUID?, limit: Int) async throws(StorageFault) -> [StreamClearing] {
        try await perform("streams to clear") { log throws(StorageFault) in
            try await log.streamsToClear(after: after, limit: limit)
        }
    }

    func clear(_ events: [StoredEvent], of stream: UUID, through seq: Int) async throws(StorageFault) {
        try await perform("clear", isWrite: true) { log throws(StorageFault) in
            try await log.clear(events, of: stream, through: seq)
        }
    }

    func rewrite(_ events: [StoredEvent], of stream: UUID) async throws(StorageFault) {
        try await perform("rewrite", isWrite: true) { log throws(StorageFault) in
            try await log.rewrite(events, of: stream)
        }
    }

    func endForgetting(_ renewal: EpochRenewal, at now: Int64) async throws(StorageFault) {
        try await perform("end forgetting", isWrite: true) { log throws(StorageFault) in
            try await log.endForgetting(renewal, at: now)
        }
    }

    // MARK: Health

    func checkHealth() async throws(StorageFault) {
        try await perform("health") { log throws(StorageFault) in try await log.checkHealth() }
    }
}
