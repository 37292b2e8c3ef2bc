import EventStorage
import FoundationEssentials
import RoomDomain
import RoomLog
import RoomTestSupport
import RoomWire

@testable import RoomService

/// A `RoomWriter` in a world that can do all that its owner, the store and other servers do, one act at a time.
///
/// It checks the invariants of `RoomWriter` by their numbers whenever a step is taken.
struct WriterWorld: ~Copyable {
    /// One input of the machine, or a change of the log that it does not see.
    enum Act: Equatable {
        /// The next command of the plan arrives.
        case submit
        /// The turn of the loop ends.
        case flush
        /// So many of the appends that were handed over are written together, or conflict.
        case write(Int)
        /// The first is written, another server appends, and somebody asks for the log's head before the answer comes.
        case writeLate
        /// They are written, and the answer is lost.
        case loseAnswer
        /// They are not written.
        case fail
        /// Another server appends.
        case other
        /// Another server's announcement arrives.
        case hear
        /// The read under way, or the load, ends.
        case read
        /// It fails.
        case failRead
        /// Somebody asks for the log's head.
        case verify
        /// A backup is restored.
        case replace
        /// The room is removed from the log.
        case remove
        /// The database loses the last event.
        case lose
    }

    /// A command of a plan.
    enum Command {
        /// Gives the owner another name.
        case rename
        /// The same with a key; a second one with this key is a retry.
        case keyed(String)
        /// Is refused by the room.
        case refused
        /// Is refused without the log.
        case limited
    }

    /// What was found to be wrong.
    struct Violation: Error, CustomStringConvertible {
        var invariant: Int
        var what: String
        var description: String { "invariant \(invariant): \(what)" }
    }

    /// The log as the store has it.
    struct Log {
        var epoch = "first"
        var events: [RecordedEvent]
        var keys: [CommandKey] = []
        /// The checksum of each event.
        var tails: [Int64?] = []
        var isGone = false
        var version: StreamVersion { StreamVersion(seq: events.count, keyed: keys.count, tail: tails.last ?? nil) }

        init(_ events: [RecordedEvent]) {
            self.events = []
            for event in events { append(event) }
        }

        mutating func append(_ event: RecordedEvent) {
            events.append(event)
            tails.append(EventJSON.stored(event, in: WriterWorld.room).checksum)
        }

        /// Whether it still has what it had at a version.
        func continues(_ version: StreamVersion) -> Bool {
            version.seq <= events.count && version.keyed <= keys.count
                && (version.tail == nil || tails[version.seq - 1] == version.tail)
        }

        mutating func lose() {
            events.removeLast()
            tails.removeLast()
            keys.removeAll { $0.seq > events.count }
        }
    }

    /// A command that was submitted.
    struct Asked {
        var command: Command
        /// The appends that had been handed over when it was decided last; nil while it is undecided.
        var decidedAt: Int?
        var outcome: CommandOutcome?
    }

    /// A request for the log's head.
    struct Wish {
        var seq: Int
        var epoch: String
        var isAnswered = false
    }

    let plan: [Command]
    let isFollowed: Bool
    let loses: Bool
    var writer: RoomWriter
    var log: Log
    /// The log that was replaced, of which a read may still bring something.
    var former: Log?
    var asked: [Asked] = []
    var wishes: [Wish] = []
    /// Appends that were handed over, and the number of each.
    var queue: [(append: StreamAppend, number: Int)] = []
    var handedOver = 0
    /// The number of the last append that the log has confirmed.
    var confirmed = 0
    /// The append whose answer was lost in this act.
    var lost: Int?
    var isOvertaken = false
    /// The version after which the read under way reads, and the log as it was at its beginning; nil if there is none.
    var reading: (after: StreamVersion, log: Log)?
    var isLoading = false
    var isFlushDue = false
    /// The last event shown.
    var shown: Int
    /// The last command that was decided, and the last that the log has confirmed, by their numbers.
    var lastDecided = -1
    var lastConfirmed = -1
    /// Commands whose events are projected, and not durable.
    var projected: [RecordedEvent] = []
    /// Whether the log was out of reach in this act.
    var isOut = false
    var left = (others: 1, faults: 1, verifies: 1, replaces: 1)

    /// The events that make the room.
    private static let founding = 2

    static let owner = SessionID(UUID(uuidString: "00000000-0000-4000-8000-000000000001") ?? UUID())
    static let room = RoomID(UUID(uuidString: "00000000-0000-4000-8000-000000000002") ?? UUID())
    static let start = Timestamp(milliseconds: 1_700_000_000_000)

