import EventStorage
import FoundationEssentials
import RoomDomain
import RoomLog
import RoomWire

/// The decisions of one room and the way of their events into its log: a machine without I/O, clock or event loop.
///
/// It keeps two folds. `confirmed` contains the durable events, and is all that anybody sees. `projected` also contains
/// the appends that are gathered or handed over, and commands are decided against it. Each input returns the steps that
/// its owner takes, in order; the inputs that a step causes come after the remaining steps.
///
/// Invariants, which the tests cite by number:
///
/// 1. **Nothing is shown before it is durable.** ``Step/show(_:_:)`` has only events of appends that succeeded, and
///    events that were read, each once and in the order of the log.
/// 2. **Every command is answered once.**
/// 3. **The log confirms each answer.** An acknowledgement, and a refusal that rests on the room's state, are given only
///    when everything is durable that was decided before them.
/// 4. **Nothing that was projected survives a conflict or a fault.** The log is read before the next decision.
/// 5. **Order is kept.** Commands are decided, and those that the log confirms are answered, in the order of their
///    arrival.
/// 6. **A verification is answered after an append or a read that began later than it was asked for**, or when the log is
///    out of reach.
/// 7. **At most one read is under way**, and none while anything is handed over.
struct RoomWriter: ~Copyable {
    /// Names a command while it is undecided or unanswered; its owner gives each number once.
    typealias RequestID = Int
    /// Names a request to know that `confirmed` is the log's head.
    typealias VerificationID = Int

    /// The relation of the room's memory to its log.
    enum Condition: Equatable {
        /// By all that this process knows, `confirmed` is the whole log.
        case current
        /// An append failed, or the log has moved: it must be read before anything is decided.
        case stale
        /// The log is being read.
        case reading
        /// The log no longer exists: later requests look the room up again.
        case forgotten
    }

    /// What its owner has to do.
    enum Step: Equatable {
        /// Decides a command against `projected`, and tells ``RoomWriter/decided(_:_:)`` the decision.
        case decide(RequestID)
        /// Calls ``RoomWriter/flush()`` at the end of this turn of the loop.
        case flushSoon
        /// Hands an append over, behind those that were handed over before.
        case append(StreamAppend, commands: Int)
        /// Begins no further append: another writer has appended first.
        case overtake
        /// Reads the events after `version`, and calls ``RoomWriter/read(_:)``.
        case read
        /// Reads the whole room, whose log was replaced, and calls ``RoomWriter/read(_:)``.
        case load
        /// The log has events that were not read. Calls ``RoomWriter/catchUp()`` if anybody follows the room.
        case fellBehind
        /// Shows durable events, which `confirmed` has now, without what the redaction removes from all that was shown.
        case show([RecordedEvent], Redaction)
        /// Tells other servers that the log may have reached this event.
        case announce(seq: Int)
        /// Answers a command.
        case reply(RequestID, CommandOutcome)
        /// Answers requests for the log's head.
        case verified([VerificationID])
        /// Calls ``RoomWriter/settle()``: requests that have come meanwhile may need a read or an append.
        case settle
        /// The log was replaced: `confirmed` is another room's state.
        case begin
        /// The log no longer exists.
        case forget
    }

    /// The outcome of deciding one command.
    enum Decision: Equatable {
        /// The outcome does not depend on the log.
        case answered(CommandOutcome)
        /// The outcome rests on `projected`: the log has to confirm it.
        case settled(CommandOutcome)
        /// The command is carried out.
        case changed(Change)
    }

    /// The effect of one command.
    struct Change: Equatable {
        /// Its events, in order; none if the room is as the command wants it.
        var events: [RecordedEvent]
        var result: CommandResult?
        /// The waveform that it sets.
        var waveform: Waveform?
        /// The name of its key, if it has one, and what tells it from other commands.
        var key: (name: IdempotencyWindow.Name, fingerprint: Int64)?

        static func == (one: Change, other: Change) -> Bool {
            one.events == other.events && one.result == other.result && one.waveform == other.waveform
                && one.key?.name == other.key?.name && one.key?.fingerprint == other.key?.fingerprint
        }
    }

    /// What a read has brought.
    enum Reading {
        /// The events and keyed commands after `version`, and the log's version.
        case events([RecordedEvent], keys: [CommandKey], version: StreamVersion)
        /// The log was replaced: the room has to be loaded.
        case replaced
        /// The room of the log that has replaced the former one.
        case room(DecodedRoom)
        /// There is no such log.
        case gone
        /// The log is out of reach, or cannot be read.
        case failed(RoomFailure)
    }

