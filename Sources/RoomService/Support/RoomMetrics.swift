import CoreMetrics
import EventStorage
import NIOCore
import RoomDomain

/// The metrics of rooms: made once, and recorded for each command, append and load, never for each delivered message.
package final class RoomMetrics: Sendable {
    /// The help texts of the metrics, by name.
    package static let help = [
        "backline_append_duration_seconds": "Time of one write to the event log, failed ones included, in seconds.",
        "backline_append_rooms": "Rooms in one write to the event log.",
        "backline_append_events": "Events in one write to the event log.",
        "backline_events_appended_total": "Events that became durable; those that make a room are not counted.",
        "backline_append_conflicts_total": "Appends of one room that lost the race for its log.",
        "backline_append_failures_total": "Writes to the event log that failed, by what failed.",
        "backline_commands_total": "Commands answered, by type and outcome.",
        "backline_command_duration_seconds":
            "Time from a command's arrival at its room to its outcome, by outcome, in seconds.",
        "backline_room_loads_total": "Rooms read into memory for a request, by outcome.",
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
        "backline_other_servers": "Other servers from which beats arrive.",
        "backline_other_servers_lost_total": "Times that another server sent nothing for the time of its lease.",
        "backline_bus_messages_sent_total": "Messages to other servers that the bus between servers took.",
        "backline_bus_sent_bytes_total": "Bytes of messages to other servers that the bus took.",
        "backline_bus_notices_received_total": "Notices from other servers that arrived over the bus.",
        "backline_bus_received_bytes_total": "Bytes of messages from other servers that arrived over the bus.",
        "backline_bus_notices_lost_total": "Notices to other servers that the bus did not take.",
        "backline_bus_connections_total": "Times that the bus between servers was connected.",
        "backline_bus_connected": "Whether the bus between servers is connected: 1 or 0.",
    ].merging(HeavyWorkMetrics.help) { own, _ in own }

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

    /// The owner of a share of the log that is used up, as a label.
    enum LogShare: String, CaseIterable {
        /// A session's share in one room.
        case room = "log_room"
        /// A session's share in all rooms.
        case session = "log_session"
        /// An address's share.
        case address = "log_address"
    }

    private let appendDuration: CoreMetrics.Timer
    private let appendRooms: Recorder
    private let appendEvents: Recorder
    private let eventsAppended: Counter
    private let appendConflicts: Counter
    private let appendFailures: [StorageFault.Kind: Counter]
    private let commands: [RoomCommand.Kind: [CommandOutcome.Kind: Counter]]
    private let commandDuration: [CommandOutcome.Kind: CoreMetrics.Timer]
    private let roomLoads: [LoadOutcome: Counter]
    private let roomsEvicted: Counter
    private let snapshots: [SnapshotOutcome: Counter]
    private let stateEncodings: Counter
    private let presenceFrames: Counter
    private let reactions: [EphemeralOutcome.Kind: Counter]
    private let signals: [EphemeralOutcome.Kind: Counter]
    private let deckClaims: [EphemeralOutcome.Kind: Counter]
    private let signalsNotArrived: Counter
    private let logSharesUsedUp: [LogShare: Counter]
    private let signalsRefused: [SignalLimit: Counter]
    private let otherServers: Gauge
    private let otherServersLost: Counter
    private let busMessagesSent: Counter
    private let busBytesSent: Counter
    private let busNoticesReceived: Counter
    private let busBytesReceived: Counter
    private let busNoticesLost: Counter
    private let busConnections: Counter
    private let busConnected: Gauge

    /// Makes all metrics, so that each exists with the value zero from the start.
    init(factory: any MetricsFactory) {
        func counter(_ name: String, _ dimensions: [(String, String)] = []) -> Counter {
            Counter(label: name, dimensions: dimensions, factory: factory)
        }
        appendDuration = CoreMetrics.Timer(label: "backline_append_duration_seconds", factory: factory)
        appendRooms = Recorder(label: "backline_append_rooms", factory: factory)
        appendEvents = Recorder(label: "backline_append_events", factory: factory)
        eventsAppended = counter("backline_events_appended_total")
        appendConflicts = counter("backline_append_conflicts_total")
        appendFailures = Self.each { counter("backline_append_failures_total", [("fault", $0)]) }
        commands = Self.each { command in
            Self.each { counter("backline_commands_total", [("command", command), ("outcome", $0)]) }
        }
        commandDuration = Self.each {
            CoreMetrics.Timer(
                label: "backline_command_duration_seconds", dimensions: [("outcome", $0)], factory: factory)
        }
        roomLoads = Self.each { counter("backline_room_loads_total", [("outcome", $0)]) }
        roomsEvicted = counter("backline_rooms_evicted_total")
        snapshots = Self.each { counter("backline_snapshots_total", [("outcome", $0)]) }
        stateEncodings = counter("backline_snapshot_encodings_total")
        presenceFrames = counter("backline_presence_frames_total")
        reactions = Self.each { counter("backline_reactions_total", [("outcome", $0)]) }
        signals = Self.each { counter("backline_signals_total", [("outcome", $0)]) }
        deckClaims = Self.each { counter("backline_deck_claims_total", [("outcome", $0)]) }
        signalsNotArrived = counter("backline_signals_not_arrived_total")
        logSharesUsedUp = Self.each { counter("backline_rate_limited_total", [("limit", $0)]) }
        signalsRefused = Self.each { counter("backline_rate_limited_total", [("limit", $0)]) }
        otherServers = Gauge(label: "backline_other_servers", factory: factory)
        otherServersLost = counter("backline_other_servers_lost_total")
        busMessagesSent = counter("backline_bus_messages_sent_total")
        busBytesSent = counter("backline_bus_sent_bytes_total")
        busNoticesReceived = counter("backline_bus_notices_received_total")
        busBytesReceived = counter("backline_bus_received_bytes_total")
        busNoticesLost = counter("backline_bus_notices_lost_total")
        busConnections = counter("backline_bus_connections_total")
        busConnected = Gauge(label: "backline_bus_connected", factory: factory)
    }

    /// Makes one metric for each value that a label may have.
    private static func each<Kind, Metric>(_ make: (String) -> Metric) -> [Kind: Metric]
    where Kind: CaseIterable & Hashable & RawRepresentable<String> {
        Dictionary(uniqueKeysWithValues: Kind.allCases.map { ($0, make($0.rawValue)) })
    }

    // MARK: Appending

    /// Records that the store was given `batch`, and how long it took.
    func appended(_ batch: [StreamAppend], in duration: TimeAmount) {
        appendDuration.recordNanoseconds(duration.nanoseconds)
        appendRooms.record(batch.count)
        appendEvents.record(batch.reduce(0) { $0 + $1.events.count })
    }

    /// Records the outcome of one room's append.
    func appendEnded(_ outcome: AppendOutcome, events: Int) {
        switch outcome {
        case .appended: eventsAppended.increment(by: events)
        case .conflict: appendConflicts.increment()
        }
    }

    /// Records a failure of the store.
    func appendFailed(_ fault: StorageFault) {
        appendFailures[fault.kind]?.increment()
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

    /// Records that a command was refused because a share of the log is used up.
    func logShareUsedUp(_ share: LogShare) {
        logSharesUsedUp[share]?.increment()
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

    // MARK: Other servers

    /// Records the number of other servers from which notices arrive, and how many were lost since the last call.
    func otherServers(_ count: Int, lost: Int) {
        otherServers.record(count)
        if lost > 0 { otherServersLost.increment(by: lost) }
    }

    /// Records that the bus took messages to other servers.
    func noticesSent(_ messages: [NodeMessage]) {
        busMessagesSent.increment(by: messages.count)
        busBytesSent.increment(by: messages.reduce(0) { $0 + $1.payload.count })
    }

    /// Records that another server's message arrived.
    func noticesReceived(_ notices: Int, bytes: Int) {
        busNoticesReceived.increment(by: notices)
        busBytesReceived.increment(by: bytes)
    }

    /// Records that notices to other servers could not be sent.
    func noticesLost(_ notices: Int) {
        busNoticesLost.increment(by: notices)
    }

    /// Records that the bus was connected, or lost its connection.
    func busChanged(isConnected: Bool) {
        busConnected.record(isConnected ? 1 : 0)
        if isConnected { busConnections.increment() }
    }
}