    init(plan: [Command], isFollowed: Bool, loses: Bool = false) {
        self.plan = plan
        self.isFollowed = isFollowed
        self.loses = loses
        let founded: [RoomEvent] = [
            .roomCreated(
                RoomCreated(
                    id: Self.room, code: .zero, name: "Kitchen", location: nil, visibility: .public,
                    settings: RoomSettings())),
            .memberJoined(member: 1, name: "Ana", role: .owner, session: Self.owner),
        ]
        log = Log(founded.enumerated().map { RecordedEvent(seq: $0 + 1, at: Self.start, event: $1) })
        shown = log.events.count
        writer = RoomWriter(
            Self.decoded(log), limits: RoomWriter.Limits(waiting: 16, weight: 1 << 20, conflicts: 3))
    }

    /// A world that goes on from the same place by itself.
    init(copying other: borrowing WriterWorld) {
        // One by one: tuples of so many values take the time of several acts in a debug build.
        plan = other.plan
        isFollowed = other.isFollowed
        loses = other.loses
        log = other.log
        asked = other.asked
        wishes = other.wishes
        queue = other.queue
        handedOver = other.handedOver
        confirmed = other.confirmed
        lost = other.lost
        isOvertaken = other.isOvertaken
        reading = other.reading
        isLoading = other.isLoading
        isFlushDue = other.isFlushDue
        shown = other.shown
        lastDecided = other.lastDecided
        lastConfirmed = other.lastConfirmed
        projected = other.projected
        isOut = other.isOut
        left = other.left
        former = other.former
        writer = RoomWriter(copying: other.writer)
    }

    static func decoded(_ log: Log) -> DecodedRoom {
        var state = RoomState(id: room)
        for event in log.events { state.evolve(event) }
        var keys = IdempotencyWindow()
        for key in log.keys { keys.remember(key) }
        return DecodedRoom(
            head: StreamHead(epoch: log.epoch, version: log.version), state: state, keys: keys,
            recent: RecentEvents(log.events), snapshotSeq: 0)
    }

    // MARK: Acts

    /// Everything that can happen next.
    var acts: [Act] {
        var acts: [Act] = []
        if asked.count < plan.count { acts.append(.submit) }
        if isFlushDue { acts.append(.flush) }
        if !queue.isEmpty {
            acts.append(.write(1))
            if queue.count > 1 { acts.append(.write(queue.count)) }
            let isWritable = !isOvertaken && applies(queue[0].append)
            if isWritable, left.others > 0, left.verifies > 0 { acts.append(.writeLate) }
            if left.faults > 0 { acts += [.loseAnswer, .fail] }
        }
        if reading != nil || isLoading {
            acts.append(.read)
            if left.faults > 0 { acts.append(.failRead) }
        }
        if left.others > 0, !log.isGone { acts.append(.other) }
        if log.version.seq > writer.version.seq, left.others == 0, !log.isGone { acts.append(.hear) }
        if left.verifies > 0 { acts.append(.verify) }
        if left.replaces > 0, !loses { acts += [.replace, .remove] }
        if left.replaces > 0, loses, log.events.count > Self.founding { acts.append(.lose) }
        return acts
    }

    /// Does one of ``acts``.
    mutating func perform(_ act: Act) throws(Violation) {
        isOut = false
        lost = nil
        switch act {
        case .submit:
            asked.append(Asked(command: plan[asked.count]))
            try take(writer.submit(asked.count - 1))
        case .flush:
            isFlushDue = false
            try take(writer.flush())
        case .write(let parts): try write(parts)
        case .writeLate:
            left.others -= 1
            left.verifies -= 1
            let (written, number) = queue.removeFirst()
            apply(written)
            confirmed = number
            append(.memberRenamed(member: 1, name: "Other"))
            try ask()
            try take(writer.appended(1))
        case .loseAnswer:
            left.faults -= 1
            isOut = true
            lost = queue[0].number
            if applies(queue[0].append) { apply(queue[0].append) }
            try drop { $0.failed(.outcomeUnknown(StorageFault.Cause(message: "lost")), underWay: 1) }
        case .fail:
            left.faults -= 1
            isOut = true
            try drop { $0.failed(.unreachable(StorageFault.Cause(message: "away")), underWay: 1) }
        case .other:
            left.others -= 1
            append(.memberRenamed(member: 1, name: "Other"))
        case .hear: try take(writer.hear(log.version.seq))
        case .read: try read()
        case .failRead:
            left.faults -= 1
            (reading, isLoading, isOut) = (nil, false, true)
            try take(writer.read(.failed(.unavailable)))
        case .verify:
            left.verifies -= 1
            try ask()
        case .replace:
            left.replaces -= 1
            former = log
            log.epoch = "second"
            append(.memberRenamed(member: 1, name: "Restored"))
        case .remove:
            left.replaces -= 1
            log.isGone = true
        case .lose:
            left.replaces -= 1
            former = log
            log.lose()
            // Nobody can be shown what is lost.
            for wish in wishes.indices { wishes[wish].seq = min(wishes[wish].seq, log.version.seq) }
        }
    }