    /// How much may wait.
    struct Limits {
        /// Commands that wait for the log to be read.
        var waiting: Int
        /// Bytes that are gathered or handed over.
        var weight: Int
        /// Conflicts in a row before commands are given up.
        var conflicts: Int
    }

    private(set) var condition = Condition.current
    private(set) var epoch: String
    private(set) var confirmed: RoomState
    private(set) var projected: RoomState
    /// The version of `confirmed`.
    private(set) var version: StreamVersion
    private var keys: IdempotencyWindow
    /// The version of `projected`, without the gathered append.
    private var nextVersion: StreamVersion
    /// The keyed commands that are gathered or handed over.
    private var pendingKeys: [IdempotencyWindow.Name: CommandKey] = [:]
    /// The append that is gathered in this turn of the loop.
    private var gathering = PendingAppend()
    /// The appends that were handed over and are not known to be durable, in order.
    private var handedOver: [PendingAppend] = []
    /// Commands that wait for the log to be read.
    private var waiting: [RequestID] = []
    /// Requests that wait for the next read or append. One that had begun earlier would not show what was written since.
    private var verifications: [VerificationID] = []
    /// The requests that the read under way will answer.
    private var verifying: [VerificationID] = []
    /// The last event that other servers have announced.
    private var heard = 0
    private var conflictsInARow = 0
    private var isFlushDue = false
    private let limits: Limits

    init(_ room: DecodedRoom, limits: Limits) {
        epoch = room.head.epoch
        confirmed = room.state
        projected = room.state
        version = room.head.version
        nextVersion = room.head.version
        keys = room.keys
        self.limits = limits
    }

    /// A machine that goes on from the same place by itself: for tests, which follow every way from it.
    init(copying other: borrowing RoomWriter) {
        (condition, epoch, confirmed, projected) = (other.condition, other.epoch, other.confirmed, other.projected)
        (version, nextVersion, keys, pendingKeys) = (other.version, other.nextVersion, other.keys, other.pendingKeys)
        (gathering, handedOver) = (other.gathering, other.handedOver)
        (waiting, verifications, verifying) = (other.waiting, other.verifications, other.verifying)
        (heard, conflictsInARow, isFlushDue) = (other.heard, other.conflictsInARow, other.isFlushDue)
        limits = other.limits
    }

    /// Whether anything is decided and not known to be durable.
    var isWriting: Bool { !gathering.isEmpty || !handedOver.isEmpty }

    /// Whether appends were handed over and are not known to be durable.
    var hasHandedOver: Bool { !handedOver.isEmpty }

    /// Whether nothing is under way, and nobody waits.
    var isIdle: Bool {
        !isWriting && waiting.isEmpty && verifications.isEmpty && condition != .reading
    }

    /// Whether as much is on its way to the log as may be.
    var isFull: Bool { gathering.weight + handedOver.reduce(0) { $0 + $1.weight } >= limits.weight }

    // MARK: Commands

    /// Takes a command whose turn has come.
    mutating func submit(_ request: RequestID) -> [Step] {
        switch condition {
        case .current: return [.decide(request)]
        case .stale: return wait(request) + read()
        case .reading: return wait(request)
        case .forgotten: return [.reply(request, .failed(.noSuchRoom))]
        }
    }

    private mutating func wait(_ request: RequestID) -> [Step] {
        guard waiting.count < limits.waiting else { return [.reply(request, .failed(.unavailable))] }
        waiting.append(request)
        return []
    }

    /// Returns the outcome of an earlier command with the same key; nil if none is remembered.
    func earlier(_ name: IdempotencyWindow.Name, fingerprint: Int64) -> Decision? {
        // The first outcome is durable already, so the answer is given at once.
        if let first = keys.command(name) { return .answered(CommandOutcome(first, fingerprint: fingerprint)) }
        return pendingKeys[name].map { .settled(CommandOutcome($0, fingerprint: fingerprint)) }
    }

