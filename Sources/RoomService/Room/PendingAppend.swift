import EventStorage
import RoomDomain
import RoomLog
import RoomWire

/// Decisions of a room that are not known to be durable: a part of one append, or all of it.
struct PendingAppend {
    /// What some of them have together.
    struct Contents {
        var events: [RecordedEvent]
        var keys: [CommandKey]
        var answers: [(request: Int, outcome: CommandOutcome)]
        var verifications: [Int]
        var weight: Int
        /// The log's version once all of them are durable; nil if they were not handed over.
        var resulting: StreamVersion?

        init(_ parts: some Collection<PendingAppend>) {
            // Most often there is one.
            let only = parts.count == 1 ? parts.first : nil
            events = only?.events ?? parts.flatMap(\.events)
            keys = parts.flatMap(\.keys)
            answers = only?.answers ?? parts.flatMap(\.answers)
            verifications = parts.flatMap(\.verifications)
            weight = parts.reduce(0) { $0 + $1.weight }
            resulting = parts.reversed().first?.resulting
        }
    }

    private(set) var events: [RecordedEvent] = []
    /// The log's version once it is durable; nil until it is handed over.
    var resulting: StreamVersion?
    /// About how many bytes it takes.
    private(set) var weight = 0
    var keys: [CommandKey] = []
    /// Commands by their numbers, and their answers, which are given once everything that they were decided against is durable.
    private(set) var answers: [(request: Int, outcome: CommandOutcome)] = []
    /// Requests for the log's head that the append answers as well.
    var verifications: [Int] = []
    /// The waveforms that the events give to tracks, and those that no track has after them.
    private var attachments: [AttachmentChange] = []
    /// Sessions whose membership an event began or ended.
    private var touched: Set<SessionID> = []
    /// Whether it closes the room, and whether that forgets the room; nil if it does not close it.
    private var closing: Bool?

    var isEmpty: Bool { answers.isEmpty }

    /// Adds events of one command, decided against `room`.
    mutating func add(_ recorded: [RecordedEvent], to room: RoomState) {
        for event in recorded {
            switch event.event.membershipChange {
            case .began(let session): touched.insert(session)
            case .ended(let member): if let member = room.members[member] { touched.insert(member.session) }
            case nil: break
            }
            if case .roomClosed(let forget, _, _) = event.event { closing = forget }
        }
        events += recorded
        weight += recorded.weight
    }

    /// Adds the changes of waveforms' rows that belong to the events that were added last.
    mutating func add(_ changes: [AttachmentChange]) {
        attachments.join(changes)
    }

    /// Adds a command's answer; `weight` is about how many bytes it takes beside its events.
    mutating func add(_ outcome: CommandOutcome, of request: Int, weight: Int = 0) {
        answers.append((request, outcome))
        self.weight += Self.weightOfRequest + weight
    }

    /// About how many bytes a request takes in addition to its events.
    private static let weightOfRequest = 256

    /// Returns the append to be written; `room` is the room's state once it is durable.
    func append(to room: RoomState, expecting version: StreamVersion, in epoch: String) -> StreamAppend {
        var append = StreamAppend(
            stream: room.id.uuid, expected: version, events: events.map { EventJSON.stored($0, in: room.id) },
            keys: keys.map { $0.sealed(in: room.id) }, epoch: epoch)
        if events.contains(where: \.event.concernsDirectory) { append.directory = DirectoryEntry(of: room) }
        append.clearing = Redaction(by: events).clearing
        append.attachments = attachments
        var touched = touched
        if let forget = closing {
            // Closing a room ends every membership, so none needs leaving.
            touched.formUnion(room.memberOfSession.keys)
            if forget { append.forgetAt = room.forgetAt }
        }
        for session in touched {
            if room.lists(session) {
                append.joined.append(session.uuid)
            } else {
                append.left.append(session.uuid)
            }
        }
        return append
    }
}