    /// Asks for the log's head.
    private mutating func ask() throws(Violation) {
        wishes.append(Wish(seq: log.version.seq, epoch: log.epoch))
        try take(writer.verify(wishes.count - 1))
    }

    /// Lets everything come to its end in fair weather, and checks that nothing is left.
    mutating func settle() throws(Violation) {
        (left.others, left.faults) = (0, 0)
        for _ in 0..<200 {
            guard let act = acts.first(where: Self.isFair) else { break }
            try perform(act)
        }
        try perform(.verify)
        for _ in 0..<50 {
            guard let act = acts.first(where: Self.isFair) else { break }
            try perform(act)
        }
        for (number, command) in asked.enumerated() where command.outcome == nil {
            throw Violation(invariant: 2, what: "command \(number) is not answered")
        }
        if wishes.contains(where: { !$0.isAnswered }) { throw Violation(invariant: 6, what: "a wish is not answered") }
        guard writer.isIdle else { throw Violation(invariant: 7, what: "something is under way for ever") }
        guard !log.isGone else { return }
        guard writer.confirmed == Self.decoded(log).state, writer.version.isMet(by: log.version) else {
            throw Violation(invariant: 1, what: "the log is not shown")
        }
        guard writer.condition == .current, writer.projected == writer.confirmed else {
            throw Violation(invariant: 4, what: "something is projected at the end")
        }
    }

    private static func isFair(_ act: Act) -> Bool { ![.verify, .replace, .remove, .lose, .hear].contains(act) }

    private mutating func write(_ parts: Int) throws(Violation) {
        guard !isOvertaken, applies(queue[0].append) else { return try drop { $0.overtaken() } }
        for (append, number) in queue.prefix(parts) {
            apply(append)
            confirmed = number
        }
        queue.removeFirst(parts)
        try take(writer.appended(parts))
    }

    /// Ends the queue of appends.
    private mutating func drop(_ input: (inout RoomWriter) -> [RoomWriter.Step]) throws(Violation) {
        queue = []
        isOvertaken = false
        (projected, lastDecided) = ([], lastConfirmed)
        try take(input(&writer))
    }

    private mutating func read() throws(Violation) {
        let isLoad = isLoading
        // A read brings at least what was in the log when it began.
        let (after, read) = reading ?? (writer.version, log)
        (reading, isLoading) = (nil, false)
        if read.isGone { return try take(writer.read(.gone)) }
        if isLoad { return try take(writer.read(.room(Self.decoded(read)))) }
        guard read.epoch == writer.epoch else { return try take(writer.read(.replaced)) }
        guard read.continues(after) else { return try take(writer.read(.wentBack)) }
        let keys = Array(read.keys.dropFirst(after.keyed))
        try take(writer.read(.events(Array(read.events.dropFirst(after.seq)), keys: keys, version: read.version)))
    }

    // MARK: The log

    private func applies(_ append: StreamAppend) -> Bool {
        !log.isGone && append.expected.isMet(by: log.version) && append.epoch == log.epoch
    }

    private mutating func apply(_ append: StreamAppend) {
        // The machine's own events are known from their decisions.
        for event in projected.filter({ $0.seq > log.events.count }).prefix(append.events.count) { log.append(event) }
        log.keys += append.keys
    }

    private mutating func append(_ event: RoomEvent) {
        log.append(RecordedEvent(seq: log.events.count + 1, at: Self.start, event: event))
    }

    // MARK: Steps

    private mutating func take(_ steps: [RoomWriter.Step]) throws(Violation) {
        var steps = steps
        while !steps.isEmpty { steps += try take(steps.removeFirst()) }
    }

    /// Takes a step, and returns those that it causes.
    private mutating func take(_ step: RoomWriter.Step) throws(Violation) -> [RoomWriter.Step] {
        switch step {
        case .decide(let request): return try decide(request)
        case .count: throw Violation(invariant: 1, what: "events that are not to be counted are")
        case .flushSoon:
            guard !isFlushDue else { throw Violation(invariant: 7, what: "two flushes in one turn") }
            isFlushDue = true
        case .append(let append, let commands):
            guard commands > 0 else { throw Violation(invariant: 3, what: "an append that answers nobody") }
            guard reading == nil, !isLoading else { throw Violation(invariant: 7, what: "an append during a read") }
            handedOver += 1
            queue.append((append, handedOver))
        case .overtake: isOvertaken = true
        case .read:
            guard reading == nil, !isLoading, queue.isEmpty else {
                throw Violation(invariant: 7, what: "a second read")
            }
            reading = (writer.version, log)
            // What was projected is void.
            (projected, lastDecided) = ([], lastConfirmed)
        case .load: isLoading = true
        case .renew:
            if log.epoch == writer.epoch { log.epoch = "renewed" }
            isLoading = true
        case .fellBehind: return isFollowed ? writer.catchUp() : []
        case .settle: return writer.settle()
        case .show(let events, _): try show(events)
        case .announce, .forget: break
        case .begin: (shown, projected) = (writer.confirmed.seq, [])
        case .reply(let request, let outcome): try answer(request, outcome)
        case .verified(let wishes): for wish in wishes { try verify(wish) }
        }
        return []
    }