    /// Takes the decision of a command.
    mutating func decided(_ request: RequestID, _ decision: Decision) -> [Step] {
        // The state on which it was decided is void.
        guard condition == .current else { return submit(request) }
        switch decision {
        case .answered(let outcome): return [.reply(request, outcome)]
        case .settled(let outcome): gathering.add(request, outcome)
        case .changed(let change): add(change, of: request)
        }
        return scheduleFlush()
    }

    private mutating func add(_ change: Change, of request: RequestID) {
        let taken = projected.waveforms(takenBy: change.events.map(\.event))
        gathering.add(change.events, to: projected)
        for event in change.events { projected.evolve(event) }
        if !change.events.isEmpty {
            gathering.add(projected.attachmentChanges(given: change.waveform, taken: taken))
        }
        let keyed = nextVersion.keyed + gathering.keys.count
        var outcome = CommandOutcome.acknowledged(seq: projected.seq, keyed: keyed, result: change.result)
        if let (name, fingerprint) = change.key {
            outcome = .acknowledged(seq: projected.seq, keyed: keyed + 1, result: change.result)
            let key = CommandKey(
                ordinal: keyed + 1, session: name.session, key: name.key, fingerprint: fingerprint, seq: projected.seq,
                result: change.result.map(ResultJSON.encode))
            gathering.keys.append(key)
            pendingKeys[name] = key
        }
        gathering.add(request, outcome, weight: change.waveform == nil ? 0 : Waveform.byteCount)
    }

    // MARK: Writing

    /// A large append is handed over at once, so that it begins while the rest is decided; others at the end of this
    /// turn of the loop, so that commands that arrived together are written together.
    private mutating func scheduleFlush() -> [Step] {
        if gathering.answers.count >= AppendQueue.commandsTogether, heard <= version.seq { return handOver() }
        guard !isFlushDue else { return [] }
        isFlushDue = true
        return [.flushSoon]
    }

    /// Hands the gathered append over.
    mutating func flush() -> [Step] {
        isFlushDue = false
        guard !gathering.isEmpty, condition == .current else { return [] }
        // Another server was faster, so the append would fail.
        return heard > version.seq && handedOver.isEmpty ? decideAgain() : handOver()
    }

    private mutating func handOver() -> [Step] {
        gathering.verifications = verifications
        verifications = []
        let append = gathering.append(to: projected, expecting: nextVersion, in: epoch)
        nextVersion = append.resulting
        handedOver.append(gathering)
        let commands = gathering.answers.count
        gathering = PendingAppend()
        return [.append(append, commands: commands)]
    }

    /// The first `parts` of the appends that were handed over are durable.
    mutating func appended(_ parts: Int) -> [Step] {
        conflictsInARow = 0
        let durable = Array(handedOver.prefix(parts))
        handedOver.removeFirst(durable.count)
        for key in durable.flatMap(\.keys) {
            version.keyed += 1
            keys.remember(key)
            pendingKeys[IdempotencyWindow.Name(session: key.session, key: key.key)] = nil
        }
        let events = durable.count == 1 ? durable[0].events : durable.flatMap(\.events)
        var steps = fold(events)
        if !events.isEmpty { steps.append(.announce(seq: version.seq)) }
        for (request, outcome) in durable.flatMap(\.answers) { steps.append(.reply(request, outcome)) }
        return steps + verified(durable.flatMap(\.verifications)) + [.settle]
    }

    /// Another writer appended first: everything is decided again, in order, once its events are read.
    mutating func overtaken() -> [Step] {
        conflictsInARow += 1
        return decideAgain()
    }

    private mutating func decideAgain() -> [Step] {
        let requests = dropUndurable()
        if conflictsInARow <= limits.conflicts {
            waiting = requests + waiting
            return read()
        }
        conflictsInARow = 0
        return requests.map { .reply($0, .failed(.unavailable)) } + read()
    }

    /// The store failed while the first `underWay` of the appends that were handed over were being written.
    ///
    /// If only the answer was lost, the events are in the log, which is read before anything else is decided.
    mutating func failed(_ fault: StorageFault, underWay: Int) -> [Step] {
        var steps: [Step] = []
        // The events may have been written, and then nobody else would announce them.
        if fault.outcomeIsUnknown {
            let events = handedOver.prefix(underWay).reduce(0) { $0 + $1.events.count }
            steps.append(.announce(seq: version.seq + events))
        }
        let failure = if case .rejected = fault { RoomFailure.internalFault } else { RoomFailure.unavailable }
        return steps + dropUndurable().map { .reply($0, .failed(failure)) } + giveUpVerifying()
    }

