import RoomDomain
import RoomReplica
import RoomWire

/// A machine whose world is a test's script; steps are recorded as short texts where they are messages.
struct ScriptedClient {
    /// A step of a machine, with messages read.
    enum Event: Equatable {
        case step(ClientStep)
        case sent(ClientMessage)
    }

    var machine: ClientMachine
    var now: Int64 = 0
    var random: UInt64 = 0
    /// The attempt that was asked for last.
    private(set) var attempt = 0
    private(set) var path = SocketPath.any
    private(set) var wakeAt: ClientInstant?
    /// What has happened since it was taken.
    private var events: [Event] = []

    init(outbox: [OutboxCommand] = []) {
        machine = ClientMachine(outbox: outbox, at: .at(0))
    }

    var moment: ClientMoment { .at(now, random: random) }

    mutating func perform(_ steps: [ClientStep]) throws {
        for step in steps {
            switch step {
            case .connect(let attempt, _, let path): (self.attempt, self.path) = (attempt, path)
            case .wake(let at):
                wakeAt = at
                continue
            case .send(let bytes):
                events.append(.sent(try ClientMessage.parse(bytes)))
                continue
            case .close, .changed, .phase, .answered, .keep, .reaction, .signal, .told, .nearby, .nearbyEnded,
                .deckAnswered, .deckEnded,
                .ended:
                break
            }
            events.append(.step(step))
        }
    }

    mutating func take() -> [Event] {
        defer { events = [] }
        return events
    }

    /// The messages that were sent since the last call, without exchanges of clocks; all other steps are dropped.
    mutating func sent() -> [ClientMessage] {
        take().compactMap { event in
            guard case .sent(let message) = event, message.kind != .time else { return nil }
            return message
        }
    }

    /// The steps since the last call that are no messages.
    mutating func steps() -> [ClientStep] {
        take().compactMap { if case .step(let step) = $0 { step } else { nil } }
    }

    // MARK: The world

    mutating func receive(_ bytes: [UInt8]) throws {
        try perform(machine.received(bytes, on: attempt, at: moment))
    }

    mutating func open() throws { try perform(machine.opened(attempt, at: moment)) }

    mutating func lose(_ code: UInt16? = nil) throws { try perform(machine.closed(attempt, code: code, at: moment)) }

    /// Lets time pass, and wakes the machine as often as it asks.
    mutating func pass(_ milliseconds: Int64) throws {
        let end = now + milliseconds
        while let due = wakeAt, due <= .at(end) {
            now = max(now, due.nanoseconds / 1_000_000)
            wakeAt = nil
            try perform(machine.woken(at: moment))
        }
        now = end
    }

    @discardableResult
    mutating func post(_ command: RoomCommand, to room: RoomReference, key: String, isKept: Bool = false) throws
        -> CommandNumber
    {
        let (number, steps) = machine.post(command, to: room, key: key, isKept: isKept, at: moment)
        try perform(steps)
        return number
    }
}