    private mutating func decide(_ request: Int) throws(Violation) -> [RoomWriter.Step] {
        guard writer.condition == .current else { return writer.decided(request, .settled(.failed(.unavailable))) }
        guard asked[request].outcome == nil else { throw Violation(invariant: 2, what: "\(request) is decided again") }
        guard request > lastDecided else { throw Violation(invariant: 5, what: "\(request) after \(lastDecided)") }
        guard writer.projected.seq == writer.confirmed.seq + projected.count else {
            throw Violation(invariant: 4, what: "decided on what is void")
        }
        lastDecided = request
        asked[request].decidedAt = handedOver
        return writer.decided(request, decision(of: request))
    }

    private mutating func decision(of request: Int) -> RoomWriter.Decision {
        var key: (name: IdempotencyWindow.Name, fingerprint: Int64)?
        switch asked[request].command {
        case .refused: return .settled(.failed(.refused(.forbidden("no"))))
        case .limited: return .answered(.failed(.refused(.rateLimited("later", retryAfterMs: 1))))
        case .keyed(let text):
            let name = IdempotencyWindow.Name(session: Self.owner.uuid, key: text)
            if let earlier = writer.earlier(name, fingerprint: 7) { return earlier }
            key = (name, 7)
        case .rename: break
        }
        let events = writer.projected.recorded([Self.renaming(by: request)], at: Self.start)
        projected += events
        return .changed(Projection.Change(events: events, result: nil, waveform: nil, key: key))
    }

    private static func renaming(by request: Int) -> RoomEvent { .memberRenamed(member: 1, name: "Ana \(request)") }

    private mutating func show(_ events: [RecordedEvent]) throws(Violation) {
        let logs = writer.epoch == log.epoch ? [log, former ?? log] : [former ?? log]
        for event in events {
            let isLogged = logs.contains { event.seq <= $0.events.count && $0.events[event.seq - 1] == event }
            guard event.seq == shown + 1, isLogged else {
                throw Violation(invariant: 1, what: "event \(event.seq) after \(shown) is shown")
            }
            shown += 1
        }
        projected.removeAll { $0.seq <= shown }
        guard writer.confirmed.seq == shown else { throw Violation(invariant: 1, what: "not all is shown") }
    }

    private mutating func answer(_ request: Int, _ outcome: CommandOutcome) throws(Violation) {
        guard asked[request].outcome == nil else { throw Violation(invariant: 2, what: "\(request) is answered twice") }
        asked[request].outcome = outcome
        switch (outcome, asked[request].command) {
        case (.failed(.unavailable), _):
            guard !log.events.contains(where: { $0.event == Self.renaming(by: request) }) else {
                throw Violation(invariant: 8, what: "\(request) is in the log, and its client is told that it is not")
            }
            return
        case (.failed(.outcomeUnknown), _):
            guard let lost, let decidedAt = asked[request].decidedAt, lost > decidedAt else {
                throw Violation(invariant: 8, what: "nothing of \(request) was being written")
            }
            return
        case (.failed(.noSuchRoom), _), (.failed(.refused(.rateLimited)), _): return
        case (.acknowledged(let seq, let keyed, _), let command):
            guard seq <= shown, keyed <= writer.version.keyed else {
                throw Violation(invariant: 3, what: "\(request) is acknowledged at \(seq), and \(shown) is shown")
            }
            // A retry is answered by what was durable already.
            if case .keyed = command { return }
        default: break
        }
        guard let decidedAt = asked[request].decidedAt, confirmed > decidedAt else {
            throw Violation(invariant: 3, what: "\(request) is answered, and no append has confirmed it")
        }
        guard request > lastConfirmed else { throw Violation(invariant: 5, what: "\(request) is answered late") }
        lastConfirmed = request
    }

    private mutating func verify(_ wish: Int) throws(Violation) {
        guard !wishes[wish].isAnswered else { throw Violation(invariant: 6, what: "a wish is answered twice") }
        wishes[wish].isAnswered = true
        guard !isOut, writer.condition != .forgotten, writer.epoch == wishes[wish].epoch else { return }
        guard writer.confirmed.seq >= wishes[wish].seq else {
            throw Violation(invariant: 6, what: "a wish for \(wishes[wish].seq) is answered at \(writer.confirmed.seq)")
        }
    }
}