    /// Drops everything that is decided and not durable, and returns its requests; the log must be read before anything
    /// else is decided.
    private mutating func dropUndurable() -> [RequestID] {
        let pending = handedOver + [gathering]
        handedOver = []
        gathering = PendingAppend()
        pendingKeys = [:]
        condition = .stale
        verifications = pending.flatMap(\.verifications) + verifications
        return pending.flatMap { $0.answers.map(\.request) }
    }

    /// Adds durable events to `confirmed`.
    private mutating func fold(_ durable: [RecordedEvent]) -> [Step] {
        let redaction = Redaction(by: durable)
        let events = redaction.shown(durable)
        for event in events { confirmed.evolve(event) }
        version.seq = confirmed.seq
        return [.show(events, redaction)]
    }

    // MARK: Reading

    /// Reads the log, unless that is under way or must wait for an append.
    private mutating func read() -> [Step] {
        guard condition == .current || condition == .stale, !isWriting else { return [] }
        condition = .reading
        // The events that other servers announced are durable, and are among those that are read.
        heard = 0
        verifying = verifications
        verifications = []
        return [.read]
    }

    /// Takes what a read, or a load, has brought.
    mutating func read(_ reading: Reading) -> [Step] {
        switch reading {
        case .events(let events, let keys, let version):
            for key in keys { self.keys.remember(key) }
            self.version.keyed = version.keyed
            return fold(events) + becomeCurrent()
        case .replaced: return [.load]
        case .room(let room):
            epoch = room.head.epoch
            version = room.head.version
            confirmed = room.state
            keys = room.keys
            return [.begin] + becomeCurrent()
        case .gone: return [.forget] + giveUpReading(as: .forgotten, .noSuchRoom)
        case .failed(let failure): return giveUpReading(as: .stale, failure)
        }
    }

    /// Continues after a read: decides the commands that waited, and answers the requests for the read.
    private mutating func becomeCurrent() -> [Step] {
        projected = confirmed
        nextVersion = version
        condition = .current
        let requests = waiting
        waiting = []
        let answered = verifying
        verifying = []
        return requests.map(Step.decide) + verified(answered) + [.settle]
    }

    private mutating func giveUpReading(as condition: Condition, _ failure: RoomFailure) -> [Step] {
        self.condition = condition
        let requests = waiting
        waiting = []
        return requests.map { .reply($0, .failed(failure)) } + giveUpVerifying()
    }

    /// Another server has appended events up to `seq`.
    ///
    /// During an append or a read nothing else is done, since their results show whether the room is still behind.
    mutating func hear(_ seq: Int) -> [Step] {
        heard = max(heard, seq)
        return (heard > version.seq && !handedOver.isEmpty ? [.overtake] : []) + fallBehind()
    }

    private mutating func fallBehind() -> [Step] {
        guard heard > version.seq, condition == .current || condition == .stale, !isWriting else { return [] }
        condition = .stale
        return [.fellBehind]
    }

    /// Reads what the room lacks.
    mutating func catchUp() -> [Step] {
        condition == .stale ? read() : []
    }

    /// Another look at the log has shown its head.
    mutating func compare(with head: StreamHead) -> [Step] {
        condition == .stale || head.epoch != epoch || head.version != version ? read() : []
    }

    // MARK: Verifying

    /// Asks to know that `confirmed` is the log's head.
    ///
    /// Events that were durable at the time of this call are in `confirmed` when it is answered, unless the log is out
    /// of reach. Requests that arrive during a read or an append share the next one.
    mutating func verify(_ id: VerificationID) -> [Step] {
        guard condition != .forgotten else { return [.verified([id])] }
        verifications.append(id)
        return read()
    }

    private func verified(_ ids: [VerificationID]) -> [Step] {
        ids.isEmpty ? [] : [.verified(ids)]
    }

    /// Answers all requests although the log's head is unknown.
    private mutating func giveUpVerifying() -> [Step] {
        let ids = verifying + verifications
        verifying = []
        verifications = []
        return verified(ids)
    }

    /// Ensures that a read or an append is under way that answers the waiting requests, if there are any, and that newly
    /// announced events are read.
    mutating func settle() -> [Step] {
        if !gathering.isEmpty { return scheduleFlush() }
        return verifications.isEmpty ? fallBehind() : read()
    }
}
