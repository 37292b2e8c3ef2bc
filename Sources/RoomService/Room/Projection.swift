import EventStorage
import RoomDomain
import RoomLog
import RoomWire

/// What a room has decided and not yet shown: its durable state, with the appends that are gathered or handed over.
struct Projection {
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

    /// The state against which commands are decided.
    private(set) var state: RoomState
    /// The version of `state`, without the gathered append.
    private var version: StreamVersion
    /// The keyed commands that are gathered or handed over.
    private var keys: [IdempotencyWindow.Name: CommandKey] = [:]
    /// The append that is gathered in this turn of the loop.
    private var gathering = PendingAppend()
    /// The appends that were handed over and are not known to be durable, in order.
    private var handedOver: [PendingAppend] = []
    private var handedOverWeight = 0

    init(of confirmed: RoomState, at version: StreamVersion) {
        state = confirmed
        self.version = version
    }

    /// Whether everything that was decided is durable.
    var isDurable: Bool { gathering.isEmpty && handedOver.isEmpty }

    /// Whether appends were handed over.
    var hasHandedOver: Bool { !handedOver.isEmpty }

    /// The number of commands in the gathered append.
    var gathered: Int { gathering.answers.count }

    /// About how many bytes it takes.
    var weight: Int { gathering.weight + handedOverWeight }

    /// The command first given under this name, if it is gathered or handed over.
    func command(_ name: IdempotencyWindow.Name) -> CommandKey? { keys[name] }

    /// Adds the outcome of a command that changes nothing.
    mutating func add(_ outcome: CommandOutcome, of request: Int) {
        gathering.add(outcome, of: request)
    }

    /// Carries out a command.
    mutating func add(_ change: Change, of request: Int) {
        let taken = state.waveforms(takenBy: change.events.map(\.event))
        gathering.add(change.events, to: state)
        for event in change.events { state.evolve(event) }
        if !change.events.isEmpty { gathering.add(state.attachmentChanges(given: change.waveform, taken: taken)) }
        if let (name, fingerprint) = change.key {
            let key = CommandKey(
                ordinal: keyed + 1, session: name.session, key: name.key, fingerprint: fingerprint, seq: state.seq,
                result: change.result.map(ResultJSON.encode))
            gathering.keys.append(key)
            keys[name] = key
        }
        gathering.add(
            .acknowledged(seq: state.seq, keyed: keyed, result: change.result), of: request,
            weight: change.waveform == nil ? 0 : Waveform.byteCount)
    }

    /// The count of keyed commands, with those that are gathered.
    private var keyed: Int { version.keyed + gathering.keys.count }

    /// Returns the gathered append, which answers some requests for the log's head as well; the next one begins.
    mutating func handOver(in epoch: String, verifying requests: [Int]) -> StreamAppend {
        gathering.verifications = requests
        let append = gathering.append(to: state, expecting: version, in: epoch)
        version = append.resulting
        gathering.resulting = version
        handedOverWeight += gathering.weight
        handedOver.append(gathering)
        gathering = PendingAppend()
        return append
    }

    /// The number of events in the first `parts` of the appends that were handed over.
    func events(in parts: Int) -> Int { handedOver.prefix(parts).reduce(0) { $0 + $1.events.count } }

    /// The number of commands that these answer.
    func answers(in parts: Int) -> Int { handedOver.prefix(parts).reduce(0) { $0 + $1.answers.count } }

    /// The first `parts` of the appends that were handed over are durable: takes their contents out.
    mutating func becameDurable(_ parts: Int) -> PendingAppend.Contents {
        let durable = PendingAppend.Contents(handedOver.prefix(parts))
        handedOverWeight -= durable.weight
        handedOver.removeFirst(parts)
        for key in durable.keys { keys[IdempotencyWindow.Name(session: key.session, key: key.key)] = nil }
        return durable
    }

    /// Takes out everything that is not durable; the rest must be replaced before anything is decided.
    mutating func drop() -> PendingAppend.Contents {
        let dropped = PendingAppend.Contents(handedOver + [gathering])
        handedOver = []
        handedOverWeight = 0
        gathering = PendingAppend()
        keys = [:]
        return dropped
    }
}
