import CoreMetrics
import EventStorage
import NIOCore
import RoomDomain

/// The metrics of rooms: made once, and recorded for each command, append and load, never for each delivered message.
package final class RoomMetrics: Sendable {
    /// The help texts of the metrics, by name.
    package static let help = [
        "backline_commands_total": "Commands answered, by type and outcome.",
        "backline_command_duration_seconds":
            "Time from a command's arrival at its room to its outcome, by outcome, in seconds.",
        "backline_room_loads_total": "Rooms read into memory for a request, by outcome.",
        "backline_rooms_gone_back_total": "Rooms whose log had lost events that were shown.",
        "backline_events_lost_total": "Events that were shown and that the log does not have any more.",
        "backline_rooms_evicted_total": "Rooms that left memory because nobody used them.",
        "backline_snapshot_encodings_total": "States of rooms encoded for clients, one for each position.",
        "backline_snapshots_total": "Snapshots of rooms handed to the store, by outcome.",
        "backline_presence_frames_total": "Changes of presence sent to followers, counted once for each room.",
        "backline_reactions_total": "Reactions of members, by outcome.",
        "backline_signals_total": "Signals between members, by outcome.",
        "backline_deck_claims_total": "Claims to be the deck of a room, and their ends, by outcome.",
        "backline_signals_not_arrived_total":
            "Signals from other servers that were dropped because the member had left or took too few bytes.",
        "backline_rate_limited_total": "Refusals because of a limit on a rate or on waiting bytes, by limit.",
    ].merging(LogMetrics.help) { own, _ in own }.merging(BusMetrics.help) { own, _ in own }
        .merging(HeavyWorkMetrics.help) { own, _ in own }.merging(StatisticsMetrics.help) { own, _ in own }

    /// The result of looking for a room's log, as a label.
    enum LoadOutcome: String, CaseIterable {
        case loaded
        case noSuchRoom = "no_such_room"
        case unavailable
        case corrupt
    }

    /// The result of storing a snapshot, as a label.
    enum SnapshotOutcome: String, CaseIterable {
        case saved
        case failed
    }

    /// The limit that a signal exceeded, as a label.
    enum SignalLimit: String, CaseIterable {
        /// The sender's share, or the part of it for one recipient, is used up.
        case tooMany = "signals"
        /// Too many bytes wait for the recipient.
        case waiting = "signals_waiting"
    }

    /// The metrics of the log.
    let log: LogMetrics
    /// The metrics of the bus between servers.
    let bus: BusMetrics
    private let commands: [RoomCommand.Kind: [CommandOutcome.Kind: Counter]]
    private let commandDuration: [CommandOutcome.Kind: CoreMetrics.Timer]
    private let roomLoads: [LoadOutcome: Counter]
    private let roomsEvicted: Counter
    private let roomsGoneBack: Counter
    private let eventsLost: Counter
    private let snapshots: [SnapshotOutcome: Counter]
    private let stateEncodings: Counter
    private let presenceFrames: Counter
    private let reactions: [EphemeralOutcome.Kind: Counter]
    private let signals: [EphemeralOutcome.Kind: Counter]
    private let deckClaims: [EphemeralOutcome.Kind: Counter]
    private let signalsNotArrived: Counter
    private let signalsRefused: [SignalLimit: Counter]

    /// Makes all metrics, so that each exists with the value zero from the start.
    init(factory: any MetricsFactory) {
        log = LogMetrics(factory: factory)
        bus = BusMetrics(factory: factory)
        func counter(_ name: String, _ dimensions: [(String, String)] = []) -> Counter {
            Counter(label: name, dimensions: dimensions, factory: factory)
        }
        commands = eachLabel { command in
            eachLabel { counter("backline_commands_total", [("command", command), ("outcome", $0)]) }
        }
        commandDuration = eachLabel {
            CoreMetrics.Timer(
                label: "backline_command_duration_seconds", dimensions: [("outcome", $0)], factory: factory)
        }
        roomLoads = eachLabel { counter("backline_room_loads_total", [("outcome", $0)]) }
        roomsEvicted = counter("backline_rooms_evicted_total")
        roomsGoneBack = counter("backline_rooms_gone_back_total")
        eventsLost = counter("backline_events_lost_total")
        snapshots = eachLabel { counter("backline_snapshots_total", [("outcome", $0)]) }
        stateEncodings = counter("backline_snapshot_encodings_total")
        presenceFrames = counter("backline_presence_frames_total")
        reactions = eachLabel { counter("backline_reactions_total", [("outcome", $0)]) }
        signals = eachLabel { counter("backline_signals_total", [("outcome", $0)]) }
        deckClaims = eachLabel { counter("backline_deck_claims_total", [("outcome", $0)]) }
        signalsNotArrived = counter("backline_signals_not_arrived_total")
        signalsRefused = eachLabel { counter("backline_rate_limited_total", [("limit", $0)]) }
    }

    // MARK: Commands

    /// Records the answer to a command.
    func answered(_ command: RoomCommand.Kind, _ outcome: CommandOutcome, after duration: TimeAmount) {
        commands[command]?[outcome.kind]?.increment()
        commandDuration[outcome.kind]?.recordNanoseconds(duration.nanoseconds)
    }

    // MARK: Rooms

    /// Records the result of looking for a room's log.
    func roomLoadEnded(_ outcome: LoadOutcome) {
        roomLoads[outcome]?.increment()
    }

    /// Records that a room left memory.
    func roomEvicted() {
        roomsEvicted.increment()
    }

    /// Records that the log of a room has lost events that were shown.
    func wentBack(lost: Int) {
        roomsGoneBack.increment()
        eventsLost.increment(by: lost)
    }

    /// Records that a room's state was encoded at one position.
    func stateEncoded() {
        stateEncodings.increment()
    }

    /// Records that a snapshot was given to the store.
    func snapshotEnded(_ outcome: SnapshotOutcome) {
        snapshots[outcome]?.increment()
    }

    // MARK: Presence, reactions, signals, decks

    /// Records a presence message to all followers of a room.
    func presenceFrameMade() {
        presenceFrames.increment()
    }

    /// Records the answer to a reaction, a signal or a claim to be the deck.
    func answered(_ kind: EphemeralKind, _ outcome: EphemeralOutcome.Kind) {
        switch kind {
        case .reaction: reactions[outcome]?.increment()
        case .signal: signals[outcome]?.increment()
        case .deck: deckClaims[outcome]?.increment()
        }
    }

    /// Records that a signal was refused because of a limit.
    func signalRefused(_ limit: SignalLimit) {
        signalsRefused[limit]?.increment()
    }

    /// Records that another server relayed a signal to a member who is not connected here, or for whom too many bytes
    /// wait.
    func signalNotArrived() {
        signalsNotArrived.increment()
    }
}
