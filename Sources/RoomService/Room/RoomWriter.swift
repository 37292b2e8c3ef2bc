import EventStorage
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
/// 8. **`unavailable` means not done.** A command whose append may have been written is answered `outcomeUnknown`.
struct RoomWriter: ~Copyable {
    private(set) var condition = Condition.current
    private(set) var epoch: String
    var confirmed: RoomState { _read { yield counted.state } }
    /// The same state, and what is counted of the events that were appended here.
    private var counted: CountedRoom
    /// The version of `confirmed`.
    private(set) var version: StreamVersion
    private var keys: IdempotencyWindow
    private var projection: Projection
    /// Commands that wait for the log to be read.
    private var waiting: [RequestID] = []
    /// Requests that wait for the next read or append, because an earlier one would not show what was written since.
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
        counted = CountedRoom(room.state, in: room.head.epoch, isCounting: limits.isCounting)
        version = room.head.version
        keys = room.keys
        projection = Projection(of: room.state, at: room.head.version)
        self.limits = limits
    }

    /// A machine that goes on from the same place by itself: for tests, which follow every way from it.
    init(copying other: borrowing RoomWriter) {
        (condition, epoch, counted, version) = (other.condition, other.epoch, other.counted, other.version)
        (keys, projection) = (other.keys, other.projection)
        (waiting, verifications, verifying) = (other.waiting, other.verifications, other.verifying)
        (heard, conflictsInARow, limits) = (other.heard, other.conflictsInARow, other.limits)
        isFlushDue = other.isFlushDue
    }

    /// The state against which commands are decided.
    var projected: RoomState { _read { yield projection.state } }

    /// Whether anything is decided, or even handed over, and not known to be durable.
    var isWriting: Bool { !projection.isDurable }
    var hasHandedOver: Bool { projection.hasHandedOver }

    /// Whether nothing is under way, and nobody waits.
    var isIdle: Bool { !isWriting && waiting.isEmpty && verifications.isEmpty && condition != .reading }

    /// Whether as much is on its way to the log as may be.
    var isFull: Bool { projection.weight >= limits.weight }

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
        return projection.command(name).map { .settled(CommandOutcome($0, fingerprint: fingerprint)) }
    }

    /// Takes the decision of a command.
    mutating func decided(_ request: RequestID, _ decision: Decision) -> [Step] {
        // The state on which it was decided is void.
        guard condition == .current else { return submit(request) }
        switch decision {
        case .answered(let outcome): return [.reply(request, outcome)]
        case .settled(let outcome): projection.add(outcome, of: request)
        case .changed(let change): projection.add(change, of: request)
        }
        return scheduleFlush()
    }

    // MARK: Writing

    /// A large append is handed over at once, so that it begins while the rest is decided; others at the end of this
    /// turn of the loop, so that commands that arrived together are written together.
    private mutating func scheduleFlush() -> [Step] {
        if projection.gathered >= AppendQueue.commandsTogether, heard <= version.seq { return handOver() }
        guard !isFlushDue else { return [] }
        isFlushDue = true
        return [.flushSoon]
    }

    /// Hands the gathered append over.
    mutating func flush() -> [Step] {
        isFlushDue = false
        guard projection.gathered > 0, condition == .current else { return [] }
        // Another server was faster, so the append would fail.
        return heard > version.seq && !hasHandedOver ? decideAgain() : handOver()
    }

    private mutating func handOver() -> [Step] {
        let commands = projection.gathered
        defer { verifications = [] }
        return [.append(projection.handOver(in: epoch, verifying: verifications), commands: commands)]
    }

    /// The first `parts` of the appends that were handed over are durable.
    mutating func appended(_ parts: Int) -> [Step] {
        conflictsInARow = 0
        let durable = projection.becameDurable(parts)
        for key in durable.keys { keys.remember(key) }
        version = durable.resulting ?? version
        var steps = fold(durable.events, areOwn: true)
        if !durable.events.isEmpty { steps.append(.announce(seq: version.seq)) }
        for (request, outcome) in durable.answers { steps.append(.reply(request, outcome)) }
        return steps + verified(durable.verifications) + [.settle]
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
            counted.expectOwn()
            steps.append(.announce(seq: version.seq + projection.events(in: underWay)))
        }
        let failure = fault.isWrongRequest ? RoomFailure.internalFault : .unavailable
        let doubtful = fault.outcomeIsUnknown ? projection.answers(in: underWay) : 0
        steps += dropUndurable().enumerated().map { index, request in
            .reply(request, .failed(index < doubtful ? .outcomeUnknown : failure))
        }
        return steps + giveUpVerifying()
    }

    /// Drops everything that is decided and not durable, and returns its requests; the log must be read before anything
    /// else is decided.
    private mutating func dropUndurable() -> [RequestID] {
        condition = .stale
        let dropped = projection.drop()
        verifications = dropped.verifications + verifications
        return dropped.answers.map(\.request)
    }

    /// Adds durable events to `confirmed`.
    private mutating func fold(_ durable: [RecordedEvent], areOwn: Bool = false) -> [Step] {
        let redaction = Redaction(by: durable)
        let events = redaction.shown(durable)
        let hasBegunCounting = counted.fold(events, areOwn: areOwn)
        return (hasBegunCounting ? [.count] : []) + [.show(events, redaction)]
    }

    /// Takes what was counted; nil if nothing was.
    mutating func takeTally() -> CountedRoom.Taken? { counted.take() }

    // MARK: Reading

    /// Reads the log, unless that is under way or must wait for an append.
    mutating func read() -> [Step] {
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
            self.version = version
            return fold(events) + becomeCurrent()
        case .wentBack: return [.renew]
        case .replaced: return [.load]
        case .room(let room):
            epoch = room.head.epoch
            version = room.head.version
            counted = CountedRoom(room.state, in: epoch, isCounting: limits.isCounting)
            keys = room.keys
            return [.begin] + becomeCurrent()
        case .gone: return [.forget] + giveUpReading(as: .forgotten, .noSuchRoom)
        case .failed(let failure): return giveUpReading(as: .stale, failure)
        }
    }

    /// Continues after a read: decides the commands that waited, and answers the requests for the read.
    private mutating func becomeCurrent() -> [Step] {
        projection = Projection(of: confirmed, at: version)
        condition = .current
        let (requests, answered) = (waiting, verifying)
        (waiting, verifying) = ([], [])
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
        return (heard > version.seq && hasHandedOver ? [.overtake] : []) + fallBehind()
    }

    private mutating func fallBehind() -> [Step] {
        guard heard > version.seq, condition == .current || condition == .stale, !isWriting else { return [] }
        condition = .stale
        return [.fellBehind]
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

    private func verified(_ ids: [VerificationID]) -> [Step] { ids.isEmpty ? [] : [.verified(ids)] }

    /// Answers all requests although the log's head is unknown.
    private mutating func giveUpVerifying() -> [Step] {
        let ids = verifying + verifications
        (verifying, verifications) = ([], [])
        return verified(ids)
    }

    /// Ensures that a read or an append is under way that answers the waiting requests, if there are any, and that newly
    /// announced events are read.
    mutating func settle() -> [Step] {
        if projection.gathered > 0 { return scheduleFlush() }
        return verifications.isEmpty ? fallBehind() : read()
    }
}
